"""Panels: the right-hand side of a contraction, some columns at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.sizes.limits import bounds
from .....dialects.core.sizes.substitution import likely
from .....dialects.core.tensor import DTYPES, Shape
from ....kernels.conversion import convert
from ...schedule.tiles import Tile
from ..buffer import LINE, Buffer, Lanes
from ..builder import KernelBuilder
from ..index import Carried, IndexExpr, Span, carry_nest, for_each, greatest, least, ravel
from ..value import Value

Fetch = Callable[[Sequence[IndexExpr]], None]

Step = Callable[[Sequence[IndexExpr], Sequence[Value], Carried], Carried]
"""Emit what becomes of sums at a depth, given the vectors of that row of a panel."""

STREAMED = 256 << 10
"""Bytes from which on weights are prefetched: no first-level cache is as large."""

AHEAD = 12 << 10
"""How many bytes before they are read once weights are prefetched, into the first-level cache.

There is as much to do for each line as a processor looks ahead, and it foresees the lines of a
panel no longer once it has read those of an epilogue.
"""


class Panel:
    """Load the right-hand side of one panel of columns, a row of the depth at a time."""

    def prepare(self, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        """Emit the code that runs once before the panel that starts at a column is read."""

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        """Return the vectors of one row of the panel."""
        raise NotImplementedError

    def each_row(
        self,
        depth: Sequence[Size | Span],
        start: IndexExpr,
        masks: Sequence[Lanes],
        initial: Carried,
        step: Step,
    ) -> Carried:
        """Emit loops over the rows, which carry sums; return the last ones."""
        return carry_nest(
            depth, initial, lambda at, now: step(at, self.load(at, start, masks), now)
        )

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: Size) -> Fetch | None:
        """Return the emitter of prefetches of the next panel at each step of a tile, or None."""
        return None


Fill = Callable[[Buffer, IndexExpr, Sequence[Lanes]], None]
"""Emit the packing of the panel that starts at a column, into memory."""


@dataclass(frozen=True)
class PackedPanel(Panel):
    """Copy each panel to contiguous scratch memory first, by `fill`; pays off for many rows.

    `source` is the matrix of the columns, if they are those of a matrix.
    """

    memory: Buffer  # [depth…, columns of a tile]
    fill: Fill
    source: Buffer | None = None

    def prepare(self, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        self.fill(self.memory, start, masks)

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        offsets = range(0, len(masks) * masks[0].width, masks[0].width)
        return [self.memory.load([*depth, IndexExpr(o)], Lanes(masks[0].width)) for o in offsets]

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: Size) -> Fetch | None:
        """Fetch a cache line of each row of the next panel in each tile."""
        source, columns = self.source, self.memory.shape[-1]
        if source is None or source.strides[-1] != 1 or likely(source.tensor.size_bytes) < STREAMED:
            return None
        line = LINE * 8 // DTYPES[source.dtype].bits
        column = start + columns + (tile % max(1, columns // line)) * line
        return lambda depth: source.prefetch(source.position([depth[0], column]))


@dataclass(frozen=True)
class DirectPanel(Panel):
    """Read the right-hand side where it is: [depth, columns]; for few rows, used once each."""

    matrix: Buffer

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        return [
            self.matrix.load([*depth, start + v * lanes.width], lanes)
            for v, lanes in enumerate(masks)
        ]


@dataclass(frozen=True)
class StoredPanel(Panel):
    """Read panels that were packed at compile time: [panels, depth, columns of a panel].

    `depth` is the shape of the depth; `tile` has all columns of a panel or a part of them. Column 0
    is the first one of panel `first`. If few tiles use a panel, weights are prefetched `ahead`
    elements before they are read. Weights are converted to `dtype`, if given. The panel that is
    read next is `skipped` ones behind the one that follows.
    """

    panels: Buffer
    depth: Shape
    tile: Tile
    first: IndexExpr = field(default_factory=lambda: IndexExpr(0))
    ahead: int = 0
    dtype: str = ""
    skipped: IndexExpr = field(default_factory=lambda: IndexExpr(0))

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        _, size, columns = self.panels.shape
        start = self.first * columns + start
        place = start * size
        if self.tile.columns != columns:
            place = (start // columns) * (size * columns) + start % columns
        row = place + ravel(depth, self.depth) * columns
        flat = self.panels.reshape((self.panels.tensor.size,))
        # Whole vectors, also where the result ends: the last panel is filled up.
        plain = Lanes(masks[0].width)
        if self.ahead and self._streams:
            for v in range(len(masks)):
                self.panels.prefetch(row + (v * plain.width + self.ahead), level=1)
        loaded = [flat.load([row + v * plain.width], plain) for v in range(len(masks))]
        return [convert(value, self.dtype) if self.dtype else value for value in loaded]

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: Size) -> Fetch | None:
        """Prefetch an equal share of the next panel in each tile."""
        panels, size, columns = self.panels.shape
        if self.tile.columns != columns or self.ahead or not self._streams:
            return None
        if is_symbolic(tiles) or tiles == 1:
            return self._fetch_later(start, tile, tiles)
        if likely(panels) < 2:
            return None
        share = ceildiv(columns, tiles)
        panel = self.first + self.skipped + 1
        first = (panel * columns + start) * size + tile * (size * share)
        return lambda depth: self.panels.prefetch(first + ravel(depth, self.depth) * share)

    def _fetch_later(self, start: IndexExpr, tile: IndexExpr, tiles: Size) -> Fetch:
        """Prefetch a share of the next panel; if there is one tile only, what it reads later."""
        _, size, columns = self.panels.shape
        ahead = AHEAD // DTYPES[self.panels.dtype].itemsize
        shared = least(greatest(tiles - 1, 0), 1)
        share = ceildiv(columns, greatest(tiles, 1))
        later = shared * (size * columns) + (1 - shared) * ahead
        first = (self.first * columns + start) * size + later + tile * (size * share)

        skipped = self.skipped * (size * columns)

        def fetch(depth: Sequence[IndexExpr]) -> None:
            done = ravel(depth, self.depth) * share
            if skipped.known != 0:
                inside = (done + later).less(size * columns)
                done += IndexExpr(0).select(inside, skipped)
            self.panels.prefetch_run(first + done, columns)

        return fetch

    @property
    def _streams(self) -> bool:
        return likely(self.panels.tensor.size_bytes) >= STREAMED


ROWS_AHEAD = 24
"""How many rows before they are converted narrow weights are prefetched."""


@dataclass(frozen=True)
class WidenedPanel(Panel):
    """Convert packed panels of narrow numbers before they are read, each once for all rows."""

    stored: StoredPanel
    memory: Buffer  # [depth, columns of a panel], private

    @property
    def panels(self) -> Buffer:
        return self.stored.panels

    def prepare(self, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        _, depth, columns = self.panels.shape
        panel, plain = start // columns, Lanes(masks[0].width)

        def row(k: IndexExpr) -> None:
            self.panels.prefetch(self.panels.position([panel, k + ROWS_AHEAD, IndexExpr(0)]))
            for v in range(columns // plain.width):
                at = [k, IndexExpr(v * plain.width)]
                loaded = self.panels.load([panel, *at], plain)
                self.memory.store(convert(loaded, self.memory.dtype), at, plain)

        for_each(depth, row)

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        plain = Lanes(masks[0].width)
        places = (IndexExpr(v * plain.width) for v in range(len(masks)))
        return [self.memory.load([*depth, place], plain) for place in places]

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: Size) -> Fetch | None:
        return self.stored.fetch_next(start, tile, tiles)


def private_rows(kernel: KernelBuilder, rows: int, size: Size, dtype: str) -> Buffer:
    """Allocate private rows that begin a cache line each, an odd number of lines apart.

    Caches take lines of several rows each somewhere else, and vectors may be stored whole. If the
    size is bounded, that is a number of elements: constants then address several rows.
    """
    line = LINE * 8 // DTYPES[dtype].bits
    most = bounds(size)[1]
    longest = size if most is None or most > LONGEST else most
    pitch = (ceildiv(longest, line) // 2 * 2 + 1) * line
    return kernel.private((rows, pitch), dtype).slice([0, 0], (rows, size), [1, 1])


LONGEST = 4096
"""The most elements of a row for which memory is reserved although rows may be shorter."""


def matrix_panel(
    kernel: KernelBuilder, matrix: Buffer, dtype: str, rows: Size, tile: Tile
) -> Panel:
    """Choose how to read a matrix [depth, columns], any strides: in place or packed."""
    if likely(rows) <= tile.rows:
        return DirectPanel(matrix)
    memory = kernel.private((matrix.shape[0], tile.columns), dtype)
    return PackedPanel(memory, copy_columns(matrix), matrix)


def copy_columns(matrix: Buffer) -> Fill:
    """Fill panels with the columns of a matrix in memory."""

    def fill(memory: Buffer, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        def row(k: IndexExpr) -> None:
            for v, lanes in enumerate(masks):
                loaded = matrix.load([k, start + v * lanes.width], lanes)
                memory.store(loaded, [k, IndexExpr(v * lanes.width)], Lanes(lanes.width))

        for_each(matrix.shape[0], row)

    return fill
