"""Lowering of Winograd convolution: transform tiles, multiply point by point, transform back.

Vectors are across tiles. A panel of tile rows is transformed at a time, for all channels; a block
of outputs is then multiplied for each point of the transform, and transformed back from cache.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from .....dialects import cpu
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.tensor import Shape
from .....dialects.cpu.packing import even_split
from .....dialects.cpu.winograd import TRANSFORMS
from ....element_types import PACKED, ElementTypes
from ...kernels.buffer import Buffer, Lanes, tail_mask, vector
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, for_each, when
from ...kernels.loops import Piece, Section, each, spread
from ...kernels.products.contraction import Contraction, Left, Rows, splat
from ...kernels.products.panels import STREAMED, DirectPanel
from ...kernels.value import Value
from ...kernels.windows import Axis
from ...layout.winograd_layout import Layout, Spans, winograd_layout
from ...registry import template
from ...schedule.tiles import choose_tile
from .winograd_tiles import SpanReader, Taps, TileReader
from .winograd_transforms import both_sides

AHEAD = 2048
"""The prefetch distance of kernels, in elements."""

Place = tuple[IndexExpr, IndexExpr]
"""The row and the column of an output."""

Write = Callable[[IndexExpr, IndexExpr, Place, Lanes | None], None]
"""Store neighbours of a finished line, from an element on, at a place of the image."""


@template(cpu.WinogradConv, types=ElementTypes(("f32", "f64"), layouts={"u": PACKED}))
def lower_winograd_conv(
    op: cpu.WinogradConv, kernel: KernelBuilder, x: Buffer, u: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    height, width = y.shape[2:]
    tile = op.tile
    rows, columns, lanes = -(-height // tile), -(-width // tile), kernel.lanes(x.dtype)
    blocks = -(-y.shape[1] // op.block)
    layout = winograd_layout(tile, rows, columns, lanes)
    arranged = _InSpans if isinstance(layout, Spans) else _InRows
    work = arranged(kernel, op, layout, x, u, b, y)

    def section(shape: Shape, image: IndexExpr | None) -> Section:
        def enter(at: list[IndexExpr]) -> list[Piece]:
            return work.panel(at[0] if image is None else image, at[-1] * layout.panel)

        return Section((*shape, layout.panels), blocks, enter)

    if is_symbolic(y.shape[0]) or is_symbolic(layout.panels):
        spread(section(y.shape[:1], None))
    else:
        each(y.shape[:1], lambda at: spread(section((), at[0])))


class _Winograd(ABC):
    def __init__(
        self,
        kernel: KernelBuilder,
        op: cpu.WinogradConv,
        layout: Layout | Spans,
        x: Buffer,
        u: Buffer,
        b: Buffer | None,
        y: Epilogue,
    ) -> None:
        self.kernel, self.transforms, self.layout = kernel, TRANSFORMS[op.tile], layout
        transforms, block = self.transforms, op.block
        self.x, self.u, self.b, self.y = x, u, b, y
        points = transforms.points**2
        self.channels, self.outputs = x.shape[1], y.shape[1]
        tiles = layout.vectors * layout.lanes
        self.block = block
        # One row more: all points of a tile are stored at once, and must not fall into one set.
        self.v = kernel.private((points, self.channels + 1, tiles), x.dtype)
        self.m = kernel.private((points, block, tiles), x.dtype)
        self.lines = kernel.private((layout.tile, tiles * layout.tile), x.dtype)
        height, width = x.shape[2:]
        self.axes = Axis(height, 1, op.pads[0], 1, True), Axis(width, 1, op.pads[1], 1, True)

    @abstractmethod
    def load(self, leading: Sequence[IndexExpr], row: IndexExpr, number: int) -> Taps:
        """Load a vector of the tiles of the panel that starts at a tile row, or at a span."""

    @abstractmethod
    def store(self, row: IndexExpr, write: Write) -> None:
        """Store the lines of the panel that starts there, as far as the image goes."""

    def panel(self, image: IndexExpr, row: IndexExpr) -> list[Piece]:
        """Transform the tile rows of one panel; return the blocks of their outputs."""
        for_each(self.channels, lambda channel: self._transform(image, row, channel))
        large, small, many, few = even_split(self.outputs, self.block)
        offset = many * large
        return [
            Piece(many, lambda i: self._block(image, row, i * large, large)),
            Piece(few, lambda i: self._block(image, row, i * small + offset, small)),
        ]

    def _transform(self, image: IndexExpr, row: IndexExpr, channel: IndexExpr) -> None:
        """Load the tiles of one channel and store their transforms."""
        lanes = Lanes(self.layout.lanes)
        for number in range(self.layout.vectors):
            taps = self.load([image, channel], row, number)
            for point, value in enumerate(both_sides(self.transforms.input, taps)):
                at = [IndexExpr(point), channel, IndexExpr(number * self.layout.lanes)]
                self.v.store(value, at, lanes)

    def _block(self, image: IndexExpr, row: IndexExpr, first: IndexExpr, rows: int) -> None:
        """Multiply the transforms by the kernels of some outputs, and finish these outputs."""
        columns = self.layout.vectors * self.layout.lanes
        tile = choose_tile(self.kernel.machine, self.x.dtype, rows, columns)

        def point(at: IndexExpr) -> None:
            Contraction(
                rows,
                columns,
                (self.channels,),
                self.x.dtype,
                self._kernels(at, first),
                DirectPanel(self.v.part([at])),
                lambda r, j, value, lanes: self.m.store(value, [at, r, j], lanes),
                block=rows,
            ).emit(tile)

        for_each(self.v.shape[0], point)
        for_each(rows, lambda r: self._finish(image, row, first, r))

    def _kernels(self, point: IndexExpr, first: IndexExpr) -> Left:
        """Read the kernels of one block at a point: [channels, outputs of the block].

        Blocks are read one after another, from memory where the kernels do not fit in a cache.
        """
        block = first * (self.v.shape[0] * self.channels)

        def left(rows: Rows, r: int, at: Sequence[IndexExpr]) -> Value:
            place = block + (point * self.channels + at[0]) * rows.count
            if r == 0 and self.u.tensor.size_bytes >= STREAMED:
                self.u.prefetch(place + AHEAD)
            return self.u.load([place + r])

        return left

    def _finish(
        self, image: IndexExpr, row: IndexExpr, first: IndexExpr, number: IndexExpr
    ) -> None:
        """Transform one output back into lines, and store the lines."""
        points, lanes = self.transforms.points, Lanes(self.layout.lanes)
        for v in range(self.layout.vectors):
            at = IndexExpr(v * lanes.width)
            products = [
                [self.m.load([IndexExpr(i * points + j), number, at], lanes) for j in range(points)]
                for i in range(points)
            ]
            values = both_sides(self.transforms.output, products)
            tile = self.layout.tile
            for line in range(tile):
                joined = _interleave(values[line * tile : (line + 1) * tile])
                wide = Lanes(lanes.width * tile)
                self.lines.store(joined, [IndexExpr(line), IndexExpr(v * wide.width)], wide)
        output = first + number
        bias = None if self.b is None else self.b.load([output])

        def write(line: IndexExpr, start: IndexExpr, at: Place, taken: Lanes | None) -> None:
            value = self.lines.load([line, start], taken)
            if bias is not None:
                value = value + (bias if taken is None else splat(bias, taken.width))
            self.y.store(value, [image, output, *at], taken)

        self.store(row, write)


class _InRows(_Winograd):
    layout: Layout

    def load(self, leading: Sequence[IndexExpr], row: IndexExpr, number: int) -> Taps:
        reader = TileReader(self.x, self.axes, self.layout, self.transforms.points)
        return reader.load(leading, row, number)

    def store(self, row: IndexExpr, write: Write) -> None:
        for_each(self.layout.panel, lambda r: self._store(row, r, write))

    def _store(self, row: IndexExpr, inside: IndexExpr, write: Write) -> None:
        """Store the lines of one tile row of the panel."""
        height, width = self.y.shape[2:]
        lanes = self.kernel.lanes(self.x.dtype)
        start = self.layout.start(inside)

        def line(i: IndexExpr) -> None:
            down = (row + inside) * self.layout.tile + i

            def one(at: list[IndexExpr], taken: Lanes | None) -> None:
                write(i, start + at[0], (down, at[0]), taken)

            when(down.less(height), lambda: each_vector((width,), lanes, one))

        for_each(self.layout.tile, line)


class _InSpans(_Winograd):
    layout: Spans

    def load(self, leading: Sequence[IndexExpr], row: IndexExpr, number: int) -> Taps:
        reader = SpanReader(self.x, self.axes, self.layout, self.transforms.points)
        return reader.load(leading, row + number)

    def store(self, row: IndexExpr, write: Write) -> None:
        for number in range(self.layout.vectors):
            self._store(row, number, write)

    def _store(self, span: IndexExpr, number: int, write: Write) -> None:
        """Store the lines of one span of the panel."""
        height, width = self.y.shape[2:]
        lanes, tile = self.kernel.lanes(self.x.dtype), self.layout.tile
        row, column = self.layout.place(span + number)

        def line(i: IndexExpr) -> None:
            def vector_at(place: IndexExpr) -> None:
                left = IndexExpr(width) - (column + place)
                taken = Lanes(lanes, tail_mask(lanes, left.maximum(0)))
                start = place + number * (self.layout.lanes * tile)
                write(i, start, (down, column + place), taken)

            down = row * tile + i
            end = (IndexExpr(width) - column).minimum(self.layout.lanes * tile)
            when(down.less(height), lambda: for_each(end, vector_at, step=lanes))

        for_each(tile, line)


def _interleave(values: Sequence[Value]) -> Value:
    """Return the first elements of all values, then the second ones, and so on."""
    if len(values) == 1:
        return values[0]
    even, odd = _interleave(values[::2]), _interleave(values[1::2])
    return even.with_ssa(vector.interleave(even.ssa, odd.ssa))
