"""Rules for slices: taking them out of a tensor, and writing them into one."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.atoms import is_symbolic
from ......dialects.core.sizes.checks import need, need_static
from ....core.slices import element
from ....core.values import cast, tensor
from ...registry import Complex, Value, torch_op
from ...views import (
    Ints,
    as_complex,
    axis_of,
    cut,
    cut_axes,
    expand,
    parts,
    rank_of,
    reshape,
    select,
    shape_of,
    take,
    taken_by,
)
from ..signal.complex import real

Tensor = Value | Complex

NOT_SELECTED = (1 << 31) - 1
"""The end of an axis; in `selects`, an axis of which a slice is taken, and not one element."""


@torch_op("Tensor.select", "torch.select")
def select_(input: Tensor, dim: int, index: int) -> Tensor:
    return select(input, axis_of(input, dim), index)


@torch_op("torch.narrow")
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    axis = axis_of(input, dim)
    size = shape_of(input)[axis]
    first = start + size if start < 0 else start
    fault = f"takes {length} elements from {start} on of axis {axis}, which has {size}"
    for least in (first, length, size - first - length):
        need(least, 0, fault)
    return cut(input, axis, first, first + length)


@torch_op("Tensor.slice", "aten::slice_copy")
def slice_(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    select: int | None = None,
    dims: Ints | None = None,
    starts: Ints | None = None,
    ends: Ints | None = None,
    steps: Ints | None = None,
    selects: Ints | None = None,
) -> Tensor:
    """Take slices of axes; of those that `selects` names one element, without the axis."""
    if select is not None:
        return select_(input, dim, select)
    if dims is None:
        return cut_axes(input, {axis_of(input, dim): _slice(start, end, step)})
    region = _region(input, dims, starts, ends, steps, selects)
    taken = cut_axes(input, region)
    kept = _kept(input, dims, selects)
    return reshape(taken, [d for axis, d in enumerate(shape_of(taken)) if axis in kept])


def _slice(start: int | None, end: int | None, step: int) -> slice:
    if step < 1:
        raise Invalid(f"has step {step}, must be at least 1")
    return slice(start, None if end == NOT_SELECTED else end, step)


def _region(
    x: Tensor,
    dims: Ints,
    starts: Ints | None,
    ends: Ints | None,
    steps: Ints | None,
    selects: Ints | None,
) -> dict[int, slice]:
    """Return the slice of each axis that is named; one element where it is selected."""
    count = len(dims)
    first, last = starts or (0,) * count, ends or (NOT_SELECTED,) * count
    by, chosen = steps or (1,) * count, selects or (NOT_SELECTED,) * count
    if not count == len(first) == len(last) == len(by) == len(chosen):
        raise Invalid(f"has dims {dims}, and not as many starts, ends, steps and selects")
    region: dict[int, slice] = {}
    for dim, start, end, step, index in zip(dims, first, last, by, chosen, strict=True):
        axis = axis_of(x, dim)
        if index == NOT_SELECTED:
            region[axis] = _slice(start, end, step)
        else:
            at = element(index, shape_of(x)[axis])
            region[axis] = slice(at, at + 1)
    return region


def _kept(x: Tensor, dims: Ints, selects: Ints | None) -> list[int]:
    """List the axes that a slice keeps: those of which not one element is selected."""
    chosen = selects or (NOT_SELECTED,) * len(dims)
    dropped = {axis_of(x, dim) for dim, at in zip(dims, chosen, strict=True) if at != NOT_SELECTED}
    return [axis for axis in range(rank_of(x)) if axis not in dropped]


@torch_op("Tensor.slice_copy")
def slice_copy(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    select: int | None = None,
    dims: Ints | None = None,
    starts: Ints | None = None,
    ends: Ints | None = None,
    steps: Ints | None = None,
    selects: Ints | None = None,
) -> Tensor:
    """Write a tensor, which broadcasts, over a slice of another."""
    if select is not None:
        return select_scatter(self, src, dim, select)
    if dims is None:
        return _written(self, src, {axis_of(self, dim): _slice(start, end, step)}, None)
    region = _region(self, dims, starts, ends, steps, selects)
    return _written(self, src, region, _kept(self, dims, selects))


@torch_op("Tensor.copy", "aten::copy", "aten::copy_")
def copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Write over all of a tensor."""
    dtype = tensor(parts(self)).dtype
    if isinstance(self, Complex):
        return expand(Complex(cast(as_complex(src).parts, dtype)), shape_of(self))
    return expand(cast(real(src), dtype), tensor(self).shape)


@torch_op("torch.slice_scatter")
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    return _written(input, src, {axis_of(input, dim): _slice(start, end, step)}, None)


@torch_op("torch.select_scatter")
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    axis = axis_of(input, dim)
    at = element(index, shape_of(input)[axis])
    kept = [each for each in range(rank_of(input)) if each != axis]
    return _written(input, src, {axis: slice(at, at + 1)}, kept)


def _written(x: Tensor, src: Tensor, region: dict[int, slice], kept: list[int] | None) -> Tensor:
    """Write over the region of a tensor; `kept` are those of its axes that the source has."""
    if isinstance(x, Complex):
        axes = None if kept is None else [*kept, rank_of(x)]
        return Complex(_written_parts(x.parts, as_complex(src).parts, region, axes))
    return _written_parts(x, real(src), region, kept)


def _written_parts(x: Value, src: Value, region: dict[int, slice], kept: list[int] | None) -> Value:
    shape = tensor(x).shape
    sizes = [taken_by(region[a], d)[1] if a in region else d for a, d in enumerate(shape)]
    src = cast(src, tensor(x).dtype)
    if kept is not None:
        src = expand(src, [sizes[axis] for axis in kept])
    return _replaced(x, reshape(expand_to(src, sizes), sizes), sorted(region.items()))


def expand_to(x: Value, sizes: list[int]) -> Value:
    """Broadcast to sizes, unless there are as many elements and only axes of 1 differ."""
    same = [d for d in tensor(x).shape if d != 1] == [d for d in sizes if d != 1]
    return x if same else expand(x, sizes)


def _replaced(x: Value, src: Value, region: list[tuple[int, slice]]) -> Value:
    """Replace the slices of axes, one axis in the slice of another.

    Along one axis the result is a choice among the elements of both tensors, for any step.
    """
    (axis, wanted), *rest = region
    size = tensor(x).shape[axis]
    if rest:
        src = _replaced(cut_axes(x, {axis: wanted}), src, rest)
    first, count = taken_by(wanted, size)
    if count == size:
        return src
    if any(map(is_symbolic, (size, first, count))):
        need_static(0 if wanted.step in (None, 1) else size, "axis that is written by steps")
        before, after = cut(x, axis, 0, first), cut(x, axis, first + count, size)
        return tri.Concat.build([before, src, after], axis=axis).y
    places = np.arange(size)[wanted]
    choice = np.arange(size)
    choice[places] = size + np.arange(len(places))
    if wanted.step in (None, 1) and len(places):
        before = cut(x, axis, 0, int(places[0]))
        after = cut(x, axis, int(places[-1]) + 1, size)
        pieces = [piece for piece in (before, src, after) if tensor(piece).shape[axis]]
        return tri.Concat.build(pieces, axis=axis).y
    return take(tri.Concat.build([x, src], axis=axis).y, choice, axis)
