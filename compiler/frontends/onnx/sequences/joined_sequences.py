"""Sequences whose length, or places in which, a run decides: as tensors joined along an axis.

Each op on such a sequence is one on what is joined. A place from the end counts as -1, -2, ….
"""

from collections.abc import Sequence

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.tensor import Tensor
from ...core.sizes.found_sizes import FoundSizes
from ...core.sizes.run_time_shapes import listed
from ...core.values import cast, constant, counted, number, tensor
from ..items import JoinedSequence, TensorList


def length_of(xs: JoinedSequence) -> Size:
    """Return how many tensors a sequence has."""
    if xs.lengths is None:
        return tensor(xs.joined).shape[xs.axis]
    return tensor(xs.lengths).shape[0]


def join(xs: TensorList, reason: str, others: Sequence[ir.Value] = ()) -> JoinedSequence:
    """Join tensors that differ in the size of one axis at most; stack those of one shape.

    Others that come to them decide with them. Raises Unsupported where more differs, with the
    reason for which they must be joined.
    """
    shapes = [tensor(x).shape for x in (*xs.tensors, *others)]
    if not xs.tensors:
        raise Unsupported(f"{reason} of a sequence of 0 tensors, whose shapes are not known")
    if all(shape == shapes[0] for shape in shapes):
        return JoinedSequence(tri.Stack.build(xs.tensors, axis=0).y, 0)
    alike = len({len(shape) for shape in shapes}) == 1
    axes = [axis for axis, sizes in enumerate(zip(*shapes, strict=False)) if len({*sizes}) > 1]
    if not alike or len(axes) != 1:
        spelt = ", ".join(str(tensor(x)) for x in xs.tensors)
        raise Unsupported(f"{reason} of {spelt}, which must differ in the size of one axis at most")
    joined = tri.Concat.build(xs.tensors, axis=axes[0]).y
    return JoinedSequence(
        joined, axes[0], listed([shape[axes[0]] for shape in shapes[: len(xs.tensors)]])
    )


def split_at_lengths(
    x: ir.Value, axis: int, lengths: ir.Value, found: FoundSizes
) -> JoinedSequence:
    """Split a tensor into parts of some lengths, which must be all of it when the model runs."""
    size = tensor(x).shape[axis]
    total = tri.ReduceSum.build(lengths, axes=(0,), keepdims=True).y
    any_ = tri.Concat.build([lengths, listed([size])], axis=0).y
    least = tri.ReduceMin.build(any_, axes=(0,), keepdims=True).y
    both = tri.Concat.build([total, least], axis=0).y
    whole, _ = found.define(both, [size, size])  # neither can be negative
    (checked,) = tri.Split.build(x, axis=axis, sizes=(whole,)).results
    return JoinedSequence(checked, axis, lengths)


def split_evenly(x: ir.Value, axis: int, part: ir.Value, found: FoundSizes) -> JoinedSequence:
    """Split a tensor into parts of one length, of which the last may be smaller."""
    size = tensor(x).shape[axis]
    length = found.new(None, 1)
    given = tri.Reshape.build(cast(part, "i64"), shape=(1,)).y
    tri.DefineSizes.build(given, sizes=(length,))
    parts = ceildiv(size, length)
    starts = tri.Mul.build(counted(parts, (parts,)), number(length)).y
    rests = tri.Sub.build(number(size), starts).y
    return JoinedSequence(x, axis, tri.Minimum.build(rests, number(length)).y)


def tensor_at(xs: JoinedSequence, position: ir.Value, found: FoundSizes) -> ir.Value:
    """Return the tensor at a place that a run decides."""
    count = length_of(xs)
    place = number(_place(position, count, count - 1, found))
    if xs.lengths is None:
        return tri.Gather.build(xs.joined, place, axis=xs.axis).y
    start, size = _part(xs, xs.lengths, place, found)
    places = tri.Add.build(counted(size, (size,)), start).y
    return tri.Gather.build(xs.joined, places, axis=xs.axis).y


def _place(position: ir.Value, count: Size, last: Size, found: FoundSizes) -> Size:
    """Return a place up to the last one, counted from the front; a run that has another one fails.

    Negative positions count from the end of `count` tensors.
    """
    given = tri.Reshape.build(cast(position, "i64"), shape=(1,)).y
    from_end = tri.Less.build(given, number(0)).y
    front = tri.Where.build(from_end, tri.Add.build(given, number(count)).y, given).y
    (place,) = found.define(front, [last])
    return place


def _part(
    xs: JoinedSequence, lengths: ir.Value, place: ir.Value, found: FoundSizes
) -> tuple[ir.Value, Size]:
    """Return where a tensor begins in what is joined, and how much of the axis it has."""
    length = tri.Gather.build(lengths, place, axis=0).y
    ends = tri.CumSum.build(lengths, axis=0).y
    start = tri.Sub.build(tri.Gather.build(ends, place, axis=0).y, length).y
    most = tensor(xs.joined).shape[xs.axis]
    (size,) = found.define(tri.Reshape.build(length, shape=(1,)).y, [most])
    return start, size


def erased(xs: JoinedSequence, position: ir.Value, found: FoundSizes) -> JoinedSequence:
    """Return a sequence without the tensor at a place."""
    count = length_of(xs)
    place = number(_place(position, count, count - 1, found))
    if xs.lengths is None:
        return JoinedSequence(_cut(xs.joined, xs.axis, place, 1), xs.axis)
    start, size = _part(xs, xs.lengths, place, found)
    joined = _cut(xs.joined, xs.axis, start, size)
    return JoinedSequence(joined, xs.axis, _cut(xs.lengths, 0, place, 1))


