"""Lowering of sampling an image at the points of a grid: a rectangle of points and channels."""

import math
from collections.abc import Sequence
from itertools import product

from ....dialects import tri
from ....dialects.core.tensor import DTYPES
from ..kernels.approximation import round_to_even
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.conversion import convert
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.value import Value, compute_dtype, scalar
from ..registry import template
from ..schedule.candidates import rectangle_settings
from ..schedule.product_blocks import next_power

_CUBIC = -0.75
Tap = tuple[Value, Value]  # where on an axis, an i32, and how much it counts

RECTANGLE = 1024
CHANNELS = {True: 64, False: 8}
"""Elements of a rectangle, and channels of it, where channels lie next to each other or not."""


@template(tri.GridSample)
def lower_grid_sample(
    op: tri.GridSample, kernel: KernelBuilder, x: Buffer, grid: Buffer, y: Epilogue
) -> None:
    sizes = x.shape[2:]
    dims = tuple(dim for dim in y.order if dim >= 2)
    count = math.prod(y.shape[2:])
    width = min(CHANNELS[x.strides[1] == 1], next_power(x.shape[1]))
    height = min(RECTANGLE // width, next_power(count))
    kernel.candidates = rectangle_settings(height, width)
    image = kernel.programs(x.shape[0]).named("image")
    points = kernel.axis(count, "BM", height, name="points").expand(1)
    channels = kernel.axis(x.shape[1], "BN", width, name="channels").expand(0)
    dtype = compute_dtype(x.dtype)
    if op.mode != "nearest" and DTYPES[dtype].kind != "float":
        dtype = "f64"

    def coordinate(axis: int) -> Value:
        place = Axis((len(sizes) + 1,), scalar(len(sizes) - 1 - axis))
        where = (Axis((0,), image), Axis(tuple(dim - 1 for dim in dims), points), place)
        return grid.load(Coordinates(grid.shape, where)).cast("f64")

    taps = [_taps(op, coordinate(axis), size, dtype) for axis, size in enumerate(sizes)]
    total: Value | None = None
    for corner in product(*taps):
        value = convert(x.load([image, channels, *(place for place, _ in corner)]), dtype)
        term = value * _product([weight for _, weight in corner])
        total = term if total is None else total + term
    assert total is not None, "a point sees one element at least"
    at = (Axis((0,), image), Axis((1,), channels), Axis(dims, points))
    y.store(convert(total, x.dtype), Coordinates(y.shape, at))


def _product(weights: Sequence[Value]) -> Value:
    first, *others = weights
    return math.prod(others, start=first)


def _taps(op: tri.GridSample, point: Value, size: int, dtype: str) -> list[Tap]:
    """List the elements of one axis that points see."""
    if op.align_corners:
        at, low, high = (point + 1) * 0.5 * (size - 1), 0.0, size - 1.0
    else:
        at, low, high = ((point + 1) * size - 1) * 0.5, -0.5, size - 0.5
    if op.mode == "nearest":
        at = round_to_even(at)
    if op.mode != "cubic":
        at = _inside(at, low, high, size, op.padding_mode)
    reach = {"nearest": (0, 1), "linear": (0, 2), "cubic": (-1, 3)}[op.mode]
    taps: list[Tap] = []
    for offset in range(*reach):
        tap = at.apply("floor") + offset
        weight = (
            _cubic((tap - at).abs()) if op.mode == "cubic" else (1 - (tap - at).abs()).maximum(0)
        )
        index = _inside(tap, low, high, size, op.padding_mode)
        seen = index.greater_equal(0).logical_and(index.less(size))
        place = convert(index.maximum(0).minimum(size - 1), "i32")
        taps.append((place, convert(seen.select(weight, 0), dtype)))
    return taps


def _inside(at: Value, low: float, high: float, size: int, padding_mode: str) -> Value:
    """Map coordinates into the axis by the padding mode."""
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        period = 2 * (high - low)
        if period == 0:
            return at.like(0)
        distance = (at - low).abs()
        distance = distance - (distance / period).apply("floor") * period
        at = distance.minimum(period - distance) + low
    return at.maximum(0).minimum(size - 1)


def _cubic(d: Value) -> Value:
    """Compute the weight of an element at distance d >= 0 (Keys, 1981)."""
    near = ((d * (_CUBIC + 2) - (_CUBIC + 3)) * d) * d + 1
    far = (((d - 5) * d + 8) * d - 4) * _CUBIC
    return d.less_equal(1).select(near, d.less(2).select(far, 0))
