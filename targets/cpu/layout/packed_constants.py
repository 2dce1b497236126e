"""Pack constants for kernels; constants computed from smaller ones are packed unexpanded.

Weights that a model stores as integers with scales are ops on constants. Packing moves elements,
and the ops are elementwise: so the integers and the scales are packed, and the ops are built on
them. They run when the package is loaded. So do slices, reshapes and transposes that pack weights
which may be updated later, and gathers where those do not suffice: such weights are not known when
a model is compiled.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array, Shape
from ....dialects.cpu.packing import join_parts
from ....passes.constants import hint
from ....passes.rewriting import Rewriter
from .moves import find_moves, numbered

Split = Callable[[Array], list[Array]]
"""Rearrange an array into the parts of a packed one: the elements of each are some of its own."""

MOVES = (tri.Reshape, tri.Transpose, tri.Slice)

ARITHMETIC = (tri.Cast, tri.Add, tri.Sub, tri.Mul)
"""Elementwise ops that compute zeros of zeros, which packing may fill up with."""


def constant_before(op: Op, array: Array, what: str, rewriter: Rewriter) -> ir.Value:
    """Build a constant before an op, named after the op's result and the constant's role."""
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
    if _is_stored(value, rewriter) and rewriter.is_constant(value):
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
    if rewriter.is_held(value):
        return _moved_parts(op, value, split, rewriter)
    rewriter.need_constant(value)
    tree = _tree(value, split, rewriter)
    if isinstance(tree, _Leaf):
        return _build_constants(op, tree.parts, rewriter)
    parts = [_Part(op, tree, number, rewriter) for number in range(len(_leaves(tree)[0].parts))]
    if sum(part.stored_bytes for part in parts) < tensor_of(value.type).size_bytes:
        return [part.build() for part in parts]
    return _build_constants(op, split(rewriter.constant(value)), rewriter)


def _moved_parts(op: Op, value: ir.Value, split: Split, rewriter: Rewriter) -> list[ir.Value]:
    """Build what rearranges a weight that nobody may look at, when the package is loaded.

    A gather does what no slice, padding, reshape and transpose does.
    """
    shape = tensor_of(value.type).shape
    built: list[ir.Value] = []
    for part in split(numbered(shape)):
        moves = find_moves(shape, part)
        if moves is None:
            built.append(_gathered(op, value, part, rewriter))
            continue
        with rewriter.before(op):
            built.append(moves.build(value))
    return built


def _gathered(op: Op, value: ir.Value, numbers: Array, rewriter: Rewriter) -> ir.Value:
    """Build a part of a weight whose elements have these numbers, counted from 1; 0 is a zero."""
    size = tensor_of(value.type).size
    indices = constant_before(op, np.where(numbers == 0, size, numbers - 1), "order", rewriter)
    with rewriter.before(op):
        flat = tri.Reshape.build(value, shape=(size,)).y
        if not numbers.all():
            flat = tri.Pad.build(flat, pads=(0, 1)).y
        return tri.Gather.build(flat, indices).y


def _build_constants(op: Op, parts: Sequence[Array], rewriter: Rewriter) -> list[ir.Value]:
    return [constant_before(op, array, "weight", rewriter) for array in parts]


def _is_stored(value: ir.Value, rewriter: Rewriter) -> bool:
    return isinstance(rewriter.find_producer(value), (tri.Constant, tri.Weight))


# -- the expression of a weight ----------------------------------------------------------------


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

    If a leaf repeats elements along a part of an axis, as the scales of blocks do, the axis is cut
    in two. The first leaf keeps repeats that all leaves share, since it gives the result its shape.
    """

    def __init__(self, op: Op, tree: _Tree, number: int, rewriter: Rewriter) -> None:
        self.op, self.tree, self.number, self.rewriter = op, tree, number, rewriter
        leaves = _leaves(tree)
        self.shape = leaves[0].parts[number].shape
        runs = [_runs(leaf.parts[number]) for leaf in leaves]
        self.axes: list[int] = []
        repeats: list[list[bool]] = []
        for axis, size in enumerate(self.shape):
            lengths = [each[axis] for each in runs]
            common = _common_run(size, lengths)
            self.axes.append(size // common)
            repeats.append([length == size for length in lengths])
            if common > 1:
                self.axes.append(common)
                repeats.append([length % common == 0 for length in lengths])
        for each in repeats:
            each[0] &= not all(each)
        self.repeats = {id(leaf): [each[i] for each in repeats] for i, leaf in enumerate(leaves)}

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

    def _build(self, tree: _Tree) -> ir.Value:
        if isinstance(tree, _Leaf):
            return constant_before(self.op, self._stored(tree), "weight", self.rewriter)
        operands = [self._build(operand) for operand in tree.operands]
        with self.rewriter.before(self.op):
            return type(tree.op).build(*operands, **tree.op.attributes).results[0]

    def _stored(self, leaf: _Leaf) -> Array:
        """Return a part of a leaf, once for each run of equal numbers."""
        array = leaf.parts[self.number].reshape(self.axes)
        kept = [slice(0, 1) if once else slice(None) for once in self.repeats[id(leaf)]]
        return np.ascontiguousarray(array[tuple(kept)])


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
