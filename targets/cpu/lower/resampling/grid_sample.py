"""Lowering of sampling an image at the points of a grid, a vector of points at a time."""

import math
from collections.abc import Sequence
from itertools import product

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size, is_symbolic
from ....kernels.conversion import convert
from ....kernels.lower.grid_sample import sample_dtype, taps_of
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, for_each, index_of, place_dtype
from ...kernels.value import Value
from ...registry import template
from ..elementwise import FUNCTIONS

Tap = tuple[Value, Value]  # the index on an axis, and the weight: both f64


@template(tri.GridSample)
def lower_grid_sample(
    op: tri.GridSample, kernel: KernelBuilder, x: Buffer, grid: Buffer, y: Epilogue
) -> None:
    batch, channels, *sizes = x.shape
    points = math.prod(grid.shape[1:-1])
    coordinates = grid.reshape((batch, points, len(sizes)))
    epilogue = y.reshape((batch, channels, points))
    images = x.reshape((batch, channels, math.prod(sizes)))
    dtype = sample_dtype(op, x.dtype)

    def sample(at: list[IndexExpr], lanes: Lanes | None) -> None:
        taps: list[list[Tap]] = []
        for axis, size in enumerate(sizes):
            place = [at[0], at[1], IndexExpr(len(sizes) - 1 - axis)]
            point = convert(_strided(coordinates, place, lanes), "f64")
            taps.append(_taps(op, point, size))
        spots = [_spot(tap, sizes, dtype) for tap in product(*taps)]

        def channel(c: IndexExpr) -> None:
            total: Value | None = None
            for where, weight in spots:
                value = convert(_pick(images, [at[0], c], where, lanes), dtype) * weight
                total = value if total is None else total + value
            assert total is not None, "a point sees one element at least"
            epilogue.store(convert(total, x.dtype), [at[0], c, at[1]], lanes)

        for_each(channels, channel)

    each_vector((batch, points), kernel.lanes("f64", *epilogue.dtypes), sample)


def _strided(buffer: Buffer, at: list[IndexExpr], lanes: Lanes | None) -> Value:
    """Load neighbours along the last dimension but one."""
    return buffer.transpose((0, 2, 1)).load([at[0], at[2], at[1]], lanes)


def _pick(images: Buffer, image: list[IndexExpr], where: Value, lanes: Lanes | None) -> Value:
    if lanes is None:
        return images.load([*image, index_of(where)])
    return images.gather(images.position([*image, IndexExpr(0)]), where.ssa, lanes)


def _spot(taps: Sequence[Tap], sizes: Sequence[Size], dtype: str) -> tuple[Value, Value]:
    """Return the position in an image and the weight of one tap of all axes."""
    position, weight = taps[0]
    for (index, factor), size in zip(taps[1:], sizes[1:], strict=True):
        position, weight = position * size + index, weight * factor
    return convert(position, place_dtype(math.prod(sizes))), convert(weight, dtype)


def _taps(op: tri.GridSample, point: Value, size: Size) -> list[Tap]:
    """List the elements of one axis that points read."""
    extent = point.like(size) if is_symbolic(size) else size
    taps = taps_of(op, point, extent, FUNCTIONS, _remainder)
    return [(tap.index, tap.exists.select(tap.weight, 0)) for tap in taps]


def _remainder(number: Value, period: float | Value) -> Value:
    return number.remainder(period if isinstance(period, Value) else number.like(period))
