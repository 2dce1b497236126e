"""Lowering of sampling an image at the points of a grid: a rectangle of points and channels."""

import math
from collections.abc import Sequence
from itertools import product

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.substitution import likely
from ....kernels.conversion import convert
from ....kernels.lower.grid_sample import sample_dtype, taps_of
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.coordinates import Axis, Coordinates
from ...kernels.epilogue import Epilogue
from ...kernels.value import Value, scalar
from ...registry import template
from ...schedule.candidates import rectangle_settings
from ...schedule.product_blocks import next_power
from ..elementwise import FUNCTIONS

Tap = tuple[Value, Value]  # where on an axis, an i32, and how much it counts

RECTANGLE = 1024
CHANNELS = {True: 64, False: 8}
"""Elements of a rectangle, and channels of it, where channels are adjacent in memory or not."""


@template(tri.GridSample)
def lower_grid_sample(
    op: tri.GridSample, kernel: KernelBuilder, x: Buffer, grid: Buffer, y: Epilogue
) -> None:
    sizes = x.shape[2:]
    dims = tuple(dim for dim in y.order if dim >= 2)
    count = math.prod(y.shape[2:])
    width = min(CHANNELS[x.strides[1] == 1], next_power(likely(x.shape[1])))
    height = min(RECTANGLE // width, next_power(likely(count)))
    kernel.candidates = rectangle_settings(height, width)
    image = kernel.programs(x.shape[0]).named("image")
    points = kernel.axis(count, "BM", height, name="points").expand(1)
    channels = kernel.axis(x.shape[1], "BN", width, name="channels").expand(0)
    dtype = sample_dtype(op, x.dtype)

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


def _taps(op: tri.GridSample, point: Value, size: Size, dtype: str) -> list[Tap]:
    """List the elements of one axis that points read."""
    extent = point.like(size) if is_symbolic(size) else size
    return [
        (convert(tap.index, "i32"), convert(tap.exists.select(tap.weight, 0), dtype))
        for tap in taps_of(op, point, extent, FUNCTIONS, _remainder)
    ]


def _remainder(x: Value, period: float | Value) -> Value:
    return x - (x / period).apply("floor") * period
