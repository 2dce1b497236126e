"""Lowering of resizing: along each axis a new element is a sum of few old ones.

Which ones, and how much each counts, is known when the kernel is made: the kernel brings tables
along, which come from the op's own arithmetic, so that it picks the very same elements.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...dialects import tri
from ...dialects.core.tensor import Array, numpy_dtype
from ...dialects.tri.image.interpolation import Axis, Kernel
from .buffer import Buffer, Lanes
from .conversion import convert
from .index import Index, carry, index_of, place_dtype
from .kernel import KernelBuilder
from .number import Number, compute_dtype
from .parallel import each
from .sink import Sink, each_vector
from .target import template
from .windows import repeated


@dataclass(frozen=True)
class Taps:
    """Name the old elements of each new element of an axis, and how much they count.

    `places` and `weights` are tables of [taps, new elements]; `outside` says of which new
    elements nothing of the axis is seen. A table is absent where it would say nothing.
    """

    count: int
    places: Buffer | None = None
    weights: Buffer | None = None
    outside: Buffer | None = None

    def place(self, tap: Index, at: Index) -> Index:
        return at if self.places is None else index_of(self.places.load([tap, at]))


@template(tri.Resize)
def lower_resize(op: tri.Resize, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    if not x.shape:
        y.copy(x)
        return
    dtype = x.dtype if op.mode == "nearest" else _computed_in(x.dtype)
    axes = [_taps(op, kernel, axis, dtype) for axis in _axes(op, x)]
    if op.mode == "nearest":
        _nearest(x, axes, y, op.extrapolation_value)
    else:
        _interpolate(kernel, x, axes, y, dtype, op.extrapolation_value)


def _computed_in(dtype: str) -> str:
    wide = compute_dtype(dtype)
    return wide if wide in ("f32", "f64") else "f64"


def _axes(op: tri.Resize, x: Buffer) -> list[Axis]:
    rank = len(x.shape)
    crops = op.coordinate_transform == "tf_crop_and_resize"
    starts = op.roi[:rank] if crops else (0.0,) * rank
    ends = op.roi[rank:] if crops else (1.0,) * rank
    return list(map(Axis, x.shape, op.sizes, op.scales, starts, ends))


def _taps(op: tri.Resize, kernel: KernelBuilder, axis: Axis, dtype: str) -> Taps:
    if axis.unchanged:
        return Taps(1)
    transform = op.coordinate_transform
    outside = None
    if transform == "tf_crop_and_resize":
        at = axis.coordinates(transform)
        outside = kernel.table(((at < 0) | (at > axis.size - 1)).astype(np.int32))
    if op.mode == "nearest":
        places = _places(axis.nearest(transform, op.nearest_mode)[None], axis)
        return Taps(1, kernel.table(places), None, outside)
    how = Kernel(op.mode, op.cubic_coeff_a, op.exclude_outside, op.antialias)
    places, weights = _nonzero(axis.weights(transform, how))
    factors = kernel.table(weights.astype(numpy_dtype(dtype)))
    return Taps(len(places), kernel.table(_places(places, axis)), factors, outside)


def _places(places: Array, axis: Axis) -> Array:
    return places.astype(numpy_dtype(place_dtype(axis.size)))


def _nonzero(matrix: Array) -> tuple[Array, Array]:
    """Return places and values of the elements that are not zero, as [count, rows] each."""
    count = max(1, int((matrix != 0).sum(1).max()))
    # A stable sort brings those first, in order; rows that have fewer are filled up with zeros.
    places = np.argsort(matrix == 0, axis=1, kind="stable")[:, :count]
    return places.T, np.take_along_axis(matrix, places, 1).T


def _nearest(x: Buffer, axes: Sequence[Taps], y: Sink, beyond: float) -> None:
    *outer, last = axes

    def read(at: list[Index], lanes: Lanes | None) -> Number:
        places = [taps.place(Index(0), i) for taps, i in zip(outer, at, strict=False)]
        if last.places is None or lanes is None:
            number = x.load([*places, last.place(Index(0), at[-1])], lanes)
        else:
            steps = last.places.load([Index(0), at[-1]], lanes)
            number = x.gather(x.position([*places, Index(0)]), steps.value, lanes)
        return _extrapolated(number, axes, at, lanes, beyond)

    y.fill_vectors(read, x.dtype, place_dtype(x.shape[-1]))


def _interpolate(
    kernel: KernelBuilder, x: Buffer, axes: Sequence[Taps], y: Sink, dtype: str, beyond: float
) -> None:
    """Join the rows that a new row is made of to one, then sum along it."""
    *outer, last = axes
    width = kernel.lanes(dtype, x.dtype)
    row = kernel.private((x.shape[-1],), dtype)

    def join(at: list[Index]) -> None:
        def columns(j: list[Index], lanes: Lanes | None) -> None:
            def sum_of(places: list[Index]) -> Number:
                if len(places) == len(outer):
                    return convert(x.load([*places, *j], lanes), dtype)
                taps, i = outer[len(places)], at[len(places)]
                return _weighted(taps, i, lambda tap: sum_of([*places, taps.place(tap, i)]), lanes)

            row.store(sum_of([]), j, lanes)

        each_vector((x.shape[-1],), width, columns)

    def along(at: list[Index], lanes: Lanes | None) -> Number:
        if last.places is None or last.weights is None:
            return row.load(at, lanes)
        total: Number | None = None
        for tap in range(last.count):
            where = [Index(tap), *at]
            if lanes is None:
                number = row.load([last.place(Index(tap), at[0])])
            else:
                number = row.gather(Index(0), last.places.load(where, lanes).value, lanes)
            factor = last.weights.load(where, lanes)
            total = number * factor if total is None else number.fma(factor, total)
        assert total is not None, "an element is made of one at least"
        return total

    def new_row(at: list[Index]) -> None:
        join(at)

        def store(j: list[Index], lanes: Lanes | None) -> None:
            number = _extrapolated(along(j, lanes), axes, [*at, *j], lanes, beyond)
            y.store(convert(number, x.dtype), [*at, *j], lanes)

        each_vector(y.shape[-1:], width, store)

    each(y.shape[:-1], new_row)


def _weighted(
    taps: Taps, i: Index, element: Callable[[Index], Number], lanes: Lanes | None
) -> Number:
    """Sum the taps of one new element of an outer axis."""
    if taps.weights is None:
        return element(Index(0))
    weights = taps.weights

    def weight(tap: Index) -> Number:
        return repeated(weights.load([tap, i]), lanes)

    first = element(Index(0)) * weight(Index(0))
    if taps.count == 1:
        return first

    def step(tap: Index, now: list[Number]) -> list[Number]:
        return [element(tap).fma(weight(tap), now[0])]

    return carry(taps.count, [first], step, start=1)[0]


def _extrapolated(
    number: Number, axes: Sequence[Taps], at: list[Index], lanes: Lanes | None, beyond: float
) -> Number:
    """Put a constant where any axis sees nothing of the input."""
    for axis, (taps, i) in enumerate(zip(axes, at, strict=True)):
        if taps.outside is not None:
            along = axis == len(axes) - 1
            flag = taps.outside.load([i], lanes if along else None)
            outside = (flag if along else repeated(flag, lanes)).not_equal(0)
            number = outside.select(number.like(beyond), number)
    return number
