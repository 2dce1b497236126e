"""Lowering of sampling an image at the points of a grid, a vector of points at a time."""

import math
from collections.abc import Sequence
from itertools import product

from ....dialects import tri
from ....dialects.core.tensor import DTYPES
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.conversion import convert
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, for_each, index_of, place_dtype
from ..kernels.value import Value, compute_dtype
from ..kernels.value import math as math_dialect
from ..registry import template

_CUBIC = -0.75
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
    dtype = compute_dtype(x.dtype)
    if op.mode != "nearest" and DTYPES[dtype].kind != "float":
        dtype = "f64"

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


def _spot(taps: Sequence[Tap], sizes: Sequence[int], dtype: str) -> tuple[Value, Value]:
    """Return the position in an image and the weight of one tap of all axes."""
    position, weight = taps[0]
    for (index, factor), size in zip(taps[1:], sizes[1:], strict=True):
        position, weight = position * size + index, weight * factor
    return convert(position, place_dtype(math.prod(sizes))), convert(weight, dtype)


def _taps(op: tri.GridSample, point: Value, size: int) -> list[Tap]:
    """List the elements of one axis that points see."""
    if op.align_corners:
        at, low, high = (point + 1) / 2 * (size - 1), 0.0, size - 1.0
    else:
        at, low, high = ((point + 1) * size - 1) / 2, -0.5, size - 0.5
    if op.mode == "nearest":
        at = at.apply(math_dialect.roundeven)
    if op.mode != "cubic":
        at = _inside(at, low, high, size, op.padding_mode)
    reach = {"nearest": (0, 1), "linear": (0, 2), "cubic": (-1, 3)}[op.mode]
    taps: list[Tap] = []
    for offset in range(*reach):
        tap = at.apply(math_dialect.floor) + offset
        weight = (
            _cubic((tap - at).abs()) if op.mode == "cubic" else (1 - (tap - at).abs()).maximum(0)
        )
        index = _inside(tap, low, high, size, op.padding_mode)
        seen = index.greater_equal(0).logical_and(index.less(size))
        taps.append((index.maximum(0).minimum(size - 1), seen.select(weight, 0)))
    return taps


def _inside(at: Value, low: float, high: float, size: int, padding_mode: str) -> Value:
    """Map coordinates into the axis by the padding mode."""
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        span = high - low
        if span == 0:
            return at.like(0)
        distance = (at - low).abs().remainder(at.like(2 * span))
        at = distance.minimum(2 * span - distance) + low
    return at.maximum(0).minimum(size - 1)


def _cubic(d: Value) -> Value:
    """Compute the weight of an element at distance d >= 0 (Keys, 1981)."""
    near = ((d * (_CUBIC + 2) - (_CUBIC + 3)) * d) * d + 1
    far = (((d - 5) * d + 8) * d - 4) * _CUBIC
    return d.less_equal(1).select(near, d.less(2).select(far, 0))
