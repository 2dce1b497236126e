"""Lowerings of pooling: each element walks its window, adjacent elements in memory side by side."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ....dialects import tri
from ....dialects.core.sizes.limits import at_least
from ...kernels.arithmetic import compute_dtype, extreme_value
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.loop import loop
from ..kernels.reductions import SimpleReduction
from ..kernels.value import Value, full
from ..registry import template
from ..schedule.row_plan import flat_block
from .reduce import reduce_dims

MOST_UNROLLED = 16
"""Windows of so many taps at most are walked without a loop."""

Taps = Sequence[Value | int]
Pool = tri.MaxPool | tri.MaxPoolIndices | tri.AveragePool | tri.LpPool
Step = Callable[["Tap", list[Value]], list[Value]]


@template(tri.MaxPool)
def lower_max_pool(op: tri.MaxPool, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    dtype = compute_dtype(x.dtype)
    wide = "i32" if dtype == "i1" else dtype
    least = extreme_value(x.dtype, least=True)
    if _is_global(op, x):
        _reduce(kernel, x, y, SimpleReduction("max", wide), lambda state: state[0].cast(dtype))
        return

    def step(seen: Tap, now: list[Value]) -> list[Value]:
        return [now[0].maximum(seen.load(least).cast(wide))]

    walk = _Walk(op, kernel, x, y)
    (top,) = walk.reduce([full(least, wide, walk.index.shape)], step)
    y.store(top.cast(dtype), walk.at)


@template(tri.MaxPoolIndices)
def lower_max_pool_indices(
    op: tri.MaxPoolIndices, kernel: KernelBuilder, x: Buffer, y: Epilogue, indices: Epilogue
) -> None:
    dtype = compute_dtype(x.dtype)
    wide = "i32" if dtype == "i1" else dtype
    least = extreme_value(x.dtype, least=True)

    def step(seen: Tap, now: list[Value]) -> list[Value]:
        top, place = now
        number = seen.load(least).cast(wide)
        at = seen.inside().select(seen.place(op.storage_order), -1)
        wins = number.greater(top)
        if number.is_float:
            wins = wins.logical_or(number.is_nan())
        # A window that starts in padding must not keep the padding's place.
        lost = place.less(0).logical_and(at.greater_equal(0))
        wins = wins.logical_or(lost)
        return [wins.select(number, top), wins.select(at, place)]

    walk = _Walk(op, kernel, x, y)
    shape = walk.index.shape
    start = [full(least, wide, shape), full(-1, walk.place_dtype, shape)]
    top, place = walk.reduce(start, step)
    y.store(top.cast(dtype), walk.at)
    indices.store(place.cast("i64"), walk.at)


@template(tri.AveragePool)
def lower_average_pool(op: tri.AveragePool, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    dtype = compute_dtype(x.dtype)
    if _is_global(op, x):
        count = math.prod(op.kernel)
        _reduce(kernel, x, y, SimpleReduction("sum", dtype), lambda state: state[0] / count)
        return
    walk = _Walk(op, kernel, x, y)
    start = [full(0, dtype, walk.index.shape)]
    (total,) = walk.reduce(start, lambda seen, now: [now[0] + seen.load(0.0)])
    y.store(total / walk.count(op.count_include_pad, dtype), walk.at)


@template(tri.LpPool)
def lower_lp_pool(op: tri.LpPool, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    walk = _Walk(op, kernel, x, y)

    def step(seen: Tap, now: list[Value]) -> list[Value]:
        return [now[0] + _power(seen.load(0.0).abs(), op.p)]

    (total,) = walk.reduce([full(0, compute_dtype(x.dtype), walk.index.shape)], step)
    y.store(_root(total, op.p), walk.at)


class _Walk:
    """Walk the windows of the results of a program, tap by tap."""

    def __init__(self, op: Pool, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
        self.x = x
        self.window = op.window
        count = math.prod(y.shape)
        self.index = kernel.axis(count, "BLOCK", flat_block(count), name="index")
        self.at = Coordinates(y.shape, (Axis(y.order, self.index),))
        self.outer = self.at.indices()[:2]
        steps = zip(self.at.indices()[2:], op.strides, self.window.begins, strict=True)
        self.starts = [at * stride - begin for at, stride, begin in steps]
        self.place_dtype = "i32" if at_least(2**31 - 1, x.tensor.size) is True else "i64"

    def reduce(self, start: list[Value], step: Step) -> list[Value]:
        """Carry numbers from tap to tap; small windows are unrolled."""
        taps = self.window.kernel
        if math.prod(taps) <= MOST_UNROLLED:
            for tap in np.ndindex(taps):
                start = step(Tap(self, tap), start)
            return start

        def body(tap: Value, *now: Value) -> list[Value]:
            return step(Tap(self, _split(tap, taps)), list(now))

        return loop(0, math.prod(taps), 1, start, body, "tap")

    def count(self, with_padding: bool, dtype: str) -> Value | float:
        """Count the elements of each window, with or without the elements in padding."""
        found: Value | float = 1.0
        for axis, taps in enumerate(self.window.kernel):
            counted = self._count_along(axis, with_padding, dtype)
            found = counted * found if counted is not None else found * taps
        return found

    def _count_along(self, axis: int, with_padding: bool, dtype: str) -> Value | None:
        """Count along an axis; None when all taps of all windows count."""
        window, size = self.window, self.x.shape[axis + 2]
        low = -window.begins[axis] if with_padding else 0
        high = size + window.ends[axis] if with_padding else size
        windows = self.at.shape[axis + 2]
        last = (windows - 1) * window.strides[axis] + window.extents[axis] - window.begins[axis]
        if low <= -window.begins[axis] and at_least(high, last) is True:
            return None
        total = full(0, "i32")
        for tap in range(window.kernel[axis]):
            place = self.starts[axis] + tap * window.dilations[axis]
            inside = place.greater_equal(low).logical_and(place.less(high))
            total = total + inside.cast("i32")
        return total.cast(dtype)


class Tap:
    """The inputs of a program's windows at one tap."""

    def __init__(self, walk: _Walk, tap: Taps) -> None:
        steps = zip(walk.starts, tap, walk.window.dilations, strict=True)
        self.walk = walk
        self.places = [start + at * dilation for start, at, dilation in steps]

    def load(self, pad: float) -> Value:
        return self.walk.x.load([*self.walk.outer, *self.places], float(pad))

    def inside(self) -> Value:
        """Return which taps are not in padding."""
        sizes = self.walk.x.shape[2:]
        found = full(1, "i1")
        for place, size in zip(self.places, sizes, strict=True):
            within = place.greater_equal(0).logical_and(place.less(size))
            found = found.logical_and(within)
        return found

    def place(self, storage_order: int) -> Value:
        """Return the flat index of each element; `storage_order` 1 means column-major pixels."""
        sizes = self.walk.x.shape
        at = [number.cast(self.walk.place_dtype) for number in (*self.walk.outer, *self.places)]
        pixels = list(zip(at[2:], sizes[2:], strict=True))
        pixels = pixels[::-1] if storage_order else pixels
        number = at[0] * sizes[1] + at[1]
        for place, size in pixels:
            number = number * size + place
        return number


def _is_global(op: tri.MaxPool | tri.AveragePool, x: Buffer) -> bool:
    """Return whether the only window is all of an image."""
    return op.kernel == x.shape[2:] and not any(op.pads) and set(op.dilations) == {1}


def _reduce(
    kernel: KernelBuilder,
    x: Buffer,
    y: Epilogue,
    reduction: SimpleReduction,
    finish: Callable[[list[Value]], Value],
) -> None:
    axes = tuple(range(2, len(x.shape)))
    reduce_dims(kernel, x, axes, y, reduction, lambda number: number.cast(reduction.dtype), finish)


def _split(tap: Value, taps: Sequence[int]) -> list[Value]:
    """Return where along each axis of a kernel a tap is."""
    found: list[Value] = []
    for size in reversed(taps):
        found.append(tap.remainder(size))
        tap = tap / size
    return found[::-1]


def _power(x: Value, p: int) -> Value:
    """Raise numbers that are not negative to a power."""
    if p <= 2:
        return x if p == 1 else x * x
    return (x.apply("log2") * p).apply("exp2")


def _root(x: Value, p: int) -> Value:
    if p <= 2:
        return x if p == 1 else x.apply("sqrt")
    return (x.apply("log2") * (1 / p)).apply("exp2")
