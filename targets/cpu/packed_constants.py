"""Pack constants for kernels; those that are computed from smaller ones stay so small.

Weights that a model stores as integers with scales are ops on constants. Packing moves elements,
and the ops are elementwise: so the integers and the scales are packed, and the ops are built on
them. They run when the package is loaded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array, Shape
from ...dialects.cpu.packing import join_parts
from ...passes.constants import hint
from ...passes.rewriting import Rewriter

Split = Callable[[Array], list[Array]]
"""Rearrange an array into the parts of a packed one: the elements of each are some of its own."""

MOVES = (tri.Reshape, tri.Transpose, tri.Slice)

ARITHMETIC = (tri.Cast, tri.Add, tri.Sub, tri.Mul)
"""Elementwise ops that compute zeros of zeros, which packing may fill up with."""


def constant_before(op: Op, array: Array, what: str, rewriter: Rewriter) -> ir.Value:
    """Build, before an op, a constant that is named after its result and what it is."""
    with rewriter.before(op):
        return tri.build_constant(rewriter.module, array, f"{hint(op)}.{what}").results[0]


def packed_constant(
    op: Op, value: ir.Value, pack: Callable[[Array], Array], rewriter: Rewriter
) -> ir.Value:
    """Build, before an op, a constant weight of it as `pack` rearranges it.

    Raises NoMatch where the weight depends on an input.
    """
    (part,) = packed_parts(op, value, lambda array: [pack(array)], rewriter)
    return part


def joined_constant(op: Op, value: ir.Value, split: Split, rewriter: Rewriter) -> ir.Value:
    """Build, before an op, a constant weight of it whose parts follow one another.

    Parts are [count, ...], the result is [count, elements]. Raises NoMatch where the weight depends
    on an input.
    """
    if _is_stored(value, rewriter):
        joined = join_parts(split(rewriter.constant(value)))
        return constant_before(op, joined, "weight", rewriter)
    parts = packed_parts(op, value, split, rewriter)
    with rewriter.before(op):
        return join_values(parts)


def join_values(parts: Sequence[ir.Value]) -> ir.Value:
    """Build what `join_parts` computes, at the insertion point."""
    flat: list[ir.Value] = []
    for part in parts:
        shape = tensor_of(part.type).shape
        flat.append(tri.Reshape.build(part, shape=(shape[0], math.prod(shape[1:]))).y)
    return flat[0] if len(flat) == 1 else tri.Concat.build(flat, axis=1).y


def packed_parts(op: Op, value: ir.Value, split: Split, rewriter: Rewriter) -> list[ir.Value]:
    """Build, before an op, the parts of a constant weight of it.

    Raises NoMatch where the weight depends on an input.
    """
    rewriter.need_constant(value)
    tree = _tree(value, split, rewriter)
    parts = [_Part(op, tree, number, rewriter) for number in range(len(_leaves(tree)[0].parts))]
    size = tensor_of(value.type).size_bytes
    if sum(part.stored_bytes for part in parts) < size:
        return [part.build() for part in parts]
    stored = split(rewriter.constant(value))
    return [constant_before(op, array, "weight", rewriter) for array in stored]


def _is_stored(value: ir.Value, rewriter: Rewriter) -> bool:
    return isinstance(rewriter.find_producer(value), (tri.Constant, tri.Weight))


# -- what a weight is computed from ------------------------------------------------------------


@dataclass(frozen=True)
class _Leaf:
    """Hold a constant in parts."""

    parts: list[Array]


@dataclass(frozen=True)
class _Apply:
    """Apply an elementwise op."""

    op: Op
    operands: "list[_Leaf | _Apply]"


_Tree = _Leaf | _Apply


def _tree(value: ir.Value, split: Split, rewriter: Rewriter) -> _Tree:
    maker = rewriter.find_producer(value)
    if isinstance(maker, MOVES):
        move = maker
        return _tree(move.x, lambda array: split(move.evaluate([array])), rewriter)
    if not isinstance(maker, ARITHMETIC):
        return _Leaf(split(rewriter.constant(value)))
    shape = tensor_of(value.type).shape
    operands = list(maker.operation.operands)
    return _Apply(maker, [_operand(operand, shape, split, rewriter) for operand in operands])


def _operand(value: ir.Value, shape: Shape, split: Split, rewriter: Rewriter) -> _Tree:
    if tensor_of(value.type).shape == shape:
        return _tree(value, split, rewriter)
    repeated = np.broadcast_to(rewriter.constant(value), shape)
    return _Leaf(split(repeated))


def _leaves(tree: _Tree) -> list[_Leaf]:
    if isinstance(tree, _Leaf):
        return [tree]
    return [leaf for operand in tree.operands for leaf in _leaves(operand)]


# -- building it again -------------------------------------------------------------------------


class _Part:
    """Build one part of a packed weight: the ops on its leaves, which are stored without repeats.

    Where a leaf repeats each number along a part of an axis, as the scales of blocks do, the axis
    is cut in two.
    """

    def __init__(self, op: Op, tree: _Tree, number: int, rewriter: Rewriter) -> None:
        self.op, self.tree, self.number, self.rewriter = op, tree, number, rewriter
        leaves = _leaves(tree)
        self.shape = leaves[0].parts[number].shape
        self.runs = {id(leaf): _runs(leaf.parts[number]) for leaf in leaves}
        self.run = [_common_run(size, lengths) for size, lengths in self._by_axis()]

    def build(self) -> ir.Value:
        built = self._build(self.tree)
        with self.rewriter.before(self.op):
            if tensor_of(built.type).shape != self.shape:
                built = tri.Reshape.build(built, shape=self.shape).y
        return built

    @property
    def stored_bytes(self) -> int:
        """Return the bytes of all leaves."""
        return sum(self._stored(leaf).nbytes for leaf in _leaves(self.tree))

    def _by_axis(self) -> list[tuple[int, list[int]]]:
        return [
            (size, [runs[a] for runs in self.runs.values()]) for a, size in enumerate(self.shape)
        ]

    def _build(self, tree: _Tree) -> ir.Value:
        if isinstance(tree, _Leaf):
            return constant_before(self.op, self._stored(tree), "weight", self.rewriter)
        operands = [self._build(operand) for operand in tree.operands]
        with self.rewriter.before(self.op):
            return type(tree.op).build(*operands, **tree.op.attributes).results[0]

    def _stored(self, leaf: _Leaf) -> Array:
        """Return a part of a leaf, once for each run of equal numbers."""
        array = leaf.parts[self.number]
        shape: list[int] = []
        kept: list[slice] = []
        for size, run, common in zip(array.shape, self.runs[id(leaf)], self.run, strict=True):
            once = slice(0, 1)
            kept.append(once if run == size else slice(None))
            shape.append(size // common)
            if common > 1:
                kept.append(once if run % common == 0 else slice(None))
                shape.append(common)
        return np.ascontiguousarray(array.reshape(shape)[tuple(kept)])


def _common_run(size: int, lengths: Sequence[int]) -> int:
    """Return in which lengths an axis is cut, 1 where it is left as it is."""
    within = [length for length in lengths if 1 < length < size]
    return math.gcd(*within) if within else 1


def _runs(array: Array) -> tuple[int, ...]:
    """Return, for each axis, the length of which every run of equal numbers is a multiple."""
    if not array.size:
        return (1,) * array.ndim
    return tuple(_run(array, axis) for axis in range(array.ndim))


def _run(array: Array, axis: int) -> int:
    lines = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    changes = np.flatnonzero((lines[1:] != lines[:-1]).any(axis=1))
    return math.gcd(len(lines), *(int(place) + 1 for place in changes))
