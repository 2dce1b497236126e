"""Lowering of Winograd convolution of blocked images, with vectors across channels.

Some tiles are transformed at a time, for all channels; a panel of outputs is then multiplied for
each point of the transform, with tiles as rows, and transformed back from cache. No lane is idle
for any number of tiles. Of a volume, tiles of all planes are transformed together: the rows of a
product are the tiles of one plane behind the other, and those of its next tap begin a plane later.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from .....dialects import cpu
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.cpu.packing import even_split
from .....dialects.cpu.winograd import TRANSFORMS
from ....element_types import BLOCKED, PACKED, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, for_each, when
from ...kernels.loops import Piece, Section, cut, spread
from ...kernels.products.contraction import Contraction
from ...kernels.products.panels import StoredPanel
from ...kernels.value import Value
from ...layout.winograd_layout import tiles_at_a_time
from ...registry import template
from ...schedule.tiles import filled, fit_tile
from .winograd_transforms import both_sides

AHEAD = 8192
"""The prefetch distance of kernels, in elements."""


TILES = ElementTypes(("f32", "f64"), layouts={"x": BLOCKED, "u": PACKED, "y": BLOCKED})


HALVES = replace(TILES, every=("f16", "bf16"), fields={"u": ("f32", "f16"), "b": ("f32",)})


@template(cpu.BlockedWinogradConv, types=(TILES, HALVES))
def lower_blocked_winograd_conv(
    op: cpu.BlockedWinogradConv,
    kernel: KernelBuilder,
    x: Buffer,
    u: Buffer,
    b: Buffer | None,
    y: Epilogue,
) -> None:
    height, width = y.shape[-3:-1]
    tiles = (-(-height // op.tile)) * -(-width // op.tile)
    planes = math.prod(x.shape[2:-3])
    most = tiles_at_a_time(u.shape[1], x.shape[1] * x.shape[-1], planes)
    outputs = op.outputs
    columns = u.shape[3]
    full, rest = divmod(outputs, columns)
    batches = _batches(tiles, most)
    work = _Winograd(op, kernel, x, u, b, y, filled(batches[0].count, most))

    def rounds(times: Size, count: Size, first: Size) -> Section:
        def enter(at: list[IndexExpr]) -> list[Piece]:
            start = at[1] * count + first
            work.transform(at[0], start, count)
            pieces = [Piece(full, lambda p: work.panel(at[0], start, count, p, columns))]
            if rest:
                last = IndexExpr(full)
                pieces.append(Piece(1, lambda _: work.panel(at[0], start, count, last, rest)))
            return pieces

        return Section((y.shape[0], times), full + bool(rest), enter)

    spread(*[rounds(batch.times, batch.count, batch.first) for batch in batches])


@dataclass(frozen=True)
class _Batch:
    """Name `times` batches of `count` tiles each, from tile `first` on."""

    times: Size
    count: Size
    first: Size


def _batches(tiles: Size, most: int) -> list[_Batch]:
    """Cut tiles into batches that are transformed together.

    They are nearly equal; of a number that is known when the kernel runs, all but one are full.
    """
    if is_symbolic(tiles):
        full, rest, some = cut(tiles, most)
        batches = [_Batch(full, most, 0), _Batch(some, rest, full * most)]
        return [batch for batch in batches if batch.times != 0]
    large, small, many, few = even_split(tiles, most)
    return [_Batch(many, large, 0), _Batch(few, small, many * large)]


class _Winograd:
    def __init__(
        self,
        op: cpu.BlockedWinogradConv,
        kernel: KernelBuilder,
        x: Buffer,
        u: Buffer,
        b: Buffer | None,
        y: Epilogue,
        most: int,
    ) -> None:
        self.op, self.kernel, self.x, self.b, self.y = op, kernel, x, b, y
        self.transforms = TRANSFORMS[op.tile]
        panels, self.points, depth, self.columns = u.shape
        self.u = u.reshape((panels * self.points, depth, self.columns))
        self.lanes = Lanes(x.shape[-1])
        self.across = -(-y.shape[-2] // op.tile)  # tiles
        self.seen, self.made = (math.prod(image.shape[2:-3]) for image in (x, y))  # planes
        self.depth = self.seen - self.made + 1, x.shape[1] * self.lanes.width
        # Rows a vector longer: a distance of a power of two would alias in the cache.
        more = self.lanes.width
        self.dtype = compute_dtype(x.dtype)
        _, channels = self.depth
        self.v = kernel.private((self.points, self.seen * most, channels + more), self.dtype)
        self.m = kernel.private((self.points, self.made * most, self.columns + more), self.dtype)

    def transform(self, image: IndexExpr, start: IndexExpr, count: Size) -> None:
        """Store the transforms of some tiles."""

        def plane(at: IndexExpr) -> None:
            for_each(count, lambda number: tile(at, number))

        def tile(at: IndexExpr, number: IndexExpr) -> None:
            corner = self._corner(at, start + number)
            row = at * count + number
            for_each(self.x.shape[1], lambda block: one(row, corner, block))

        def one(number: IndexExpr, corner: Sequence[IndexExpr], block: IndexExpr) -> None:
            reach = range(self.transforms.points)
            taps = [[self._load([image, block], corner, i, j) for j in reach] for i in reach]
            for point, value in enumerate(both_sides(self.transforms.input, taps)):
                self.v.store(
                    value, [IndexExpr(point), number, block * self.lanes.width], self.lanes
                )

        for_each(self.seen, plane)

    def panel(
        self, image: IndexExpr, start: IndexExpr, count: Size, panel: IndexExpr, columns: int
    ) -> None:
        """Multiply some tiles by the kernels of a panel of outputs, and finish these outputs."""
        rows = self.made * count
        tile = fit_tile(self.kernel.machine, self.dtype, rows, self.columns, block=self.lanes.width)

        def point(at: IndexExpr) -> None:
            Contraction(
                rows,
                columns,
                self.depth,
                self.dtype,
                lambda rows, r, k: self.v.load([at, rows.first + r + k[0] * count, k[1]]),
                StoredPanel(self.u, self.depth, tile, panel * self.points + at, AHEAD),
                lambda r, c, value, lanes: self.m.store(value, [at, r, c], lanes),
            ).emit(tile)

        def plane(at: IndexExpr) -> None:
            def finish(number: IndexExpr) -> None:
                corner = self._corner(at, start + number)
                self._finish(image, corner, at * count + number, panel, blocks)

            for_each(count, finish)

        for_each(self.points, point)
        blocks = columns // self.lanes.width
        for_each(self.made, plane)

    def _finish(
        self,
        image: IndexExpr,
        corner: Sequence[IndexExpr],
        number: IndexExpr,
        panel: IndexExpr,
        blocks: int,
    ) -> None:
        def block(index: IndexExpr) -> None:
            lane = index * self.lanes.width
            points = self.transforms.points
            products = [
                [
                    self.m.load([IndexExpr(i * points + j), number, lane], self.lanes)
                    for j in range(points)
                ]
                for i in range(points)
            ]
            values = both_sides(self.transforms.output, products)
            output = panel * self.columns + lane
            if self.b is not None:
                bias = self.b.load([output], self.lanes)
                values = [value + bias for value in values]
            self._store(values, image, output // self.lanes.width, corner)

        for_each(blocks, block)

    def _store(
        self,
        values: Sequence[Value],
        image: IndexExpr,
        block: IndexExpr,
        corner: Sequence[IndexExpr],
    ) -> None:
        """Store the outputs of a tile, as far as the image goes."""
        size = self.op.tile
        for number, value in enumerate(values):
            inside = divmod(number, size)
            *plane, row, column = corner
            place = [*plane, row + inside[0], column + inside[1]]
            store = partial(self.y.store, value, [image, block, *place, IndexExpr(0)], self.lanes)
            checks = [
                index.less(end)
                for index, offset, end in zip(place[-2:], inside, self.op.sizes[-2:], strict=True)
                if not _is_whole(end, size, offset)
            ]
            if checks:
                when(reduce(Value.logical_and, checks), store)
            else:
                store()

    def _corner(self, plane: IndexExpr, number: IndexExpr) -> list[IndexExpr]:
        """Return where a tile of a plane begins."""
        size = self.op.tile
        place = [number // self.across * size, number % self.across * size]
        return [plane, *place] if len(self.op.sizes) > 2 else place

    def _load(
        self, leading: Sequence[IndexExpr], corner: Sequence[IndexExpr], i: int, j: int
    ) -> Value:
        *plane, row, column = corner
        return self.x.load([*leading, *plane, row + i, column + j, IndexExpr(0)], self.lanes)


def _is_whole(end: Size, tile: int, offset: int) -> bool:
    """Return whether all tiles of an axis have the element at an offset, as far as is known."""
    rest = end % tile
    return rest == 0 or (not is_symbolic(rest) and rest > offset)
