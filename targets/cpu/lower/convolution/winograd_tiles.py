"""Loading the overlapping input tiles of a Winograd convolution, a vector of tiles at a time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...kernels.buffer import Buffer, Lanes, constant_vector, vector
from ...kernels.index import IndexExpr, place_dtype
from ...kernels.products.contraction import splat
from ...kernels.value import Value, arith
from ...kernels.windows import Axis, WindowReader, inside_axis, splat_index
from ...layout.winograd_layout import Layout, Spans

Taps = list[list[Value]]


@dataclass(frozen=True)
class TileReader:
    """Load the elements of tiles: for each of `points` x `points` places one vector of tiles.

    `x` is [batch, channels, height, width]; elements outside are zero.
    """

    x: Buffer
    axes: tuple[Axis, Axis]
    layout: Layout
    points: int

    def load(self, leading: Sequence[IndexExpr], row: IndexExpr, number: int) -> Taps:
        """Load the vector `number` of the panel that starts at a tile row."""
        lanes, columns = self.layout.lanes, self.layout.columns
        if self.layout.stacked == 1:
            return [self._line(leading, row, number, i) for i in range(self.points)]
        span = columns * self.layout.tile + self.points - self.layout.tile
        if self.layout.stacked == 2 and span <= lanes:
            return [self._two_lines(leading, row, number, i) for i in range(self.points)]
        return self._gathered(leading, row, number)

    def _line(
        self, leading: Sequence[IndexExpr], row: IndexExpr, number: int, i: int
    ) -> list[Value]:
        """Load one row of the tiles of one tile row: neighbours, that are dealt out to `tile`."""
        tile, lanes = self.layout.tile, self.layout.lanes
        rows, columns = self.layout.place(number)
        taps: list[Value] = []
        for first in range(0, self.points, tile):
            start = columns[0] * tile + first
            taps += deal(self._row(leading, row + rows[0], i, start, tile * lanes), tile)
        return taps[: self.points]

    def _two_lines(
        self, leading: Sequence[IndexExpr], row: IndexExpr, number: int, i: int
    ) -> list[Value]:
        """Load one row of the tiles of two tile rows, each of which fits in a vector."""
        lanes = self.layout.lanes
        rows, columns = self.layout.place(number)
        upper, lower = (self._row(leading, row + rows[0] + r, i, 0, lanes) for r in range(2))
        lines = [(r - rows[0]) * lanes for r in rows]
        taps: list[Value] = []
        for j in range(self.points):
            picks = [
                line + c * self.layout.tile + j for line, c in zip(lines, columns, strict=True)
            ]
            taps.append(upper.with_ssa(vector.shuffle(upper.ssa, lower.ssa, picks)))
        return taps

    def _row(
        self, leading: Sequence[IndexExpr], tile_row: IndexExpr, i: int, start: int, width: int
    ) -> Value:
        """Load neighbours of row `i` of a tile row, from a place of its first tile on."""
        line = tile_row * self.layout.tile + (i - self.axes[0].begin)
        column = IndexExpr(start - self.axes[1].begin)
        return _padded(self.x, self.axes, [*leading, line, column], width)

    def _gathered(self, leading: Sequence[IndexExpr], row: IndexExpr, number: int) -> Taps:
        dtype = place_dtype(math.prod(axis.size for axis in self.axes))
        reader = WindowReader(self.x, self.axes, dtype)
        lanes = Lanes(self.layout.lanes)
        corners = self._corners(row, number, dtype)
        return [
            [
                reader.load(leading, corners, [IndexExpr(i), IndexExpr(j)], lanes)
                for j in range(self.points)
            ]
            for i in range(self.points)
        ]

    def _corners(self, row: IndexExpr, number: int, dtype: str) -> list[Value]:
        """Return where the tiles of a vector begin in the input."""
        rows, columns = self.layout.place(number)
        tile, lanes = self.layout.tile, self.layout.lanes
        down = [r * tile - self.axes[0].begin for r in rows]
        right = [c * tile - self.axes[1].begin for c in columns]
        first = splat_index(row * tile, lanes, dtype)
        down, right = (Value(constant_vector(places, dtype), dtype) for places in (down, right))
        return [first + down, right]


@dataclass(frozen=True)
class SpanReader:
    """Load the elements of tiles of an image of symbolic sizes, a span at a time."""

    x: Buffer
    axes: tuple[Axis, Axis]
    spans: Spans
    points: int

    def load(self, leading: Sequence[IndexExpr], span: IndexExpr) -> Taps:
        """Load the elements of the tiles of a span."""
        row, column = self.spans.place(span)
        return [self._line(leading, row, column, i) for i in range(self.points)]

    def _line(
        self, leading: Sequence[IndexExpr], row: IndexExpr, column: IndexExpr, i: int
    ) -> list[Value]:
        down, across = self.axes
        tile, width = self.spans.tile, self.spans.tile * self.spans.lanes
        line = row * tile + (i - down.begin)
        taps: list[Value] = []
        for first in range(0, self.points, tile):
            at = [*leading, line, column + (first - across.begin)]
            taps += deal(_padded(self.x, self.axes, at, width), tile)
        return taps[: self.points]


def _padded(x: Buffer, axes: tuple[Axis, Axis], at: Sequence[IndexExpr], width: int) -> Value:
    """Load neighbours of a line, zero outside of the image."""
    inside = splat(at[-2].within(0, axes[0].size), width).ssa
    mask = arith.andi(inside, inside_axis(at[-1], width, axes[1]))
    return x.load(at, Lanes(width, mask))


def deal(value: Value, hands: int) -> list[Value]:
    """Deinterleave a vector into `count` vectors, a power of two."""
    if hands == 1:
        return [value]
    even, odd = (value.with_ssa(half) for half in vector.deinterleave(value.ssa))
    dealt = zip(deal(even, hands // 2), deal(odd, hands // 2), strict=True)
    return [part for pair in dealt for part in pair]
