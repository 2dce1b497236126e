"""The layout of the tiles of a Winograd convolution in vectors."""

from dataclasses import dataclass

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import ceildiv
from ....dialects.core.sizes.substitution import likely
from ..kernels.index import IndexExpr

MOST_TILES = 56
"""The most tiles of a blocked image that are transformed at a time; each reuses a kernel."""

MOST_BYTES = 4 << 20
"""The most bytes of their transforms, which each panel reads again, from a cache."""

MOST_IDLE = 1 / 8
"""The part of the time of two threads in which one may wait for the other, in the last panel."""


def tiles_at_a_time(points: int, channels: int, planes: int = 1) -> int:
    """Return the number of tiles of a blocked image that are transformed, then multiplied.

    Of a volume, that is the number in each of its planes.
    """
    return max(1, min(MOST_TILES, MOST_BYTES // (points * channels * 4)) // planes)


def panel_vectors(blocks: int, batches: int) -> int:
    """Return the vectors of a panel of outputs, a divisor of their blocks and four at most.

    Threads share panels, those of each batch of tiles. Panels are as wide as they may be so that
    two threads have nearly as much to do.
    """

    def idle(vectors: int) -> float:
        panels = batches * (blocks // vectors)
        return panels % 2 / (panels + panels % 2)

    divisors = [vectors for vectors in (4, 3, 2, 1) if blocks % vectors == 0]
    return next((vectors for vectors in divisors if idle(vectors) <= MOST_IDLE), divisors[0])


@dataclass(frozen=True)
class Spans:
    """Arrange the tiles of an image of symbolic sizes in vectors: spans of one tile row each.

    Spans are counted through all tile rows; a panel has some that follow one another.
    """

    tile: int
    rows: Size  # of tiles
    columns: Size
    lanes: int
    vectors: int  # of a panel

    @property
    def spread(self) -> Size:
        """Count the spans of one tile row."""
        return ceildiv(self.columns, self.lanes)

    @property
    def panel(self) -> int:
        """Count the spans of a panel."""
        return self.vectors

    @property
    def panels(self) -> Size:
        return ceildiv(self.rows * self.spread, self.panel)

    def place(self, span: IndexExpr) -> tuple[IndexExpr, IndexExpr]:
        """Return the tile row of a span, and the column of outputs where it begins."""
        return span // self.spread, span % self.spread * (self.lanes * self.tile)


@dataclass(frozen=True)
class Layout:
    """Arrange the tiles of an image in vectors: several tile rows in one, or one in several."""

    tile: int
    rows: int  # of tiles
    columns: int
    lanes: int
    vectors: int  # of a panel

    @property
    def panels(self) -> int:
        return -(-self.rows // self.panel)

    @property
    def stacked(self) -> int:
        """Count the tile rows that share a vector."""
        return max(1, self.lanes // self.columns)

    @property
    def spread(self) -> int:
        """Count the vectors of one tile row."""
        return -(-self.columns // self.lanes)

    @property
    def panel(self) -> int:
        """Count the tile rows of a panel."""
        return self.stacked * self.vectors // self.spread

    def start(self, row: IndexExpr) -> IndexExpr:
        """Return where, along a line of finished outputs, a tile row of the panel begins."""
        across = self.lanes * self.tile
        if self.stacked == 1:
            return row * (self.spread * across)
        return (row // self.stacked) * across + (row % self.stacked) * (self.columns * self.tile)

    def place(self, number: int) -> tuple[list[int], list[int]]:
        """Return the tile row in the panel, and the tile column, of each lane of a vector."""
        base = number // self.spread * self.stacked
        first = number % self.spread * self.lanes
        rows = [base + lane // self.columns for lane in range(self.lanes)]
        columns = [lane % self.columns for lane in range(self.lanes)]
        if self.stacked == 1:
            rows, columns = [base] * self.lanes, [first + lane for lane in range(self.lanes)]
        # Surplus lanes repeat a tile; their results are not stored.
        rows = [min(row, base + self.stacked - 1) for row in rows]
        return rows, columns


def winograd_spans(tile: int, rows: Size, columns: Size, lanes: int) -> Spans:
    """Arrange the tiles of an image of symbolic sizes, whose likely sizes are given or known."""
    several = likely(rows) * -(-likely(columns) // lanes) > 1
    return Spans(tile, rows, columns, lanes, 2 if several else 1)


def winograd_layout(tile: int, rows: Size, columns: Size, lanes: int) -> Layout | Spans:
    """Arrange the tiles of an image."""
    if is_symbolic(rows) or is_symbolic(columns):
        return winograd_spans(tile, rows, columns, lanes)
    spread = -(-columns // lanes)
    stacked = max(1, lanes // columns)
    # Two vectors fill the registers best, given enough tiles.
    vectors = spread if spread > 1 else 2 if rows > stacked else 1
    return Layout(tile, rows, columns, lanes, vectors)
