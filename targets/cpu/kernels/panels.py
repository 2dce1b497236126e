"""Panels: the right-hand side of a contraction, some columns at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ....dialects.core.tensor import DTYPES, Shape
from ...strides import row_major
from ..schedule.tiles import Tile
from .buffer import Buffer, Lanes
from .builder import KernelBuilder
from .conversion import convert
from .index import IndexExpr, for_each
from .value import Value

Fetch = Callable[[Sequence[IndexExpr]], None]

LINE = 64
"""Bytes of a cache line."""

STREAMED = 256 << 10
"""Bytes of weights that are fetched before they are needed: no first-level cache holds them."""


class Panel(Protocol):
    """Provide the right-hand side of one panel of columns, a row of the depth at a time."""

    def prepare(self, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        """Get ready for the panel that starts at a column."""
        ...

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        """Return the vectors of one row of the panel."""
        ...

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: int) -> Fetch | None:
        """Return what fetches a part of the next panel from memory at each step of a tile."""
        ...


Fill = Callable[[Buffer, IndexExpr, Sequence[Lanes]], None]
"""Emit the packing of the panel that starts at a column, into memory."""


@dataclass(frozen=True)
class PackedPanel:
    """Copy each panel to contiguous scratch memory first, by `fill`; pays off for many rows.

    `source` is the matrix that the columns are those of, if there is one.
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

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: int) -> Fetch | None:
        """Fetch a cache line of each row of the next panel in each tile."""
        source, columns = self.source, self.memory.shape[-1]
        if source is None or source.strides[-1] != 1 or source.tensor.size_bytes < STREAMED:
            return None
        line = LINE * 8 // DTYPES[source.dtype].bits
        column = start + columns + (tile % max(1, columns // line)) * line
        return lambda depth: source.prefetch(source.position([depth[0], column]))


@dataclass(frozen=True)
class DirectPanel:
    """Read the right-hand side where it is: [depth, columns]; for few rows, used once each."""

    matrix: Buffer

    def prepare(self, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        pass

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        return [
            self.matrix.load([*depth, start + v * lanes.width], lanes)
            for v, lanes in enumerate(masks)
        ]

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: int) -> None:
        return None


@dataclass(frozen=True)
class StoredPanel:
    """Read panels that were packed at compile time: [panels, depth, columns of a panel].

    `depth` is the shape of what the depth of the panels runs through; `tile` takes all columns of
    a panel or a part of them. Column 0 is the first one of panel `first`. Where few tiles run over
    a panel, `ahead` says how many elements before it is read a weight is fetched. Weights of
    another type become `dtype` as they are read, if that is given.
    """

    panels: Buffer
    depth: Shape
    tile: Tile
    first: IndexExpr = field(default_factory=lambda: IndexExpr(0))
    ahead: int = 0
    dtype: str = ""

    def prepare(self, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        pass

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        _, size, columns = self.panels.shape
        start = self.first * columns + start
        place = start * size
        if self.tile.columns != columns:
            place = (start // columns) * (size * columns) + start % columns
        row = place + self._row(depth) * columns
        flat = self.panels.reshape((self.panels.tensor.size,))
        # Whole vectors, also where the result ends: the last panel is filled up.
        plain = Lanes(masks[0].width)
        if self.ahead and self._streams:
            for v in range(len(masks)):
                self.panels.prefetch(row + (v * plain.width + self.ahead))
        loaded = [flat.load([row + v * plain.width], plain) for v in range(len(masks))]
        return [convert(value, self.dtype) if self.dtype else value for value in loaded]

    def fetch_next(self, start: IndexExpr, tile: IndexExpr, tiles: int) -> Fetch | None:
        """Fetch as much of the next panel in each tile that all of it is there in the end."""
        panels, size, columns = self.panels.shape
        if self.tile.columns != columns or self.ahead:
            return None
        if tiles < 2 or panels < 2 or not self._streams:
            return None
        share = -(-columns // tiles)
        first = (start + columns) * size + tile * (size * share)
        return lambda depth: self.panels.prefetch(first + self._row(depth) * share)

    @property
    def _streams(self) -> bool:
        return self.panels.tensor.size_bytes >= STREAMED

    def _row(self, depth: Sequence[IndexExpr]) -> IndexExpr:
        row = IndexExpr(0)
        for index, stride in zip(depth, row_major(self.depth), strict=True):
            row = row + index * stride
        return row


def matrix_panel(kernel: KernelBuilder, matrix: Buffer, dtype: str, rows: int, tile: Tile) -> Panel:
    """Choose how to read a matrix [depth, columns], any strides: in place or packed."""
    if rows <= tile.rows:
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
