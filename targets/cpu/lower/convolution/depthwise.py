"""The depthwise template: slide a kernel over one padded channel, several rows at a time.

A channel is copied with its padding first; for stride 2, even and odd columns are separated. All
loads are then contiguous and unmasked. A tile is a few rows of one vector, which share their loads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.tensor import Shape
from ...kernels.buffer import Buffer, Lanes, tail_mask, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, for_each, least
from ...kernels.loops import each
from ...kernels.products.contraction import splat
from ...kernels.runs import Rows, cut_rows
from ...kernels.value import Value
from ...kernels.windows import Axis, inside_axis
from .winograd_tiles import deal

ROWS = 4
"""Rows of a tile: with the kernel, they fit in the registers up to windows of five by five."""


def suits(axes: Sequence[Axis]) -> bool:
    """Return whether the template knows such windows."""
    return len(axes) == 2 and axes[1].stride in (1, 2)


@dataclass(frozen=True)
class Depthwise:
    """Convolve every channel with its own kernel, by windows that `suits` accepts."""

    kernel: KernelBuilder
    x: Buffer
    w: Buffer  # [channels, 1, taps…]
    b: Buffer | None
    y: Epilogue
    axes: Sequence[Axis]
    dtype: str

    def emit(self) -> None:
        """Emit the loops over channels, and over tiles of each."""
        plane = self.kernel.private(self._plane_shape(), self.dtype)
        each_vector(plane.shape, self._width, lambda at, lanes: self._clear(plane, at, lanes))
        each(self.y.shape[:2], lambda at: self._channel(plane, at))

    @property
    def _width(self) -> int:
        return self.kernel.lanes(self.dtype)

    def _plane_shape(self) -> Shape:
        """Return the shape of a padded channel: one part for each column of a stride."""
        heights, widths = self.y.shape[2:]
        rows, columns = self.w.shape[2:]
        down, across = self.axes
        height = (heights - 1) * down.stride + (rows - 1) * down.dilation + 1
        reach = (columns - 1) * across.dilation // across.stride
        vectors = -(-widths // self._width) + -(-reach // self._width)
        return across.stride, height, vectors * self._width

    def _channel(self, plane: Buffer, at: list[IndexExpr]) -> None:
        batch, channel = at
        self._copy(plane, at)
        weights = self._weights(channel)
        bias = zero(self.dtype) if self.b is None else self.b.load([channel])
        runs = cut_rows(self.y.shape[2], 1, ROWS)

        def columns(start: IndexExpr, lanes: Lanes) -> None:
            def tile(rows: Rows) -> None:
                sums = [splat(bias, lanes.width)] * rows.count
                for r, total in enumerate(self._tile(plane, weights, rows.first, start, sums)):
                    self.y.store(total, [batch, channel, rows.first + r, start], lanes)

            for run in runs:
                run.each(tile)

        width = self.y.shape[3]
        full = width - width % self._width
        for_each(full, lambda start: columns(start, Lanes(self._width)), step=self._width)
        rest = width - full

        def tail(_: IndexExpr) -> None:
            columns(IndexExpr(full), Lanes(self._width, tail_mask(self._width, rest)))

        for_each(least(rest, 1), tail)

    def _weights(self, channel: IndexExpr) -> list[list[Value]]:
        rows, columns = self.w.shape[2:]
        return [
            [
                splat(self.w.load([channel, IndexExpr(0), IndexExpr(i), IndexExpr(j)]), self._width)
                for j in range(columns)
            ]
            for i in range(rows)
        ]

    def _clear(self, plane: Buffer, at: Sequence[IndexExpr], lanes: Lanes | None) -> None:
        plane.store(zero(self.dtype, lanes), at, lanes)

    def _copy(self, plane: Buffer, at: Sequence[IndexExpr]) -> None:
        """Copy the rows of a channel that windows read; rows of padding remain zero."""
        down = self.axes[0]
        first = max(down.begin, 0)
        stop = least(down.begin + down.size, plane.shape[1])
        for_each(stop, lambda row: self._copy_line(plane, at, row), start=first)

    def _copy_line(self, plane: Buffer, at: Sequence[IndexExpr], row: IndexExpr) -> None:
        def move(column: IndexExpr, masked: bool = False) -> None:
            self._move(plane, at, row, column, masked)

        if is_symbolic(plane.shape[2]):
            for_each(plane.shape[2], lambda column: move(column, True), step=self._width)
            return
        starts = range(0, plane.shape[2], self._width)
        inner = [start for start in starts if self._lies_inside(start)]
        for start in starts:
            if start not in inner:
                move(IndexExpr(start), True)
        if inner:
            for_each(inner[-1] + 1, move, step=self._width, start=inner[0])

    def _lies_inside(self, column: int) -> bool:
        """Return whether a vector of a padded row, for each part, is all input."""
        across = self.axes[1]
        first = column * across.stride - across.begin
        return first >= 0 and first + self._width * across.stride <= across.size

    def _move(
        self,
        plane: Buffer,
        at: Sequence[IndexExpr],
        row: IndexExpr,
        column: IndexExpr,
        masked: bool,
    ) -> None:
        down, across = self.axes
        width = self._width * across.stride
        place = column * across.stride - across.begin
        mask = inside_axis(place, width, across) if masked else None
        loaded = self.x.load([*at, row - down.begin, place], Lanes(width, mask))
        for part, value in enumerate(deal(loaded, across.stride)):
            plane.store(value, [IndexExpr(part), row, column], Lanes(self._width))

    def _tile(
        self,
        plane: Buffer,
        weights: Sequence[Sequence[Value]],
        first: IndexExpr,
        start: IndexExpr,
        sums: list[Value],
    ) -> list[Value]:
        """Add up the taps of some rows of one vector; loads each vector of the input once."""
        down, across = self.axes
        sums = list(sums)
        lines = {
            r * down.stride + i * down.dilation
            for r in range(len(sums))
            for i in range(len(weights))
        }
        for line in sorted(lines):
            for j in range(len(weights[0])):
                reach, part = divmod(j * across.dilation, across.stride)
                place = [IndexExpr(part), first * down.stride + line, start + reach]
                loaded = plane.load(place, Lanes(self._width))
                for r in range(len(sums)):
                    i, apart = divmod(line - r * down.stride, down.dilation)
                    if not apart and 0 <= i < len(weights):
                        sums[r] = loaded.fma(weights[i][j], sums[r])
        return sums
