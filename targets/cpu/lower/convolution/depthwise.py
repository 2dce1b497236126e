"""The depthwise template: slide a kernel over one padded channel, several rows at a time.

A channel is copied with its padding first; for stride 2, even and odd columns are separated. All
loads are then contiguous and unmasked. A tile is a few rows of one vector, which share their loads.
Of a volume, the planes that windows see are kept: each takes the place of one that is seen no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.tensor import Shape
from ...kernels.buffer import Buffer, Lanes, tail_mask, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, for_each, least, nest, when_else
from ...kernels.loops import each
from ...kernels.products.contraction import splat
from ...kernels.runs import Rows, cut_rows
from ...kernels.value import Value
from ...kernels.windows import Axis, inside_axis
from .winograd_tiles import deal

Weights = Sequence[Sequence[Value]]
"""The factors of a plane of a kernel, by rows and columns, in all lanes."""

ROWS = 4
"""Rows of a tile: with the kernel, they fit in the registers up to windows of five by five."""


def suits(axes: Sequence[Axis]) -> bool:
    """Return whether the template knows such windows."""
    return axes[-1].stride in (1, 2)


@dataclass(frozen=True)
class Depthwise:
    """Convolve every channel with its own kernel, by windows of three axes that `suits` accepts."""

    kernel: KernelBuilder
    x: Buffer
    w: Buffer  # [channels, 1, taps…]
    b: Buffer | None
    y: Epilogue
    axes: Sequence[Axis]
    dtype: str

    def emit(self) -> None:
        """Emit the loops over channels, and over tiles of each."""
        planes = self.kernel.private((self._kept, *self._plane_shape()), self.dtype)
        each_vector(planes.shape, self._width, lambda at, lanes: self._clear(planes, at, lanes))
        each(self.y.shape[:2], lambda at: self._channel(planes, at))

    @property
    def _width(self) -> int:
        return self.kernel.lanes(self.dtype)

    @property
    def _kept(self) -> int:
        """The number of planes from the first to the last that a window sees."""
        return (self.w.shape[2] - 1) * self.axes[0].dilation + 1

    def _plane_shape(self) -> Shape:
        """Return the shape of a padded plane: one part for each column of a stride."""
        heights, widths = self.y.shape[3:]
        rows, columns = self.w.shape[3:]
        _, down, across = self.axes
        height = (heights - 1) * down.stride + (rows - 1) * down.dilation + 1
        reach = (columns - 1) * across.dilation // across.stride
        vectors = -(-widths // self._width) + -(-reach // self._width)
        return across.stride, height, vectors * self._width

    def _channel(self, planes: Buffer, at: list[IndexExpr]) -> None:
        stride, kept = self.axes[0].stride, self._kept
        fresh = min(stride, kept)
        weights = self._weights(at[1])
        bias = zero(self.dtype) if self.b is None else self.b.load([at[1]])

        def copy(number: IndexExpr) -> None:
            self._copy(planes.part([number % kept]), [*at, number - self.axes[0].begin])

        def windows(z: IndexExpr) -> None:
            first = z * stride
            for_each(fresh, lambda i: copy(first + (kept - fresh) + i))
            self._plane(planes, first, weights, bias, [*at, z])

        for_each(kept - fresh, copy)
        for_each(self.y.shape[2], windows)

    def _plane(
        self,
        planes: Buffer,
        first: IndexExpr,
        weights: Sequence[Weights],
        bias: Value,
        at: list[IndexExpr],
    ) -> None:
        """Compute a plane of results, which sees the planes from `first` on."""
        apart, kept = self.axes[0].dilation, self._kept
        seen = [planes.part([(first + t * apart) % kept]) for t in range(len(weights))]
        runs = cut_rows(self.y.shape[3], 1, ROWS)

        def columns(start: IndexExpr, lanes: Lanes) -> None:
            def tile(rows: Rows) -> None:
                sums = [splat(bias, lanes.width)] * rows.count
                for plane, factors in zip(seen, weights, strict=True):
                    sums = self._tile(plane, factors, rows.first, start, sums)
                for r, total in enumerate(sums):
                    self.y.store(total, [*at, rows.first + r, start], lanes)

            for run in runs:
                run.each(tile)

        width = self.y.shape[4]
        full = width - width % self._width
        for_each(full, lambda start: columns(start, Lanes(self._width)), step=self._width)
        rest = width - full

        def tail(_: IndexExpr) -> None:
            columns(IndexExpr(full), Lanes(self._width, tail_mask(self._width, rest)))

        for_each(least(rest, 1), tail)

    def _weights(self, channel: IndexExpr) -> list[Weights]:
        def factor(*tap: int) -> Value:
            place = [channel, IndexExpr(0), *map(IndexExpr, tap)]
            return splat(self.w.load(place), self._width)

        deep, rows, columns = map(range, self.w.shape[2:])
        return [[[factor(t, i, j) for j in columns] for i in rows] for t in deep]

    def _clear(self, plane: Buffer, at: Sequence[IndexExpr], lanes: Lanes | None) -> None:
        plane.store(zero(self.dtype, lanes), at, lanes)

    def _copy(self, plane: Buffer, at: Sequence[IndexExpr]) -> None:
        """Copy the rows of a plane that windows read; rows of padding remain zero."""
        deep, down, _ = self.axes
        first = max(down.begin, 0)
        stop = least(down.begin + down.size, plane.shape[1])

        def copy() -> None:
            for_each(stop, lambda row: self._copy_line(plane, at, row), start=first)

        if not deep.padded:
            copy()
            return
        # What was in place of a plane beyond the ends goes, all of it.
        inside = at[2].within(0, deep.size)
        when_else(inside, copy, lambda: self._clear_all(plane))

    def _clear_all(self, plane: Buffer) -> None:
        *outer, width = plane.shape

        def line(at: list[IndexExpr]) -> None:
            lanes = Lanes(self._width)
            for_each(width, lambda i: self._clear(plane, [*at, i], lanes), step=self._width)

        nest(outer, line)

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
        across = self.axes[2]
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
        _, down, across = self.axes
        width = self._width * across.stride
        place = column * across.stride - across.begin
        mask = inside_axis(place, width, across) if masked else None
        loaded = self.x.load([*at, row - down.begin, place], Lanes(width, mask))
        for part, value in enumerate(deal(loaded, across.stride)):
            plane.store(value, [IndexExpr(part), row, column], Lanes(self._width))

    def _tile(
        self,
        plane: Buffer,
        weights: Weights,
        first: IndexExpr,
        start: IndexExpr,
        sums: list[Value],
    ) -> list[Value]:
        """Add up the taps of some rows of one vector; loads each vector of the input once."""
        _, down, across = self.axes
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
