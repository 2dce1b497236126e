"""Recognise what is what in a decoder by the names and the types of its ports."""

import re
from collections.abc import Mapping, Sequence

from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.interface import input_types, named_outputs, output_types
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.sizes.atoms import Size, is_symbolic
from ...dialects.core.sizes.limits import is_same
from ...dialects.core.states.carried import named_states
from ...dialects.core.states.generation import NO_ROWS, Cache, Generation
from ...dialects.core.tensor import Tensor, is_integer
from .description import DecoderDescription

_PAST = re.compile(r"past(_key_values?)?")
_PRESENT = re.compile(r"present(_key_values?)?")

Types = Mapping[str, Tensor]


def port_types(module: Module) -> tuple[Types, Types]:
    """Return the types of the inputs and of the outputs of a module by name."""
    return input_types(module), output_types(module)


def recognize(module: Module, known: DecoderDescription) -> Generation:
    """Find the ports of a decoder; raise CompileError where one that is needed is not there.

    Tokens and logits are needed; a mask and positions may be missing. Outputs are caches that are
    states by the description, or that are named `present…`, of inputs `past…` with the same rest of
    the name: these have the rows of earlier steps. All other inputs are given once for a text, all
    other outputs are left alone.
    """
    inputs, outputs = port_types(module)
    outputs = {name: type_ for name, type_ in outputs.items() if name not in _unchanged(module)}
    ids, logits = known.ids, known.logits
    faults = [*_fault(ids, inputs, "input", 2), *_fault(logits, outputs, "output", 3)]
    if faults:
        raise CompileError([*faults, *_no_caches(_caches(inputs, outputs, known.states))])
    if not is_integer(inputs[ids].dtype):
        raise CompileError([Diagnostic(ids, f"input is {inputs[ids]}, must be integers")])
    words = outputs[logits].shape[-1]
    if wrong := [end for end in known.ends if not is_symbolic(words) and end >= words]:
        raise CompileError(f"token {wrong[0]} ends texts, the model has {words} tokens")
    caches = _caches(inputs, outputs, known.states, inputs[ids].shape[0])
    if missing := _no_caches(caches):
        raise CompileError(missing)
    others = {name: getattr(known, name) for name in ("mask", "positions", "starts", "totals")}
    return Generation(
        ids,
        logits,
        **{name: port for name, port in others.items() if port in inputs},
        caches=tuple(caches),
        ends=known.ends,
        sampling=known.sampling,
    )


def _unchanged(module: Module) -> set[str]:
    """Return the outputs that are inputs as they are: a step that returns them makes nothing."""
    given: list[ir.Value] = list(module.main_block.arguments)
    return {name for name, value in named_outputs(module).items() if value in given}


def _no_caches(caches: Sequence[Cache]) -> list[Diagnostic]:
    if caches:
        return []
    message = (
        "no output is the cache of an input, must have outputs 'present…' of 'past…', or states "
        "that name them"
    )
    return [Diagnostic("", message)]


def _fault(name: str, ports: Types, which: str, rank: int) -> list[Diagnostic]:
    if name not in ports:
        listed = ", ".join(ports)
        return [Diagnostic("", f"the model has no {which} '{name}', must have it: has {listed}")]
    if ports[name].rank != rank:
        return [Diagnostic(name, f"{which} is {ports[name]}, must be of rank {rank}")]
    return []


def _caches(
    inputs: Types, outputs: Types, states: Mapping[str, str], batch: Size = 1
) -> list[Cache]:
    named = _named_caches(inputs, outputs, states)
    past = {_PAST.sub("", name, count=1): name for name in inputs if _PAST.search(name)}
    for output, type_ in outputs.items():
        given = past.get(_PRESENT.sub("", output, count=1)) if _PRESENT.search(output) else None
        if given is not None and inputs[given].rank == type_.rank:
            named.setdefault(output, given)
    return [_cache(to, of, inputs[of], outputs[to], batch) for to, of in named.items()]


def _named_caches(inputs: Types, outputs: Types, states: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs of outputs that are states; raise CompileError where types do not fit."""
    found = named_states(states, list(outputs))
    for output, name in found.items():
        why = f"states make '{output}' the input '{name}'"
        if name not in inputs:
            raise CompileError(f"{why}, which is no input: the inputs are {', '.join(inputs)}")
        before, after = inputs[name], outputs[output]
        if (before.rank, before.dtype) != (after.rank, after.dtype):
            raise CompileError(f"{why}, but it is {after}, must be {before}")
    return found


def _cache(output: str, given: str, before: Tensor, after: Tensor, batch: Size) -> Cache:
    """Find the axes of a cache: the batch is that of the tokens, rows are not known or grow."""
    axes = range(before.rank)
    entries = next((a for a in axes if _same(before.shape[a], batch)), 0)
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