def _cut(x: ir.Value, axis: int, start: ir.Value, width: Size) -> ir.Value:
    """Return a tensor without so many elements of an axis from a place on."""
    rest = tensor(x).shape[axis] - width
    places = counted(rest, (rest,))
    after = tri.Add.build(places, number(width)).y
    kept = tri.Where.build(tri.Less.build(places, start).y, places, after).y
    return tri.Gather.build(x, kept, axis=axis).y


def inserted(
    xs: JoinedSequence, x: ir.Value, position: ir.Value, found: FoundSizes
) -> JoinedSequence:
    """Return a sequence with one more tensor before the one at a place, or at the end."""
    count = length_of(xs)
    place = number(_place(position, count, count, found))
    more = appended(xs, x)
    if xs.lengths is None or more.lengths is None:
        return JoinedSequence(_last_moved(more.joined, xs.axis, place, 1), xs.axis)
    # Where the place is the end, nothing begins there: all lengths before it are added.
    zero = constant(np.zeros(1, np.int64))
    ends = tri.CumSum.build(tri.Concat.build([zero, xs.lengths], axis=0).y, axis=0).y
    start = tri.Gather.build(ends, place, axis=0).y
    joined = _last_moved(more.joined, xs.axis, start, tensor(x).shape[xs.axis])
    return JoinedSequence(joined, xs.axis, _last_moved(more.lengths, 0, place, 1))


def _last_moved(x: ir.Value, axis: int, start: ir.Value, width: Size) -> ir.Value:
    """Return a tensor whose last elements of an axis, so many, come before others at a place."""
    size = tensor(x).shape[axis]
    places = counted(size, (size,))
    within = tri.Sub.build(places, start).y
    from_end = tri.Add.build(within, number(size - width)).y
    later = tri.Sub.build(places, number(width)).y
    is_new = tri.Less.build(within, number(width)).y
    moved = tri.Where.build(is_new, from_end, later).y
    kept = tri.Where.build(tri.Less.build(places, start).y, places, moved).y
    return tri.Gather.build(x, kept, axis=axis).y


def appended(xs: JoinedSequence, x: ir.Value) -> JoinedSequence:
    """Return a sequence with one more tensor at its end."""
    need_like(tensor(xs.joined), xs.axis, xs.lengths is not None, x)
    if xs.lengths is None:
        shape = tensor(x).shape
        one = tri.Reshape.build(x, shape=(*shape[: xs.axis], 1, *shape[xs.axis :])).y
        return JoinedSequence(tri.Concat.build([xs.joined, one], axis=xs.axis).y, xs.axis)
    joined = tri.Concat.build([xs.joined, x], axis=xs.axis).y
    more = listed([tensor(x).shape[xs.axis]])
    return JoinedSequence(joined, xs.axis, tri.Concat.build([xs.lengths, more], axis=0).y)


def need_like(has: Tensor, axis: int, has_lengths: bool, x: ir.Value) -> None:
    """Raise unless a tensor is like those of a sequence, but for the size that may differ.

    The sequence is joined along an axis, of which its tensors have any length, or are an element.
    """
    one = tensor(x)
    if one.dtype != has.dtype:
        raise Invalid(f"puts {one} into a sequence of {has.dtype}, must be of one type")
    kept = _without(has.shape, axis)
    shape = _without(one.shape, axis) if has_lengths else one.shape
    if kept != shape or one.rank != has.rank - (not has_lengths):
        raise Unsupported(
            f"puts {one} into a sequence of tensors that are {has} when they are joined along axis "
            f"{axis}, must fit there: a run decides how many there are"
        )


def is_like(xs: JoinedSequence, x: ir.Value) -> bool:
    """Return whether a tensor is like those of a sequence, but for the size that may differ."""
    try:
        need_like(tensor(xs.joined), xs.axis, xs.lengths is not None, x)
    except Unsupported:
        return False
    return True


def _without(shape: Sequence[Size], axis: int) -> tuple[Size, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def concatenated(xs: JoinedSequence, axis: int) -> ir.Value:
    """Return all tensors, one after the other along an axis that they have."""
    if xs.lengths is not None:
        if axis != xs.axis:
            raise Unsupported(
                f"joins along axis {axis} tensors whose sizes of axis {xs.axis} a run decides"
            )
        return xs.joined
    shape = _without(tensor(xs.joined).shape, xs.axis)
    count = length_of(xs)
    order = [*range(len(shape) + 1)]
    order.remove(xs.axis)
    order.insert(axis, xs.axis)
    moved = tri.Transpose.build(xs.joined, permutation=tuple(order)).y
    whole = (*shape[:axis], count * shape[axis], *shape[axis + 1 :])
    return tri.Reshape.build(moved, shape=whole).y


def stacked(xs: JoinedSequence, axis: int) -> ir.Value:
    """Return all tensors along a new axis."""
    if xs.lengths is not None:
        raise Unsupported(f"stacks tensors whose sizes of axis {xs.axis} a run decides")
    order = [*range(tensor(xs.joined).rank)]
    order.remove(xs.axis)
    order.insert(axis, xs.axis)
    return tri.Transpose.build(xs.joined, permutation=tuple(order)).y
