"""The layout of the tiles of a Winograd convolution in vectors."""

from dataclasses import dataclass

from ..kernels.index import IndexExpr

MOST_TILES = 56
"""The most tiles of a blocked image that are transformed at a time; each reuses a kernel."""

MOST_BYTES = 4 << 20
"""The most bytes of their transforms, which each panel reads again, from a cache."""


def tiles_at_a_time(points: int, channels: int) -> int:
    """Return the number of tiles of a blocked image that are transformed, then multiplied."""
    return min(MOST_TILES, max(1, MOST_BYTES // (points * channels * 4)))


@dataclass(frozen=True)
class Layout:
    """Arrange the tiles of an image in vectors: several tile rows in one, or one in several."""

    tile: int
    rows: int  # of tiles
    columns: int
    lanes: int
    vectors: int  # of a panel

    @property
    def stacked(self) -> int:
        """Count the tile rows that share a vector."""
        return max(1, self.lanes // self.columns)

    @property
    def spread(self) -> int:
        """Count the vectors that one tile row takes."""
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


def winograd_layout(tile: int, rows: int, columns: int, lanes: int) -> Layout:
    spread = -(-columns // lanes)
    stacked = max(1, lanes // columns)
    # Two vectors fill the registers best, given enough tiles.
    vectors = spread if spread > 1 else 2 if rows > stacked else 1
    return Layout(tile, rows, columns, lanes, vectors)
