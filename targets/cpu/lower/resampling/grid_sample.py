"""Lowering of sampling an image at the points of a grid, a vector of points at a time.

What points read is worked out for a block of them at once, and serves all channels.
"""

import math
from collections.abc import Sequence
from itertools import product

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.sizes.limits import at_least
from ....kernels.arithmetic import compute_dtype
from ....kernels.conversion import convert
from ....kernels.lower.grid_sample import sample_dtype, taps_of
from ...kernels.buffer import Buffer, Lanes, tail_mask, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, carry, for_each, greatest, place_dtype
from ...kernels.loops import Piece, Section, spread
from ...kernels.value import Value
from ...registry import template
from ..elementwise import FUNCTIONS

Tap = tuple[Value, Value]  # the index on an axis, an integer, and the weight

BLOCK = 1024
"""How many elements the points of a block read, of each channel."""

FEWEST = 64
"""How many points a block has at least, if there are so many."""


@template(tri.GridSample)
def lower_grid_sample(
    op: tri.GridSample, kernel: KernelBuilder, x: Buffer, grid: Buffer, y: Epilogue
) -> None:
    batch, channels, *sizes = x.shape
    points = math.prod(grid.shape[1:-1])
    spots = _Spots(op, kernel, x, points)
    coordinates = grid.reshape((batch, points, len(sizes)))
    epilogue = y.reshape((batch, channels, points))
    images = x.reshape((batch, channels, math.prod(sizes)))
    width = kernel.lanes(spots.weights.dtype, *epilogue.dtypes)

    def block(at: list[IndexExpr]) -> list[Piece]:
        start = at[1] * spots.block
        count = (IndexExpr(points) - start).minimum(spots.block)
        spots.fill(coordinates.part([at[0]]), start, count)

        def channel(c: IndexExpr) -> None:
            def sample(first: IndexExpr) -> None:
                lanes = Lanes(width, tail_mask(width, count - first))
                value = spots.sum(images.part([at[0], c]), first, lanes)
                epilogue.store(convert(value, x.dtype), [at[0], c, start + first], lanes)

            for_each(count, sample, step=width)

        return [Piece(channels, channel)]

    spread(Section((batch, ceildiv(points, spots.block)), channels, block))


class _Spots:
    """Hold what the points of a block read: [spots, points] of places in an image and weights."""

    def __init__(self, op: tri.GridSample, kernel: KernelBuilder, x: Buffer, points: Size) -> None:
        self.op, self.kernel = op, kernel
        self.sizes = x.shape[2:]
        self.count = {"nearest": 1, "linear": 2, "cubic": 4}[op.mode] ** len(self.sizes)
        most = max(BLOCK // self.count, FEWEST)
        self.block = greatest(points, 1) if at_least(most, points) else most
        self.places = kernel.private((self.count, self.block), place_dtype(math.prod(self.sizes)))
        self.weights = kernel.private((self.count, self.block), sample_dtype(op, x.dtype))

    def fill(self, points: Buffer, start: IndexExpr, count: IndexExpr) -> None:
        """Work out what points [points, axes] read, from one of them on.

        Coordinates that count elements have exact fractions; others are scaled in f64.
        """
        dtype = "f64" if self.op.normalized else compute_dtype(points.dtype)
        width = self.kernel.lanes(dtype)

        def vector(first: IndexExpr) -> None:
            lanes = Lanes(width, tail_mask(width, count - first))
            taps: list[list[Tap]] = []
            for axis, size in enumerate(self.sizes):
                place = [IndexExpr(len(self.sizes) - 1 - axis), start + first]
                point = convert(points.transpose((1, 0)).load(place, lanes), dtype)
                taps.append(_taps(self.op, point, size, self.places.dtype))
            for number, spot in enumerate(product(*taps)):
                at = [IndexExpr(number), first]
                position, weight = _spot(spot, self.sizes)
                self.places.store(position, at, lanes)
                self.weights.store(convert(weight, self.weights.dtype), at, lanes)

        for_each(count, vector, step=width)

    def sum(self, image: Buffer, first: IndexExpr, lanes: Lanes) -> Value:
        """Sum up what neighbouring points read in one channel."""

        def step(number: IndexExpr, now: list[Value]) -> list[Value]:
            places = self.places.load([number, first], lanes)
            seen = image.gather(image.position([IndexExpr(0)]), places.ssa, lanes)
            weight = self.weights.load([number, first], lanes)
            return [now[0] + convert(seen, self.weights.dtype) * weight]

        return carry(self.count, [zero(self.weights.dtype, lanes)], step)[0]


def _spot(taps: Sequence[Tap], sizes: Sequence[Size]) -> tuple[Value, Value]:
    """Return the position in an image and the weight of one tap of all axes."""
    position, weight = taps[0]
    for (index, factor), size in zip(taps[1:], sizes[1:], strict=True):
        position, weight = position * size + index, weight * factor
    return position, weight


def _taps(op: tri.GridSample, point: Value, size: Size, dtype: str) -> list[Tap]:
    """List the elements of one axis that points read."""
    extent = point.like(size) if is_symbolic(size) else size
    taps = taps_of(op, point, extent, FUNCTIONS, _remainder)
    return [(convert(tap.index, dtype), tap.exists.select(tap.weight, 0)) for tap in taps]


def _remainder(number: Value, period: float | Value) -> Value:
    return number.remainder(period if isinstance(period, Value) else number.like(period))
