"""Common subexpression elimination."""

from collections.abc import Hashable, Mapping

from ..dialects import tri
from ..dialects.core.mlir import PassManager, ir
from ..dialects.core.module import Module, functions
from ..dialects.core.op import Op, view
from ..dialects.core.tensor import Array, same_bits
from .core import Pass

SAMPLES = 64
"""How many elements of a weight decide whether it is worth comparing with another one."""

Duplicates = Mapping[str, str]
"""For each weight that equals an earlier one, the name of that one."""


class Cse(Pass):
    """Merge equal ops: the same op of the same operands and attributes.

    Weights are equal when their numbers are, under any name. Ops of MLIR's own dialects are
    left to MLIR's pass of the same name. The first op stays, with its own location.

        %a = tri.relu %x; %b = tri.relu %x; tri.add %a, %b   =>   %a = tri.relu %x; tri.add %a, %a
    """

    def run(self, module: Module) -> None:
        duplicates = _duplicates(module.weights)
        foreign = False
        for function in functions(module.operation):
            for block in function.regions[0].blocks:
                foreign |= _merge(block, duplicates)
        if foreign:
            with module.operation.context:
                PassManager.parse("builtin.module(cse)").run(module.operation)


def _merge(block: ir.Block, duplicates: Duplicates) -> bool:
    """Merge equal ops of ours in a block; return whether ops of other dialects were seen."""
    first: dict[Hashable, Op] = {}
    foreign = False
    for operation in list(block.operations):
        inner = operation.operation
        for region in inner.regions:
            for nested in region.blocks:
                foreign |= _merge(nested, duplicates)
        op = view(inner)
        foreign |= op is None and not inner.name.startswith("func.")
        if op is None or not op.pure or op.terminator or len(inner.regions):
            continue
        same = first.setdefault(_key(op, duplicates), op)
        if same is op:
            continue
        for old, new in zip(op.results, same.results, strict=True):
            old.replace_all_uses_with(new)
        inner.erase()
    return foreign


def _key(op: Op, duplicates: Duplicates) -> Hashable:
    """Return what two ops have in common exactly when they compute the same."""
    types = tuple(value.type for value in op.results)
    if isinstance(op, tri.Weight):
        return op.op_name, duplicates.get(op.name, op.name), types
    given = op.operation.attributes
    attributes = tuple((name, given[name]) for name in given)
    return op.op_name, tuple(op.operation.operands), attributes, types


def _duplicates(weights: Mapping[str, Array]) -> Duplicates:
    """Find weights that equal an earlier one, bit by bit."""
    alike: dict[Hashable, list[str]] = {}
    duplicates: dict[str, str] = {}
    for name, array in weights.items():
        sample = array.flat[:: array.size // SAMPLES + 1].tobytes()
        others = alike.setdefault((array.dtype.name, array.shape, sample), [])
        duplicate = next((other for other in others if same_bits(weights[other], array)), None)
        if duplicate is None:
            others.append(name)
        else:
            duplicates[name] = duplicate
    return duplicates
