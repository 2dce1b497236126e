"""Lowering of resizing: along each axis a new element is a sum of few old ones.

The elements and their weights are known at compile time: the kernel has tables of them, computed by
the op's own arithmetic, so that both select the same elements.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.tensor import Array, numpy_dtype
from ....dialects.tri.interpolation import Axis, Kernel
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.conversion import convert
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, carry, index_of, place_dtype
from ..kernels.loops import each
from ..kernels.value import Value, compute_dtype
from ..kernels.windows import repeated
from ..registry import template


@dataclass(frozen=True)
class Taps:
    """Name the old elements of each new element of an axis, and how much they count.

    `places` and `weights` are tables of [taps, new elements]; `outside` marks new elements outside
    the axis. A table without information is absent.
    """

    count: int
    places: Buffer | None = None
    weights: Buffer | None = None
    outside: Buffer | None = None

    def place(self, tap: IndexExpr, at: IndexExpr) -> IndexExpr:
        return at if self.places is None else index_of(self.places.load([tap, at]))


@template(tri.Resize)
def lower_resize(op: tri.Resize, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    if not x.shape:
        y.emit_copy(x)
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


def _nearest(x: Buffer, axes: Sequence[Taps], y: Epilogue, beyond: float) -> None:
    *outer, last = axes

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        places = [taps.place(IndexExpr(0), i) for taps, i in zip(outer, at, strict=False)]
        if last.places is None or lanes is None:
            number = x.load([*places, last.place(IndexExpr(0), at[-1])], lanes)
        else:
            steps = last.places.load([IndexExpr(0), at[-1]], lanes)
            number = x.gather(x.position([*places, IndexExpr(0)]), steps.ssa, lanes)
        return _extrapolated(number, axes, at, lanes, beyond)

    y.emit_vectors(read, x.dtype, place_dtype(x.shape[-1]))


def _interpolate(
    kernel: KernelBuilder, x: Buffer, axes: Sequence[Taps], y: Epilogue, dtype: str, beyond: float
) -> None:
    """Join the rows that a new row is made of to one, then sum along it."""
    *outer, last = axes
    width = kernel.lanes(dtype, x.dtype)
    row = kernel.private((x.shape[-1],), dtype)

    def join(at: list[IndexExpr]) -> None:
        def columns(j: list[IndexExpr], lanes: Lanes | None) -> None:
            def sum_of(places: list[IndexExpr]) -> Value:
                if len(places) == len(outer):
                    return convert(x.load([*places, *j], lanes), dtype)
                taps, i = outer[len(places)], at[len(places)]
                return _weighted(taps, i, lambda tap: sum_of([*places, taps.place(tap, i)]), lanes)

            row.store(sum_of([]), j, lanes)

        each_vector((x.shape[-1],), width, columns)

    def along(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        if last.places is None or last.weights is None:
            return row.load(at, lanes)
        total: Value | None = None
        for tap in range(last.count):
            where = [IndexExpr(tap), *at]
            if lanes is None:
                number = row.load([last.place(IndexExpr(tap), at[0])])
            else:
                number = row.gather(IndexExpr(0), last.places.load(where, lanes).ssa, lanes)
            factor = last.weights.load(where, lanes)
            total = number * factor if total is None else number.fma(factor, total)
        assert total is not None, "an element is made of one at least"
        return total

    def new_row(at: list[IndexExpr]) -> None:
        join(at)

        def store(j: list[IndexExpr], lanes: Lanes | None) -> None:
            number = _extrapolated(along(j, lanes), axes, [*at, *j], lanes, beyond)
            y.store(convert(number, x.dtype), [*at, *j], lanes)

        each_vector(y.shape[-1:], width, store)

    each(y.shape[:-1], new_row)


def _weighted(
    taps: Taps, i: IndexExpr, element: Callable[[IndexExpr], Value], lanes: Lanes | None
) -> Value:
    """Sum the taps of one new element of an outer axis."""
    if taps.weights is None:
        return element(IndexExpr(0))
    weights = taps.weights

    def weight(tap: IndexExpr) -> Value:
        return repeated(weights.load([tap, i]), lanes)

    first = element(IndexExpr(0)) * weight(IndexExpr(0))
    if taps.count == 1:
        return first

    def step(tap: IndexExpr, now: list[Value]) -> list[Value]:
        return [element(tap).fma(weight(tap), now[0])]

    return carry(taps.count, [first], step, start=1)[0]


def _extrapolated(
    value: Value, axes: Sequence[Taps], at: list[IndexExpr], lanes: Lanes | None, beyond: float
) -> Value:
    """Put a constant where any axis sees nothing of the input."""
    for axis, (taps, i) in enumerate(zip(axes, at, strict=True)):
        if taps.outside is not None:
            along = axis == len(axes) - 1
            flag = taps.outside.load([i], lanes if along else None)
            outside = (flag if along else repeated(flag, lanes)).not_equal(0)
            value = outside.select(value.like(beyond), value)
    return value
