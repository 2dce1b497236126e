"""The contraction template: sums of products over a depth, by register tiles and packed panels.

Rows by columns are cut into tiles that fit the vector registers. For one panel of columns at a
time the right-hand side is packed contiguously, so that the inner loop streams it; every tile of
rows then runs over the panel. Convolutions pack a panel of windows (an implicit im2col), matrix
products a panel of columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    registers = 32 if machine.vector_bytes == 64 else 16
    lanes = machine.lanes(DTYPES[dtype].bits)
    wide = registers // 4 if rows == 1 else 4 if rows <= 4 and registers == 32 else 2
    vectors = max(1, min(wide, -(-columns // lanes)))
    return Tile(min(rows, (registers - vectors - 2) // vectors), vectors, lanes)


@dataclass(frozen=True)
class Rows:
    """Name the rows of one register tile: `count` of them, from `first` on."""

    first: Index
    count: int


Left = Callable[[Rows, int, Sequence[Index]], Number]
"""Load the element of a row of a tile, by its number in the tile, at a depth."""


Fetch = Callable[[Sequence[Index]], None]

LINE = 64
"""Bytes of a cache line."""

STREAMED = 256 << 10
"""Bytes of weights that are fetched before they are needed: no first-level cache holds them."""

Multiply = Callable[[Number, Number, Number], Number]
"""Multiply an element of a row, repeated in all lanes, by a vector of a panel; add to sums."""


def multiply_add(factor: Number, vector: Number, total: Number) -> Number:
    """Multiply numbers as they are."""
    return factor.fma(vector, total)


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
class Run:
    """Count tiles of the same height; `first` says with which row each begins."""

    rows: int
    count: int
    first: Callable[[Index], Index]


@dataclass(frozen=True)
class Contraction:
    """Describe what is summed: y[row, column] = Σ left(row, depth) * panel(depth, column).

    `left` is asked for the element of a tile's row number `r` at a depth. `initial` gives what a
    row's sums start from, `finish` takes them; long before it does, `touch` hears of it. Tiles are
    some whole units of `unit` rows, or parts of one. `dtype` is that of the sums; `multiply` says
    what a product is.
    """

    rows: int
    columns: int
    depth: Shape
    dtype: str
    left: Left
    panel: Panel
    finish: Callable[[Index, Index, Number, Lanes], None]
    initial: Callable[[Index], Number] | None = None
    touch: Callable[[Index, Index], None] | None = None
    unit: int = 1
    multiply: Multiply = multiply_add

    def emit(self, tile: Tile) -> None:
        """Emit independent iterations over panels and tiles."""
        full, rest = divmod(self.columns, tile.columns)
        runs = self._runs(tile.rows)
        tiles = sum(run.count for run in runs)
        plain = [Lanes(tile.lanes)] * tile.vectors
        masks = [
            Lanes(tile.lanes, tail_mask(tile.lanes, max(0, rest - v * tile.lanes)))
            if rest < (v + 1) * tile.lanes
            else Lanes(tile.lanes)
            for v in range(-(-rest // tile.lanes))
        ]
        last = Index(full * tile.columns)

        def panel(at: list[Index]) -> list[Piece]:
            return self._panel(runs, at[0] * tile.columns, plain)

        spread(
            Section((full,), tiles, panel),
            Section((int(rest > 0),), tiles, lambda _: self._panel(runs, last, masks)),
        )

    def _runs(self, most: int) -> list[Run]:
        """Cut the rows into tiles of two heights at most."""
        unit, units = self.unit, self.rows // self.unit
        if unit <= most:
            large, small, many, few = even_split(units, most // unit)
            offset = many * large * unit
            return [
                Run(large * unit, many, lambda i: i * (large * unit)),
                Run(small * unit, few, lambda i: i * (small * unit) + offset),
            ]
        large, small, many, few = even_split(unit, most)
        return [
            Run(large, units * many, lambda i: i // many * unit + i % many * large),
            Run(small, units * few, lambda i: i // few * unit + i % few * small + many * large),
        ]

    def _panel(self, runs: Sequence[Run], start: Index, masks: Sequence[Lanes]) -> list[Piece]:
        """Prepare a panel of columns; return the tiles of rows that run over it."""
        self.panel.prepare(start, masks)
        tiles = sum(run.count for run in runs)
        pieces: list[Piece] = []
        before = 0
        for run in runs:

            def tile(i: Index, run: Run = run, before: int = before) -> None:
                fetch = self.panel.fetch_next(start, i + before, tiles)
                self._tile(run.rows, run.first(i), start, masks, fetch)

            pieces.append(Piece(run.count, tile))
            before += run.count
        return pieces

    def _tile(
        self, rows: int, first: Index, start: Index, masks: Sequence[Lanes], fetch: Fetch | None
    ) -> None:
        if self.touch is not None:
            for r in range(rows):
                for v, lanes in enumerate(masks):
                    self.touch(first + r, start + v * lanes.width)
        sums = [self._start(first + r, lanes) for r in range(rows) for lanes in masks]

        def step(depth: list[Index], sums: list[Number]) -> list[Number]:
            row = self.panel.load(depth, start, masks)
            if fetch is not None:
                fetch(depth)
            out: list[Number] = []
            for r in range(rows):
                factor = splat(self.left(Rows(first, rows), r, depth), masks[0].width)
                now = sums[r * len(masks) : (r + 1) * len(masks)]
                out += [self.multiply(factor, b, total) for b, total in zip(row, now, strict=True)]
            return out

        sums = carry_nest(self.depth, sums, step)
        for r in range(rows):
            for v, lanes in enumerate(masks):
                column = start + v * lanes.width
                self.finish(first + r, column, sums[r * len(masks) + v], lanes)

    def _start(self, row: Index, lanes: Lanes) -> Number:
        if self.initial is not None:
            return splat(self.initial(row), lanes.width)
        type_ = ir.VectorType.get([lanes.width], element_type(self.dtype))
        return Number(constant_of(0, self.dtype, type_), self.dtype)


Fill = Callable[[Buffer, Index, Sequence[Lanes]], None]
"""Emit the packing of the panel that starts at a column, into memory."""


@dataclass(frozen=True)
class PackedPanel:
    """Copy each panel to contiguous scratch memory first, by `fill`; pays off for many rows.

    `source` is the matrix that the columns are those of, if there is one.
    """

    memory: Buffer  # [depth…, columns of a tile]
    fill: Fill
    source: Buffer | None = None

    def prepare(self, start: Index, masks: Sequence[Lanes]) -> None:
        self.fill(self.memory, start, masks)

    def load(self, depth: Sequence[Index], start: Index, masks: Sequence[Lanes]) -> list[Number]:
        offsets = range(0, len(masks) * masks[0].width, masks[0].width)
        return [self.memory.load([*depth, Index(o)], Lanes(masks[0].width)) for o in offsets]

    def fetch_next(self, start: Index, tile: Index, tiles: int) -> Fetch | None:
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
    """Read panels that were packed at compile time: [panels, depth, columns of a tile].

    `depth` is the shape of what the depth of the panels runs through.
    """

    panels: Buffer
    depth: Shape

    def prepare(self, start: Index, masks: Sequence[Lanes]) -> None:
        pass

    def load(self, depth: Sequence[Index], start: Index, masks: Sequence[Lanes]) -> list[Number]:
        _, size, columns = self.panels.shape
        row = start * size + self._row(depth) * columns
        flat = self.panels.reshape((self.panels.tensor.size,))
        # Whole vectors, also where the result ends: the last panel is filled up.
        plain = Lanes(masks[0].width)
        return [flat.load([row + v * plain.width], plain) for v in range(len(masks))]

    def fetch_next(self, start: Index, tile: Index, tiles: int) -> Fetch | None:
        """Fetch as much of the next panel in each tile that all of it is there in the end."""
        panels, size, columns = self.panels.shape
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
    memory = kernel.private((matrix.shape[0], tile.columns), dtype)
    return PackedPanel(memory, copy_columns(matrix), matrix)


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
