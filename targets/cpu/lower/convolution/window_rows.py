"""Packing windows of two axes by loads of neighbours, where rows of outputs fill a vector.

A vector of windows is then in one row, or in the end of one row and the start of the next. Both
parts are contiguous loads: the second one starts further left by the size of the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .....dialects.core.sizes.limits import at_least
from .....dialects.core.tensor import Shape
from ....memory.strides import row_major
from ...kernels.buffer import Buffer, Lanes, tail_mask
from ...kernels.index import IndexExpr, nest
from ...kernels.products.contraction import Left, splat
from ...kernels.products.panels import Panel
from ...kernels.value import Value, arith
from ...kernels.windows import Axis, inside_axis
from .winograd_tiles import deal


def suits(axes: Sequence[Axis], windows: Shape, lanes: int) -> bool:
    """Return whether a vector of windows surely is a load or two of each of two rows at most."""
    return len(axes) == 2 and axes[1].stride in (1, 2) and at_least(windows[1], lanes) is True


@dataclass(frozen=True)
class RowWindows:
    """Fill panels with the windows of an image [channels, height, width]; zero outside of it."""

    image: Buffer
    axes: Sequence[Axis]
    taps: Shape
    windows: Shape

    def fill(self, memory: Buffer, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        """Pack the panel that starts at a window: [channels * taps, columns of a tile]."""
        width = masks[0].width

        def element(at: list[IndexExpr]) -> None:
            *tap, channel = at
            k = self.place(at)
            for v, lanes in enumerate(masks):
                loaded = self.load(channel, start + v * width, tap, lanes)
                memory.store(loaded, [k, IndexExpr(v * width)], Lanes(width))

        nest(self.depth, element)

    @property
    def depth(self) -> Shape:
        """The taps, then the channels, which go round fastest: they share all masks."""
        return (*self.taps, self.image.shape[0])

    def place(self, depth: Sequence[IndexExpr]) -> IndexExpr:
        """Return the number of an element of `depth` where the channels come first."""
        *tap, channel = depth
        place = IndexExpr(0)
        for index, stride in zip(
            (channel, *tap), row_major((self.image.shape[0], *self.taps)), strict=True
        ):
            place = place + index * stride
        return place

    def load(
        self, channel: IndexExpr, first: IndexExpr, tap: Sequence[IndexExpr], lanes: Lanes
    ) -> Value:
        """Load one tap of neighbouring windows; `lanes` masks windows past the end."""
        across = self.windows[1]
        row, column = first // across, first % across
        one = self._row(channel, row, column, tap, lanes.width)
        if across % lanes.width == 0 or self.windows[0] == 1:
            return one
        left = IndexExpr(across) - column
        two = self._row(channel, row + 1, IndexExpr(0) - left, tap, lanes.width)
        return Value(tail_mask(lanes.width, left), "i1").select(one, two)

    def _row(
        self,
        channel: IndexExpr,
        row: IndexExpr,
        column: IndexExpr,
        tap: Sequence[IndexExpr],
        lanes: int,
    ) -> Value:
        """Load one tap of windows in one row; zero outside the row of inputs."""
        down, across = self.axes
        line = row * down.stride + tap[0] * down.dilation - down.begin
        place = column * across.stride + tap[1] * across.dilation - across.begin
        width = lanes * across.stride
        inside = splat(line.within(0, down.size), width).ssa
        mask = arith.andi(inside, inside_axis(place, width, across))
        loaded = self.image.load([channel, line, place], Lanes(width, mask))
        return deal(loaded, across.stride)[0]


@dataclass(frozen=True)
class DirectWindows(Panel):
    """Read windows where they are, at a depth of `windows`; for few rows, used once each."""

    windows: RowWindows

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        *tap, channel = depth
        return [
            self.windows.load(channel, start + v * lanes.width, tap, lanes)
            for v, lanes in enumerate(masks)
        ]

    def left(self, left: Left) -> Left:
        """Return a `Left` that maps a depth of `windows` to that of packed kernels."""
        return lambda rows, r, depth: left(rows, r, [self.windows.place(depth)])
