"""Simplify chains of ops that take tensors apart and put them together."""

from typing import NamedTuple

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.tensor import Shape
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite

MOST_PIECES = 256
"""The most operands of a merged concatenation: code and compile time grow with their number."""

MOST_PLACES = 1 << 16
"""How large a gather may be to be computed, to see whether it takes all elements in order."""


class FoldSlices(Pass):
    """Merge slices, splits and concatenations that undo or continue one another.

    A gather of constant indices that are evenly apart becomes a slice.

        %a = tri.slice %x; %b = tri.slice %a                     =>   %b = tri.slice %x
        %a, %b = tri.split %x; %y = tri.concat %a, %b            =>   uses of %y use %x
        %c = tri.concat %a, %b; %y = tri.slice %c, all of %b     =>   uses of %y use %b
    """

    def run(self, module: Module) -> None:
        rewrite(
            module,
            _GatherInOrder(),
            _GatherOfRange(),
            _SliceOfSlice(),
            _SliceOfConcat(),
            _SliceOfSplit(),
            _ConcatOfConcat(),
            _ConcatOfParts(),
            _SplitOfConcat(),
        )


class _GatherInOrder(Pattern):
    """Reshape instead of gathering every element once, in order."""

    root = (tri.Gather, tri.GatherElements, tri.GatherNd)

    def rewrite(
        self, op: tri.Gather | tri.GatherElements | tri.GatherNd, rewriter: Rewriter
    ) -> None:
        x, y = tensor_of(op.x.type), tensor_of(op.y.type)
        if x.size != y.size or x.size > MOST_PLACES:
            raise NoMatch(f"takes {y.size} of {x.size} elements")
        places = np.arange(x.size).reshape(x.shape)
        taken = op.reference(places, rewriter.constant(op.indices))
        if not np.array_equal(np.ravel(taken), places.ravel()):
            raise NoMatch("takes elements in another order, or some of them twice")
        with rewriter.before(op):
            new = tri.Reshape.build(op.x, shape=y.shape)
        rewriter.replace(op, new)


class _GatherOfRange(Pattern):
    """Slice instead of gathering one place of an axis, or some that are evenly apart."""

    root = tri.Gather

    def rewrite(self, op: tri.Gather, rewriter: Rewriter) -> None:
        shape = tensor_of(op.x.type).shape
        axis = op.axis % len(shape)
        indices = rewriter.constant(op.indices).reshape(-1).astype(np.int64)
        indices = np.where(indices < 0, indices + shape[axis], indices)
        steps = set(np.diff(indices).tolist()) or {1}
        if indices.size == 0 or len(steps) > 1 or steps == {0}:
            raise NoMatch("indices are not evenly apart")
        start, step = int(indices[0]), int(steps.pop())
        with rewriter.before(op):
            part = build_slice(op.x, axis, start, indices.size, step)
            new = tri.Reshape.build(part.y, shape=tensor_of(op.y.type).shape)
        rewriter.replace(op, new)


class _SliceOfSlice(Pattern):
    root = tri.Slice

    def rewrite(self, op: tri.Slice, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Slice)
        outer = zip(op.starts, op.steps, inner.starts, inner.steps, strict=True)
        places = [(first + start * by, step * by) for start, step, first, by in outer]
        with rewriter.before(op):
            new = tri.Slice.build(
                inner.x,
                starts=tuple(start for start, _ in places),
                sizes=op.sizes,
                steps=tuple(step for _, step in places),
            )
        rewriter.replace(op, new, inner)


class _SliceOfConcat(Pattern):
    root = tri.Slice

    def rewrite(self, op: tri.Slice, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Concat)
        axis = inner.axis % len(op.starts)
        if op.sizes[axis] == 0:
            raise NoMatch("takes nothing")
        last = op.starts[axis] + (op.sizes[axis] - 1) * op.steps[axis]
        low, high = min(op.starts[axis], last), max(op.starts[axis], last)
        begin = 0
        for piece in inner.xs:
            end = begin + tensor_of(piece.type).shape[axis]
            if begin <= low and high < end:
                break
            begin = end
        else:
            raise NoMatch("takes parts of several operands of the concatenation")
        starts = tuple(s - begin if a == axis else s for a, s in enumerate(op.starts))
        with rewriter.before(op):
            new = tri.Slice.build(piece, starts=starts, sizes=op.sizes, steps=op.steps)
        rewriter.replace(op, new, inner)


class _SliceOfSplit(Pattern):
    root = tri.Slice

    def rewrite(self, op: tri.Slice, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Split)
        axis = inner.axis % len(op.starts)
        offset = sum(inner.sizes[: _result_number(op.x)])
        starts = tuple(s + offset if a == axis else s for a, s in enumerate(op.starts))
        with rewriter.before(op):
            new = tri.Slice.build(inner.x, starts=starts, sizes=op.sizes, steps=op.steps)
        rewriter.replace(op, new, inner)


