"""Lowerings of blocked images: to and from them, and convolution with vectors across outputs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from .....dialects import cpu
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.tensor import Shape
from ....element_types import BLOCKED, PACKED, STORED, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, Span, unravel
from ...kernels.products.contraction import Contraction, Left, Rows, emit_each
from ...kernels.products.panels import StoredPanel
from ...kernels.value import Value
from ...kernels.widened import widened
from ...kernels.windows import Axis, first_tap
from ...registry import IMAGES, indexed, template
from ...schedule.tiles import fit_tile
from .blocked_bands import Bands
from .pixels import corners, read_pixels, read_windows


@indexed(cpu.Block, types=ElementTypes(STORED, layouts={"y": BLOCKED}))
def lower_block(op: cpu.Block, x: Buffer) -> Buffer:
    batch, channels, *spatial = x.shape
    split = x.reshape((batch, channels // op.lanes, op.lanes, *spatial))
    return split.transpose((0, 1, *range(3, len(split.shape)), 2))


@template(cpu.Unblock, types=ElementTypes(STORED, layouts={"x": BLOCKED}))
def lower_unblock(op: cpu.Unblock, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    last = len(x.shape) - 1
    turned = x.transpose((0, 1, last, *range(2, last)))
    y.reshape(turned.shape).emit_copy(turned)


@template(cpu.BlockedConv, types=(IMAGES, replace(IMAGES, layouts={"w": PACKED, "y": BLOCKED})))
def lower_blocked_conv(
    op: cpu.BlockedConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    batch, _, *spatial, lanes = y.shape
    outputs, pixels = op.outputs // op.group, math.prod(spatial)
    dtype = compute_dtype(x.dtype)
    tile = fit_tile(kernel.machine, dtype, pixels, w.shape[2], op.rows, lanes)
    panels = w.reshape((op.group, w.shape[0] // op.group, *w.shape[1:]))
    epilogue = PixelSink(y)

    def some(
        image: ImageReader, at: Sequence[IndexExpr], place: Sequence[IndexExpr], first: IndexExpr
    ) -> Contraction:
        """Contract windows at a place of an image, which are those from a line of the result on.

        Both `at` and `place` are the numbers of an image and of a group.
        """
        number, group = at

        def finish(pixel: IndexExpr, output: IndexExpr, total: Value, taken: Lanes) -> None:
            channel = group * outputs + output
            biased = total if b is None else total + b.load([channel], taken)
            epilogue.store(biased, number, channel, pixel, taken, first)

        return Contraction(
            math.prod(image.windows),
            outputs,
            image.depth,
            dtype,
            image.left(place[0], place[1]),
            StoredPanel(panels.part([group]), image.depth, tile),
            finish,
            ahead=image.ahead(place[0], place[1]),
            unit=1 if image.pointwise else image.windows[-1],
            seen=image.seen(op.border),
        )

    def reader(seen: Buffer, windows: Shape, group: int = 1) -> ImageReader:
        return ImageReader(seen, windows, op.kernel, op.strides, op.dilations, group)

    def band(seen: Buffer, at: Sequence[IndexExpr], line: IndexExpr, lines: int) -> Contraction:
        image = reader(seen, (lines, spatial[-1]))
        return some(image, at[:2], [IndexExpr(0)] * 2, line)

    bands = Bands.of(op, kernel, x, w, y.shape)
    if bands is not None:
        bands.emit(tile, band)
        return
    image = reader(widened(kernel, x), tuple(spatial), op.group)
    emit_each((batch, op.group), lambda at: some(image, at, at, IndexExpr(0)), tile)


class ImageReader:
    """Read an image, blocked or plain, as rows of pixels by depth: one row for each window."""

    def __init__(
        self,
        x: Buffer,
        windows: Shape,
        kernel: Shape,
        strides: Shape,
        dilations: Shape,
        group: int = 1,
    ) -> None:
        self.x, self.windows = x, windows
        rank = len(kernel)
        sizes = x.shape[2 : 2 + rank]
        self.axes = [
            Axis(size, stride, 0, dilation, False)
            for size, stride, dilation in zip(sizes, strides, dilations, strict=True)
        ]
        self.pointwise = math.prod(kernel) == 1 and set(strides) == {1} and sizes == windows
        self.count = x.shape[1] // group  # channels of a group, or blocks of them
        channels = (self.count, *x.shape[2 + rank :])
        self.depth = channels if self.pointwise else (*kernel, *channels)

    def left(self, number: IndexExpr, group: IndexExpr) -> Left:
        _, count, *sizes = self.x.shape
        first = group * self.count
        if not self.blocked:
            image = self.x.part([number])
            if self.pointwise:
                return read_pixels(image.reshape((count, math.prod(sizes))))
            return read_windows(lambda c, at: image.load([*c, *at]), self.windows, self.axes)
        if self.pointwise:
            pixels = self._pixels()
            return lambda rows, r, depth: pixels.load(
                [number, first + depth[0], rows.first + r, depth[1]]
            )
        return read_windows(
            lambda c, at: self.x.load([number, first + c[0], *at, c[1]]), self.windows, self.axes
        )

    def seen(self, border: Shape) -> Callable[[Rows, range], list[Size | Span]] | None:
        """Return what gives the taps of some windows that see more than the border, if any."""
        if not border or self.pointwise:
            return None
        rank, (*taps, _) = len(self.axes), self.depth[: len(self.axes) + 1]

        def depth(rows: Rows, taken: range) -> list[Size | Span]:
            places = corners(rows, taken, self.windows)
            spans = [
                _visible(axis, begin, end, count, place)
                for axis, begin, end, count, place in zip(
                    self.axes, border[:rank], border[rank:], taps, places, strict=True
                )
            ]
            return [*spans, *self.depth[rank:]]

        return depth

    def ahead(
        self, number: IndexExpr, group: IndexExpr
    ) -> Callable[[Rows, Sequence[IndexExpr]], None] | None:
        """Return the emitter of prefetches of pixels of the next block, one per channel of this.

        They are too far apart for the hardware prefetcher, and another core may have written them.
        """
        if not (self.blocked and self.pointwise):
            return None
        pixels = self._pixels()

        def fetch(rows: Rows, depth: Sequence[IndexExpr]) -> None:
            block, lane = group * self.count + depth[0] + 1, depth[1]
            for first in range(0, rows.count, pixels.shape[-1]):
                at = [number, block, rows.first + lane + first, IndexExpr(0)]
                pixels.prefetch(pixels.position(at))

        return fetch

    def _pixels(self) -> Buffer:
        """View a blocked image as [N, blocks, pixels, lanes]."""
        batch, count, *sizes, lanes = self.x.shape
        return self.x.reshape((batch, count, math.prod(sizes), lanes))

    @property
    def blocked(self) -> bool:
        return len(self.x.shape) == len(self.axes) + 3


def _visible(
    axis: Axis, begin: int, end: int, taps: int, windows: tuple[IndexExpr, IndexExpr]
) -> Span:
    """Return the taps by which the windows from one to another see more than the border."""
    first, last = (window * axis.stride for window in windows)
    low = first_tap(begin, last, axis.dilation)
    high = first_tap(axis.size - end, first, axis.dilation)
    return Span(low, high.minimum(taps))


class PixelSink:
    """Store vectors of outputs by the number of their pixel."""

    def __init__(self, y: Epilogue) -> None:
        batch, blocks, *spatial, self.lanes = y.shape
        whole = (batch, blocks, math.prod(spatial), self.lanes)
        self.spatial = spatial
        self.flat = y.reshape(whole) if y.can_reshape(whole) else None
        self.y = y

    def store(
        self,
        total: Value,
        number: IndexExpr,
        output: IndexExpr,
        pixel: IndexExpr,
        taken: Lanes,
        first: IndexExpr | Size = 0,
    ) -> None:
        """Store neighbouring outputs of a pixel, in one block; pixels count from line `first`."""
        block, lane = output // self.lanes, output % self.lanes
        if self.flat is not None:
            place = pixel + first * math.prod(self.spatial[1:])
            self.flat.store(total, [number, block, place, lane], taken)
            return
        # Added to the line: divided with the pixel, it would be divided again for each vector.
        line, *others = unravel(pixel, self.spatial)
        self.y.store(total, [number, block, line + first, *others, lane], taken)
