"""Compute at compile time what does not depend on any input."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.data_dependent import DataDependentOp
from ...dialects.core.interpret import ConstantEvaluator, compute, lookup
from ...dialects.core.location import inner_location
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, functions, ops
from ...dialects.core.op import Op
from ...dialects.core.quantized import is_quantized
from ...dialects.core.symbol_table import symbols_of_function
from ...dialects.core.tensor import Array, numpy_dtype
from ...dialects.tri.constant import INLINE_BYTES
from ..bind_sizes import bind_sizes
from ..constants import hint
from ..core import Pass
from ..rewriting import users

Sources = dict[ir.Value, frozenset[ir.Value]]
"""The constants and weights that each constant value is computed from."""

Folded = tuple[Op, list[ir.Value]]
"""An op and those of its results that ops which stay use."""

EXPANDS = 4
"""A table has at least so many times the elements of the constants that it is computed from."""


class FoldConstants(Pass):
    """Evaluate ops that depend on constants and weights alone.

    Results without elements depend on nothing. Results up to 1 KiB are written in the IR; larger
    ones, and larger constants that are written there, become weights. An op stays when its results
    have more bytes than `growth` times the constants that they are computed from and `size_budget`:
    weights that are stored narrow, as integers and scales, stay so. Tables that are computed from
    few numbers, such as masks, may have `table_budget` bytes. With `narrow`, weights of these
    element types stay narrow at any growth, for targets that multiply them as they are. Ops on
    weights of which the module holds no data stay, too, and so do quantised weights and their
    scales. Sizes that ops find in constants are bound.

        %c = tri.constant {[1.0, 4.0]}; %y = tri.sqrt %c   =>   %y = tri.constant {[1.0, 2.0]}
        %f = tri.cast %w to f32 (%w is 256x256xi8); %y = tri.mat_mul %x, %f   =>   as it is
    """

    size_budget: int = 4 * 1024
    growth: int = 1
    table_budget: int = 64 * 1024
    narrow: tuple[str, ...] = ()

    def run(self, module: Module) -> None:
        while sizes := _found_sizes(module):
            bind_sizes(module, sizes)
        with module.operation.context:
            _replace_empty(module)
        evaluator = ConstantEvaluator(module.weights)
        sources: Sources = {}
        constant = [op for op in ops(module.operation) if _find_sources(op, sources, evaluator)]
        folded = self._choose(constant, sources)
        known = {value: evaluator(value) for _, values in folded for value in values}
        with module.operation.context:
            for op, values in folded:
                _replace(op, {value: known[value] for value in values}, module)

    def _choose(self, constant: Sequence[Op], sources: Sources) -> list[Folded]:
        """Choose what is folded, users first: what only folded ops need is gone with them."""
        folded: list[Folded] = []
        gone: set[ir.Operation] = set()
        kept: set[ir.Operation] = set()
        for op in reversed(constant):
            used = [value for value in op.results if not gone.issuperset(users(value))]
            final = kept.isdisjoint(user for value in used for user in users(value))
            if self._fits(used, sources) or (final and self._is_table(used, sources)):
                folded.append((op, used))
                gone.add(op.operation)
            else:
                kept.add(op.operation)
        return folded

    def _fits(self, made: Sequence[ir.Value], sources: Sources) -> bool:
        """Return whether results are hardly larger than the constants they are computed from."""
        found = _union(made, sources)
        growth = 1 if any(tensor_of(v.type).dtype in self.narrow for v in found) else self.growth
        return sum(map(_size, made)) <= sum(map(_size, found)) * growth + self.size_budget

    def _is_table(self, made: Sequence[ir.Value], sources: Sources) -> bool:
        """Return whether results are many numbers that are computed from few."""
        expands = _count(made) >= EXPANDS * _count(_union(made, sources))
        return expands and sum(map(_size, made)) <= self.table_budget


def _replace_empty(module: Module) -> None:
    """Put constants where results without elements are used: they depend on nothing."""
    for op in reversed(list(ops(module.operation))):
        if isinstance(op, tri.Constant | tri.Weight) or op.fields.regions or not op.pure:
            continue
        empty = [index for index, value in enumerate(op.results) if _is_empty(value)]
        for index in empty:
            tensor = tensor_of(op.results[index].type)
            if users(op.results[index]):
                _put(op, index, np.empty(tensor.shape, numpy_dtype(tensor.dtype)), module)
        if empty and not any(map(users, op.results)):
            op.operation.erase()


def _found_sizes(module: Module) -> dict[str, int]:
    """Return the sizes that ops find in constants, by the symbols that they define."""
    found: dict[str, int] = {}
    if not any(map(symbols_of_function, functions(module.operation))):
        return found
    evaluator = ConstantEvaluator(module.weights)
    for op in ops(module.operation):
        if not isinstance(op, DataDependentOp) or not op.defined or op.symbols_used:
            continue
        known = {value: evaluator(value) for value in op.operation.operands}
        if all(array is not None for array in known.values()):
            groups = [lookup(group, cast("Any", known)) for group in op.operand_groups()]
            found |= op.define(groups, compute(op, groups, module.weights), {})
    return found


def _find_sources(op: Op, sources: Sources, evaluator: ConstantEvaluator) -> bool:
    """Find out what the results of an op are computed from; say if it can be folded."""
    operands = list(op.operation.operands)
    if isinstance(op, tri.Constant) or (
        isinstance(op, tri.Weight) and op.name in evaluator.weights
    ):
        sources[op.y] = frozenset([op.y])
        return isinstance(op, tri.Constant) and _size(op.y) > INLINE_BYTES
    if not evaluator.evaluates(op) or any(operand not in sources for operand in operands):
        return False
    if isinstance(op, (tri.Weight, tri.Dequantize)) or _has_quantized(op):
        return False
    sources.update(dict.fromkeys(op.results, _union(operands, sources)))
    return True


def _is_empty(value: ir.Value) -> bool:
    tensor = tensor_of(value.type)
    return tensor.is_static and not tensor.size and not is_quantized(tensor.dtype)


def _has_quantized(op: Op) -> bool:
    return any(is_quantized(tensor_of(value.type).dtype) for value in op.results)


def _union(values: Sequence[ir.Value], sources: Sources) -> frozenset[ir.Value]:
    return frozenset[ir.Value]().union(*(sources[value] for value in values))


def _count(values: Iterable[ir.Value]) -> int:
    return sum(tensor_of(value.type).size for value in values)


def _size(value: ir.Value) -> int:
    return tensor_of(value.type).size_bytes


def _replace(op: Op, known: Mapping[ir.Value, Array | None], module: Module) -> None:
    """Put constants where results of a folded op are still used, and erase it."""
    for index, value in enumerate(op.results):
        if (array := known.get(value)) is not None:
            _put(op, index, array, module)
    op.operation.erase()


def _put(op: Op, index: int, array: Array, module: Module) -> None:
    """Put a constant where a result of an op is used."""
    location = op.location if len(op.results) == 1 else inner_location(op.location)
    with ir.InsertionPoint(op.operation), location:
        constant = tri.build_constant(module, array, hint(op, index))
    op.results[index].replace_all_uses_with(constant.results[0])