class _ConcatOfConcat(Pattern):
    root = tri.Concat

    def rewrite(self, op: tri.Concat, rewriter: Rewriter) -> None:
        rank = tensor_of(op.y.type).rank
        pieces: list[ir.Value] = []
        merged: list[tri.Concat] = []
        for piece in op.xs:
            inner = rewriter.find_producer(piece)
            if isinstance(inner, tri.Concat) and (inner.axis - op.axis) % rank == 0:
                pieces += inner.xs
                merged.append(inner)
            else:
                pieces.append(piece)
        if not merged:
            raise NoMatch("no operand is a concatenation along the same axis")
        if len(pieces) > MOST_PIECES:
            raise NoMatch(f"would join {len(pieces)} operands, more than {MOST_PIECES}")
        with rewriter.before(op):
            new = tri.Concat.build(pieces, axis=op.axis)
        rewriter.replace(op, new, *merged)


class _Part(NamedTuple):
    """Record the part of a value, from `starts` on, that a slice or a result of a split is."""

    source: ir.Value
    starts: tuple[int, ...]
    sizes: Shape


class _ConcatOfParts(Pattern):
    """Take neighbouring parts of one value together, instead of one by one."""

    root = tri.Concat

    def rewrite(self, op: tri.Concat, rewriter: Rewriter) -> None:
        parts = [_part(piece, rewriter) for piece in op.xs]
        axis = op.axis % tensor_of(op.y.type).rank
        for index in range(len(parts) - 1):
            left, right = parts[index], parts[index + 1]
            if left and right and _continues(left, right, axis):
                break
        else:
            raise NoMatch("no two neighbours are neighbouring parts of one value")
        size = left.sizes[axis] + right.sizes[axis]
        sizes = tuple(size if a == axis else n for a, n in enumerate(left.sizes))
        with rewriter.before(op):
            both = tri.Slice.build(
                left.source, starts=left.starts, sizes=sizes, steps=(1,) * len(sizes)
            )
            new = tri.Concat.build([*op.xs[:index], both.y, *op.xs[index + 2 :]], axis=axis)
        makers = [rewriter.find_producer(piece) for piece in op.xs[index : index + 2]]
        rewriter.replace(op, new, *(maker for maker in makers if maker))


class _SplitOfConcat(Pattern):
    root = tri.Split

    def rewrite(self, op: tri.Split, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Concat)
        rank = tensor_of(op.x.type).rank
        if (inner.axis - op.axis) % rank:
            raise NoMatch("splits along another axis than the concatenation")
        sizes = tuple(tensor_of(piece.type).shape[op.axis] for piece in inner.xs)
        if sizes != op.sizes:
            raise NoMatch(f"splits in {op.sizes}, concatenates {sizes}")
        rewriter.replace(op, inner.xs, inner)


def build_slice(x: ir.Value, axis: int, start: int, size: int, step: int = 1) -> tri.Slice:
    """Build the slice of `size` elements of one axis, from `start` on, and all of the others."""
    shape = tensor_of(x.type).shape
    return tri.Slice.build(
        x,
        starts=tuple(start if a == axis else 0 for a in range(len(shape))),
        sizes=tuple(size if a == axis else n for a, n in enumerate(shape)),
        steps=tuple(step if a == axis else 1 for a in range(len(shape))),
    )


def _part(value: ir.Value, rewriter: Rewriter) -> _Part | None:
    maker = rewriter.find_producer(value)
    if isinstance(maker, tri.Slice) and set(maker.steps) <= {1}:
        return _Part(maker.x, maker.starts, maker.sizes)
    if isinstance(maker, tri.Split):
        sizes = tensor_of(value.type).shape
        axis = maker.axis % len(sizes)
        start = sum(maker.sizes[: _result_number(value)])
        return _Part(maker.x, tuple(start if a == axis else 0 for a in range(len(sizes))), sizes)
    return None


def _continues(left: _Part, right: _Part, axis: int) -> bool:
    """Return whether `right` begins where `left` ends along an axis, and both agree otherwise."""
    expected = [s + left.sizes[a] if a == axis else s for a, s in enumerate(left.starts)]
    others = (left.sizes[:axis], left.sizes[axis + 1 :])
    return (
        left.source == right.source
        and list(right.starts) == expected
        and others == (right.sizes[:axis], right.sizes[axis + 1 :])
    )


def _result_number(value: ir.Value) -> int:
    return value.result_number if isinstance(value, ir.OpResult) else 0
