"""Recognise what is what in a decoder by the names and the types of its ports."""

import re
from collections.abc import Mapping

from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, declared
from ...dialects.core.sizes.atoms import Size, is_symbolic
from ...dialects.core.sizes.limits import is_same
from ...dialects.core.states.generation import NO_ROWS, Cache, Generation
from ...dialects.core.tensor import Tensor, is_integer

IDS, MASK, POSITIONS, LOGITS = "input_ids", "attention_mask", "position_ids", "logits"

_PAST = re.compile(r"past(_key_values?)?")
_PRESENT = re.compile(r"present(_key_values?)?")

Types = Mapping[str, Tensor]


def port_types(module: Module) -> tuple[Types, Types]:
    """Return the types of the inputs and of the outputs of a module by name."""
    arguments: list[ir.Value] = list(module.main_block.arguments)
    returned = list(returned_values(module))
    return _named(module, "inputs", arguments), _named(module, "outputs", returned)


def returned_values(module: Module) -> list[ir.Value]:
    """Return what the function of a module returns."""
    operations = module.main_block.operations
    return list(operations[len(operations) - 1].operation.operands)


def _named(module: Module, which: str, values: list[ir.Value]) -> Types:
    names = declared(module.main, which, len(values))
    return {name: tensor_of(value.type) for name, value in zip(names, values, strict=True)}


def recognize(module: Module) -> Generation:
    """Find the ports of a decoder; raise CompileError where one that is needed is not there.

    These are `input_ids` and `logits`; `attention_mask` and `position_ids` may be missing. Outputs
    `present…` are caches, of which inputs `past…` with the same rest of the name have the rows of
    earlier steps. All other inputs are given once for a text, all other outputs are left alone.
    """
    inputs, outputs = port_types(module)
    faults = [*_fault(IDS, inputs, "input", 2), *_fault(LOGITS, outputs, "output", 3)]
    caches = _caches(inputs, outputs)
    if not caches:
        message = "no output is the cache of an input, must have outputs 'present…' of 'past…'"
        faults.append(Diagnostic("", message))
    if faults:
        raise CompileError(faults)
    if not is_integer(inputs[IDS].dtype):
        raise CompileError([Diagnostic(IDS, f"input is {inputs[IDS]}, must be integers")])
    return Generation(
        IDS,
        LOGITS,
        mask=MASK if MASK in inputs else "",
        positions=POSITIONS if POSITIONS in inputs else "",
        caches=tuple(caches),
    )


def _fault(name: str, ports: Types, which: str, rank: int) -> list[Diagnostic]:
    if name not in ports:
        listed = ", ".join(ports)
        return [Diagnostic("", f"the model has no {which} '{name}', must have it: has {listed}")]
    if ports[name].rank != rank:
        return [Diagnostic(name, f"{which} is {ports[name]}, must be of rank {rank}")]
    return []


def _caches(inputs: Types, outputs: Types) -> list[Cache]:
    batch = inputs[IDS].shape[0] if IDS in inputs else 1
    known = {_PAST.sub("", name, count=1): name for name in inputs if _PAST.search(name)}
    found: list[Cache] = []
    for output, type_ in outputs.items():
        given = known.get(_PRESENT.sub("", output, count=1)) if _PRESENT.search(output) else None
        if given is not None and inputs[given].rank == type_.rank:
            found.append(_cache(output, given, inputs[given], type_, batch))
    return found


def _cache(output: str, given: str, before: Tensor, after: Tensor, batch: Size) -> Cache:
    """Find the axes of a cache: the batch is that of the tokens, rows are not known or grow."""
    axes = range(before.rank)
    entries = next((a for a in axes if is_symbolic(batch) and _same(before.shape[a], batch)), 0)
    rows = [
        a
        for a in axes
        if a != entries
        and (is_symbolic(before.shape[a]) or not _same(before.shape[a], after.shape[a]))
    ]
    if not rows and before.rank == 4:
        rows = [2]  # [batch, heads, rows, size], of a fixed size
    return Cache(output, given, entries, rows[0] if rows else NO_ROWS)


def _same(one: Size, other: Size) -> bool:
    return bool(is_same(one, other))
