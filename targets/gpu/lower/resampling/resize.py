"""Lowering of resizing: each new element is a sum over the taps of all axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .....dialects import tri
from ....kernels.arithmetic import float_dtype
from ....kernels.conversion import convert
from ....kernels.lower import resize
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.loop import loop
from ...kernels.value import Value, aligned, full, scalar
from ...registry import template
from .resize_tables import computed_taps

UNROLLED = 16
"""Products of taps that are written out; of more, an axis of many is a loop."""


Taps = resize.Taps[Buffer]


def _place(taps: Taps, tap: Value, at: Value) -> Value:
    if taps.places is not None:
        return taps.places.load([tap, at])
    common = math.gcd(*taps.ratio)
    return at * (taps.ratio[0] // common) / (taps.ratio[1] // common)


@template(tri.Resize)
def lower_resize(op: tri.Resize, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    dtype = x.dtype if op.mode == "nearest" else float_dtype(x.dtype)
    every = resize.axes_of(op, x.shape)
    computed = [axis for axis in every if resize.is_computed(op, axis)]
    made = iter(computed_taps(op, computed, dtype, kernel))
    axes = [
        next(made)
        if axis in computed
        else resize.taps_of(op, axis, ("i32", dtype), kernel.table, divides=True)
        for axis in every
    ]

    def read(at: list[Value]) -> Value:
        if op.mode == "nearest":
            number = x.load([_place(t, scalar(0), i) for t, i in zip(axes, at, strict=True)])
        else:
            number = convert(_Sum(x, axes, at, dtype).total([]), x.dtype)
        return _extrapolated(number, axes, at, op.extrapolation_value)

    y.emit_elementwise(lambda at: read(at.indices()))


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
            return self.total([*places, _place(taps, scalar(0), at)])
        weights = taps.weights

        def step(tap: Value, sum_: Value) -> Value:
            term = self.total([*places, _place(taps, tap, at)]) * weights.load([tap, at])
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
