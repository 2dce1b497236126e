"""The contraction template: sums of products over a depth, by register tiles and packed panels.

Rows by columns are cut into tiles that fit the vector registers. For one panel of columns at a
time the right-hand side is packed contiguously, so that the inner loop streams it; every tile of
rows then runs over the panel. Convolutions pack a panel of windows (an implicit im2col), matrix
products a panel of columns.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from ...dialects.core.machine import Machine
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import DTYPES, Shape
from ...dialects.cpu.packing import even_split
from .buffer import Buffer, Lanes, tail_mask, vector
from .index import Index, carry_nest, for_each
from .kernel import KernelBuilder
from .number import Number, constant_of, element_type
from .parallel import Piece, Section, spread
from .strides import row_major


@dataclass(frozen=True)
class Tile:
    """Schedule a contraction: so many rows by so many vectors of columns in registers."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def choose_tile(machine: Machine, dtype: str, rows: int, columns: int) -> Tile:
    """Fill the registers: accumulators, one row of the panel, one broadcast and one spare."""
    lanes = machine.lanes(DTYPES[dtype].bits)
    vectors = max(1, min(_most_vectors(machine, rows), -(-columns // lanes)))
    return _tall_tile(machine, rows, vectors, lanes)


def fit_tile(machine: Machine, dtype: str, rows: int, width: int) -> Tile:
    """Fill the registers of a machine from a panel that was packed `width` columns wide.

    It may have been packed for another machine: then a tile takes a part of it, and vectors may
    be shorter than the machine's.
    """
    lanes = math.gcd(width, machine.lanes(DTYPES[dtype].bits))
    count = width // lanes
    most = min(_most_vectors(machine, rows), count)
    vectors = next(v for v in range(most, 0, -1) if count % v == 0)
    return _tall_tile(machine, rows, vectors, lanes)


def _most_vectors(machine: Machine, rows: int) -> int:
    if rows == 1:
        return machine.registers // 4
    return 4 if rows <= 4 and machine.registers == 32 else 2


def _tall_tile(machine: Machine, rows: int, vectors: int, lanes: int) -> Tile:
    return Tile(min(rows, (machine.registers - vectors - 2) // vectors), vectors, lanes)


@dataclass(frozen=True)
class Rows:
    """Name rows that are stored together: `count` of them, from `first` on; one or more tiles."""

    first: Index
    count: int


Left = Callable[[Rows, int, Sequence[Index]], Number]
"""Load the element of a row, by its number in the rows that are stored together, at a depth."""


Fetch = Callable[[Sequence[Index]], None]

STREAMED = 256 << 10
"""Bytes of weights that are fetched before they are needed: no first-level cache holds them."""


class Panel(Protocol):
    """Provide the right-hand side of one panel of columns, a row of the depth at a time."""

    def prepare(self, start: Index, masks: Sequence[Lanes]) -> None:
        """Get ready for the panel that starts at a column."""
        ...

    def load(self, depth: Sequence[Index], start: Index, masks: Sequence[Lanes]) -> list[Number]:
        """Return the vectors of one row of the panel."""
        ...

    def fetch_next(self, start: Index, tile: Index, tiles: int) -> Fetch | None:
        """Return what fetches a part of the next panel from memory at each step of a tile."""
        ...


@dataclass(frozen=True)
class Contraction:
    """Describe what is summed: y[row, column] = Σ left(row, depth) * panel(depth, column).

    `left` is asked for the element of a tile's row number `r` at a depth. `initial` gives what a
    row's sums start from, `finish` takes them. `left` keeps at most `block` rows together, those of
    a tile if that is not given, and never cuts `unit` rows apart. The depth goes on through `taps`,
    without a loop.
    """

    rows: int
    columns: int
    depth: Shape
    dtype: str
    left: Left
    panel: Panel
    finish: Callable[[Index, Index, Number, Lanes], None]
    initial: Callable[[Index], Number] | None = None
    unit: int = 1
    taps: Shape = ()
    block: int | None = None

    def emit(self, tile: Tile) -> None:
        """Emit independent iterations over panels and tiles."""
        full, rest = divmod(self.columns, tile.columns)
        most = tile.rows if self.block is None else self.block
        large, small, many, few = even_split(self.rows // self.unit, max(1, most // self.unit))
        pieces = large * self.unit, small * self.unit, many, few
        plain = [Lanes(tile.lanes)] * tile.vectors
        masks = [
            Lanes(tile.lanes, tail_mask(tile.lanes, max(0, rest - v * tile.lanes)))
            if rest < (v + 1) * tile.lanes
            else Lanes(tile.lanes)
            for v in range(-(-rest // tile.lanes))
        ]
        last = Index(full * tile.columns)

        def panel(at: list[Index]) -> list[Piece]:
            return self._panel(tile, pieces, at[0] * tile.columns, plain)

        spread(
            Section((full,), many + few, panel),
            Section((int(rest > 0),), many + few, lambda _: self._panel(tile, pieces, last, masks)),
        )

    def _panel(
        self,
        tile: Tile,
        pieces: tuple[int, int, int, int],
        start: Index,
        masks: Sequence[Lanes],
    ) -> list[Piece]:
        """Prepare a panel of columns; return the tiles of rows that run over it."""
        self.panel.prepare(start, masks)
        large, small, many, few = pieces
        offset = many * large
        blocks = many + few

        def block(number: Index, count: int, first: Index) -> None:
            fetch = self.panel.fetch_next(start, number, blocks)
            self._rows(tile, Rows(first, count), start, masks, fetch)

        return [
            Piece(many, lambda i: block(i, large, i * large)),
            Piece(few, lambda i: block(i + many, small, i * small + offset)),
        ]

    def _rows(
        self, tile: Tile, rows: Rows, start: Index, masks: Sequence[Lanes], fetch: Fetch | None
    ) -> None:
        """Emit as many tiles as rows that are stored together need; the first one fetches."""
        large, small, many, few = even_split(rows.count, tile.rows)
        first = 0
        for count in [large] * many + [small] * few:
            taken = range(first, first + count)
            self._tile(rows, taken, start, masks, None if first else fetch)
            first += count

    def _tile(
        self,
        rows: Rows,
        taken: range,
        start: Index,
        masks: Sequence[Lanes],
        fetch: Fetch | None,
    ) -> None:
        sums = [self._start(rows.first + r, lanes) for r in taken for lanes in masks]

        def step(depth: list[Index], sums: list[Number]) -> list[Number]:
            row = self.panel.load(depth, start, masks)
            if fetch is not None:
                fetch(depth)
            out: list[Number] = []
            for number, r in enumerate(taken):
                factor = splat(self.left(rows, r, depth), masks[0].width)
                now = sums[number * len(masks) : (number + 1) * len(masks)]
                out += [factor.fma(b, total) for b, total in zip(row, now, strict=True)]
            return out

        def steps(depth: list[Index], sums: list[Number]) -> list[Number]:
            for tap in product(*map(range, self.taps)):
                sums = step([*depth, *map(Index, tap)], sums)
            return sums

        sums = carry_nest(self.depth, sums, steps)
        for number, r in enumerate(taken):
            for v, lanes in enumerate(masks):
                column = start + v * lanes.width
                self.finish(rows.first + r, column, sums[number * len(masks) + v], lanes)

    def _start(self, row: Index, lanes: Lanes) -> Number:
        if self.initial is not None:
            return splat(self.initial(row), lanes.width)
        type_ = ir.VectorType.get([lanes.width], element_type(self.dtype))
        return Number(constant_of(0, self.dtype, type_), self.dtype)


Fill = Callable[[Buffer, Index, Sequence[Lanes]], None]
"""Emit the packing of the panel that starts at a column, into memory."""


@dataclass(frozen=True)
class PackedPanel:
    """Copy each panel to contiguous scratch memory first, by `fill`; pays off for many rows."""

    memory: Buffer  # [depth…, columns of a tile]
    fill: Fill

    def prepare(self, start: Index, masks: Sequence[Lanes]) -> None:
        self.fill(self.memory, start, masks)

    def load(self, depth: Sequence[Index], start: Index, masks: Sequence[Lanes]) -> list[Number]:
        offsets = range(0, len(masks) * masks[0].width, masks[0].width)
        return [self.memory.load([*depth, Index(o)], Lanes(masks[0].width)) for o in offsets]

    def fetch_next(self, start: Index, tile: Index, tiles: int) -> None:
        return None


@dataclass(frozen=True)
class DirectPanel:
    """Read the right-hand side where it is: [depth, columns]; for few rows, used once each."""

    matrix: Buffer

    def prepare(self, start: Index, masks: Sequence[Lanes]) -> None:
        pass

    def load(self, depth: Sequence[Index], start: Index, masks: Sequence[Lanes]) -> list[Number]:
        return [
            self.matrix.load([*depth, start + v * lanes.width], lanes)
            for v, lanes in enumerate(masks)
        ]

    def fetch_next(self, start: Index, tile: Index, tiles: int) -> None:
        return None


@dataclass(frozen=True)
class StoredPanel:
    """Read panels that were packed at compile time: [panels, depth, columns of a panel].

    `depth` is the shape of what the depth of the panels runs through; `tile` takes all columns of
    a panel or a part of them.
    """

    panels: Buffer
    depth: Shape
    tile: Tile

    def prepare(self, start: Index, masks: Sequence[Lanes]) -> None:
        pass

    def load(self, depth: Sequence[Index], start: Index, masks: Sequence[Lanes]) -> list[Number]:
        _, size, columns = self.panels.shape
        place = start * size
        if self.tile.columns != columns:
            place = (start // columns) * (size * columns) + start % columns
        row = place + self._row(depth) * columns
        flat = self.panels.reshape((self.panels.tensor.size,))
        # Whole vectors, also where the result ends: the last panel is filled up.
        plain = Lanes(masks[0].width)
        return [flat.load([row + v * plain.width], plain) for v in range(len(masks))]

    def fetch_next(self, start: Index, tile: Index, tiles: int) -> Fetch | None:
        """Fetch as much of the next panel in each tile that all of it is there in the end."""
        panels, size, columns = self.panels.shape
        if self.tile.columns != columns:
            return None
        if tiles < 2 or panels < 2 or self.panels.tensor.size_bytes < STREAMED:
            return None
        share = -(-columns // tiles)
        first = (start + columns) * size + tile * (size * share)
        return lambda depth: self.panels.prefetch(first + self._row(depth) * share)

    def _row(self, depth: Sequence[Index]) -> Index:
        row = Index(0)
        for index, stride in zip(depth, row_major(self.depth), strict=True):
            row = row + index * stride
        return row


def matrix_panel(kernel: KernelBuilder, matrix: Buffer, dtype: str, rows: int, tile: Tile) -> Panel:
    """Choose how to read a matrix [depth, columns], any strides: in place or packed."""
    if rows <= tile.rows:
        return DirectPanel(matrix)
    return PackedPanel(kernel.private((matrix.shape[0], tile.columns), dtype), copy_columns(matrix))


def copy_columns(matrix: Buffer) -> Fill:
    """Fill panels with the columns of a matrix in memory."""

    def fill(memory: Buffer, start: Index, masks: Sequence[Lanes]) -> None:
        def row(k: Index) -> None:
            for v, lanes in enumerate(masks):
                loaded = matrix.load([k, start + v * lanes.width], lanes)
                memory.store(loaded, [k, Index(v * lanes.width)], Lanes(lanes.width))

        for_each(matrix.shape[0], row)

    return fill


def packed_rows(weights: Buffer, depth: int) -> Left:
    """Return the `left` of weights that `pack_rows` packed; for a depth of one index."""

    def left(rows: Rows, r: int, at: Sequence[Index]) -> Number:
        return weights.load([rows.first * depth + at[0] * rows.count + r])

    return left


def splat(number: Number, width: int) -> Number:
    """Repeat a scalar in all lanes of a vector."""
    type_ = ir.VectorType.get([width], number.value.type)
    return number.with_value(vector.broadcast(type_, number.value))
