"""Sequences whose length, or places in which, a run decides: as tensors joined along an axis.

Each op on such a sequence is one on what is joined. A place from the end counts as -1, -2, ….
"""

from collections.abc import Collection, Sequence

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import ceildiv, symbols_of
from ....dialects.core.tensor import Tensor, numpy_dtype
from ..core.found_sizes import FoundSizes
from ..core.run_time_shapes import listed
from ..core.values import cast, constant, counted, filled, number, tensor
from .items import JoinedSequence, TensorList


def length_of(xs: JoinedSequence) -> Size:
    """Return how many tensors a sequence has."""
    if xs.lengths is None:
        return tensor(xs.joined).shape[xs.axis]
    return tensor(xs.lengths).shape[0]


def join(xs: TensorList, reason: str) -> JoinedSequence:
    """Join tensors that differ in the size of one axis at most; stack those of one shape.

    Raises Unsupported for others, with the reason for which they must be joined.
    """
    shapes = [tensor(x).shape for x in xs.tensors]
    if not shapes:
        raise Unsupported(f"{reason} of a sequence of 0 tensors, whose shapes are not known")
    if all(shape == shapes[0] for shape in shapes):
        return JoinedSequence(tri.Stack.build(xs.tensors, axis=0).y, 0)
    alike = len({len(shape) for shape in shapes}) == 1
    axes = [axis for axis, sizes in enumerate(zip(*shapes, strict=False)) if len({*sizes}) > 1]
    if not alike or len(axes) != 1:
        spelt = ", ".join(str(tensor(x)) for x in xs.tensors)
        raise Unsupported(f"{reason} of {spelt}, which must differ in the size of one axis at most")
    joined = tri.Concat.build(xs.tensors, axis=axes[0]).y
    return JoinedSequence(joined, axes[0], listed([shape[axes[0]] for shape in shapes]))


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
    place = _place(position, length_of(xs), found)
    if xs.lengths is None:
        return tri.Gather.build(xs.joined, place, axis=xs.axis).y
    length = tri.Gather.build(xs.lengths, place, axis=0).y
    ends = tri.CumSum.build(xs.lengths, axis=0).y
    start = tri.Sub.build(tri.Gather.build(ends, place, axis=0).y, length).y
    most = tensor(xs.joined).shape[xs.axis]
    (size,) = found.define(tri.Reshape.build(length, shape=(1,)).y, [most])
    places = tri.Add.build(counted(size, (size,)), start).y
    return tri.Gather.build(xs.joined, places, axis=xs.axis).y


def _place(position: ir.Value, count: Size, found: FoundSizes) -> ir.Value:
    """Return a place among `count`, counted from the front; a run that has another one fails."""
    given = tri.Reshape.build(cast(position, "i64"), shape=(1,)).y
    from_end = tri.Less.build(given, number(0)).y
    front = tri.Where.build(from_end, tri.Add.build(given, number(count)).y, given).y
    (place,) = found.define(front, [count - 1])
    return number(place)


def appended(xs: JoinedSequence, x: ir.Value) -> JoinedSequence:
    """Return a sequence with one more tensor at its end."""
    _need_like(xs, x)
    if xs.lengths is None:
        shape = tensor(x).shape
        one = tri.Reshape.build(x, shape=(*shape[: xs.axis], 1, *shape[xs.axis :])).y
        return JoinedSequence(tri.Concat.build([xs.joined, one], axis=xs.axis).y, xs.axis)
    joined = tri.Concat.build([xs.joined, x], axis=xs.axis).y
    more = listed([tensor(x).shape[xs.axis]])
    return JoinedSequence(joined, xs.axis, tri.Concat.build([xs.lengths, more], axis=0).y)


def _need_like(xs: JoinedSequence, x: ir.Value) -> None:
    """Raise unless a tensor is like those of a sequence, but for the size that may differ."""
    has, one = tensor(xs.joined), tensor(x)
    if one.dtype != has.dtype:
        raise Invalid(f"puts {one} into a sequence of {has.dtype}, must be of one type")
    kept = _without(has.shape, xs.axis)
    shape = one.shape if xs.lengths is None else _without(one.shape, xs.axis)
    if kept != shape or one.rank != has.rank - (xs.lengths is None):
        raise Unsupported(
            f"puts {one} into a sequence of tensors that are {has} when they are joined along axis "
            f"{xs.axis}, must fit there: a run decides how many there are"
        )


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


def begin_carried(
    xs: TensorList, after: Sequence[Tensor], outside: Collection[str]
) -> JoinedSequence:
    """Return what a loop carries instead of a sequence that has other tensors after an iteration.

    A size of the tensors that symbols of the body decide may differ: they are joined along its
    axis. `outside` has the symbols that are known before the loop.
    """
    types = [*map(tensor, xs.tensors), *after]
    if not types or len({each.rank for each in types}) > 1:
        spelt = ", ".join(map(str, types)) or "no tensors"
        raise Unsupported(f"carries a sequence of {spelt}, must be tensors of one rank")
    sizes = [[each.shape[axis] for each in types] for axis in range(types[0].rank)]
    axes = [
        axis
        for axis, each in enumerate(sizes)
        if len({*each}) > 1 or not symbols_of(each[0]).keys() <= {*outside}
    ]
    if len(axes) > 1:
        spelt = ", ".join(map(str, types))
        raise Unsupported(
            f"carries a sequence of {spelt}, which differ in the sizes of axes {axes}"
        )
    if axes:
        return _joined_along(axes[0], xs, types[0])
    if xs.tensors:
        return JoinedSequence(tri.Stack.build(xs.tensors, axis=0).y, 0)
    return JoinedSequence(_empty((0, *types[0].shape), xs.dtype), 0)


def _joined_along(axis: int, xs: TensorList, like: Tensor) -> JoinedSequence:
    lengths = [tensor(x).shape[axis] for x in xs.tensors]
    if xs.tensors:
        return JoinedSequence(tri.Concat.build(xs.tensors, axis=axis).y, axis, listed(lengths))
    shape = (*like.shape[:axis], 0, *like.shape[axis + 1 :])
    return JoinedSequence(_empty(shape, xs.dtype), axis, constant(np.zeros(0, np.int64)))


def _empty(shape: Sequence[Size], dtype: str) -> ir.Value:
    made = filled(tuple(shape), np.zeros((), numpy_dtype(dtype)))
    return made.results[0] if isinstance(made, Op) else constant(made)
