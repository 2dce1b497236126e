"""Lowering of resizing: along each axis a new element is a sum of few old ones.

Which ones, and how much each counts, is known when the kernel is made: the kernel brings tables
along, which come from the op's own arithmetic, so that it picks the very same elements.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.tensor import Array, numpy_dtype
from ....dialects.tri.interpolation import Axis, Kernel
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.conversion import convert
from ..kernels.epilogue import Epilogue
from ..kernels.loop import loop
from ..kernels.value import Value, aligned, compute_dtype, full, scalar
from ..registry import template

UNROLLED = 16
"""Products of taps that are written out; of more, an axis of many is a loop."""


@dataclass(frozen=True)
class Taps:
    """Name the old elements of each new element of an axis, and how much they count.

    `places` and `weights` are tables of [taps, new elements]; `ratio` stands for places that are
    a plain quotient, (old size, new size); `outside` says of which new elements nothing of the
    axis is seen. What says nothing is absent.
    """

    count: int = 1
    places: Buffer | None = None
    weights: Buffer | None = None
    outside: Buffer | None = None
    ratio: tuple[int, int] = (1, 1)

    def place(self, tap: Value, at: Value) -> Value:
        if self.places is not None:
            return self.places.load([tap, at])
        common = math.gcd(*self.ratio)
        return at * (self.ratio[0] // common) / (self.ratio[1] // common)


@template(tri.Resize)
def lower_resize(op: tri.Resize, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    dtype = x.dtype if op.mode == "nearest" else _computed_in(x.dtype)
    axes = [_taps(op, kernel, axis, dtype) for axis in _axes(op, x)]

    def read(at: list[Value]) -> Value:
        if op.mode == "nearest":
            number = x.load([t.place(scalar(0), i) for t, i in zip(axes, at, strict=True)])
        else:
            number = convert(_Sum(x, axes, at, dtype).total([]), x.dtype)
        return _extrapolated(number, axes, at, op.extrapolation_value)

    y.emit_elementwise(lambda at: read(at.indices()))


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
        return Taps()
    transform = op.coordinate_transform
    outside = None
    if transform == "tf_crop_and_resize":
        at = axis.coordinates(transform)
        beyond = ((at < 0) | (at > axis.size - 1)).astype(np.int32)
        outside = kernel.table(beyond, "outside")
    if op.mode == "nearest":
        places = axis.nearest(transform, op.nearest_mode)
        if (places == np.arange(axis.new_size) * axis.size // axis.new_size).all():
            return Taps(outside=outside, ratio=(axis.size, axis.new_size))
        return Taps(1, kernel.table(places.astype(np.int32)[None], "places"), None, outside)
    how = Kernel(op.mode, op.cubic_coeff_a, op.exclude_outside, op.antialias)
    places, weights = _nonzero(axis.weights(transform, how))
    factors = kernel.table(weights.astype(numpy_dtype(dtype)), "weights")
    return Taps(len(places), kernel.table(places, "places"), factors, outside)


def _nonzero(matrix: Array) -> tuple[Array, Array]:
    """Return places and values of the elements that are not zero, as [count, rows] each."""
    count = max(1, int((matrix != 0).sum(1).max(initial=0)))
    # A stable sort brings those first, in order; rows that have fewer are filled up with zeros.
    places = np.argsort(matrix == 0, axis=1, kind="stable")[:, :count]
    return places.T.astype(np.int32), np.take_along_axis(matrix, places, 1).T


@dataclass(frozen=True)
class _Sum:
    """Sum up what new elements are made of, one axis inside of the other."""

    x: Buffer
    axes: Sequence[Taps]
    at: Sequence[Value]
    dtype: str

    @property
    def is_long(self) -> bool:
        return math.prod(taps.count for taps in self.axes) > UNROLLED

    def total(self, places: list[Value]) -> Value:
        """Sum over the axes that have no place yet."""
        if len(places) == len(self.axes):
            return convert(self.x.load(places), self.dtype)
        taps, at = self.axes[len(places)], self.at[len(places)]
        if taps.weights is None:
            return self.total([*places, taps.place(scalar(0), at)])
        weights = taps.weights

        def step(tap: Value, sum_: Value) -> Value:
            term = self.total([*places, taps.place(tap, at)]) * weights.load([tap, at])
            return sum_ + term

        if self.is_long and taps.count > 1:
            start = aligned(full(0, self.dtype), *self.at)[0]
            return loop(0, taps.count, 1, [start], step, name="tap")[0]
        sum_ = full(0, self.dtype)
        for tap in range(taps.count):
            sum_ = step(scalar(tap), sum_)
        return sum_


def _extrapolated(number: Value, axes: Sequence[Taps], at: Sequence[Value], beyond: float) -> Value:
    """Put a constant where any axis sees nothing of the input."""
    for taps, index in zip(axes, at, strict=True):
        if taps.outside is not None:
            outside = taps.outside.load([index]).not_equal(0)
            number = outside.select(number.like(beyond), number)
    return number
