"""The contraction template: sums of products over a depth, by register tiles and packed panels.

Rows by columns are cut into tiles that fit the vector registers. For one panel of columns at a
time the right-hand side is packed contiguously, so that the inner loop streams it; every tile of
rows then runs over the panel. Convolutions pack a panel of windows (an implicit im2col), matrix
products a panel of columns.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.sizes.limits import at_least
from .....dialects.core.tensor import Shape
from .....dialects.cpu.packing import even_split
from ...schedule.tiles import Tile
from ..buffer import Buffer, Lanes, tail_mask, vector, zero
from ..index import Carried, IndexExpr, Span, greatest, is_equal, ravel, when
from ..loops import Piece, Section, each, spread
from ..runs import Rows, Run, cut_rows
from ..value import Value
from .panels import Fetch, Panel

Left = Callable[[Rows, int, Sequence[IndexExpr]], Value]
"""Load the element of a row, by its number in the rows that are stored together, at a depth."""

Finish = Callable[[IndexExpr, IndexExpr, Value, Lanes], Value | None]
"""Store a vector of sums, given its row and its first column; may return what it stored."""

FinishRow = Callable[[IndexExpr, Sequence[Value]], None]
"""Go on with the vectors of a row that were stored, those of one tile."""

Multiply = Callable[[Value, Value, Value], Value]
"""Multiply an element of a row, repeated in all lanes, by a vector of a panel; add to sums."""


def multiply_add(factor: Value, vector: Value, total: Value) -> Value:
    """Multiply numbers as they are."""
    return factor.fma(vector, total)


PACE = 8
"""Steps for each vector that is touched, or fewer where half of the depth has too few for a tile.

So long a cache line takes from memory.
"""


@dataclass(frozen=True)
class Contraction:
    """Describe a contraction: y[row, column] = Σ left(row, depth) * panel(depth, column).

    `left` loads the element of row `r` of a tile at a depth. `initial` loads the initial sum of a
    row, `bias` those of columns; `finish` stores the sums; `finish_row` is given what it returned
    for a row of a tile. At each depth, `ahead` may prefetch elements of later depths, and `touch`
    the memory for which `finish` will be called at a row and a column, one vector after the other.
    Panels that begin at the column `reach` or behind it are passed over. With `near`, all panels go
    over so many rows before others are read: they are kept near, and the panels come from far.
    `left` stores at most `block` rows together (those of a tile by default): whole units of `unit`
    rows, or a part of one. Up to `once` rows read a panel once, though they may be more than a tile
    has: it comes from far. `dtype` is the type of the sums; `multiply` emits a multiply-add. `seen`
    returns the part of the depth that counts for some of the rows that are stored together: the
    elements of others are zero there.
    """

    rows: Size
    columns: Size
    depth: Shape
    dtype: str
    left: Left
    panel: Panel
    finish: Finish
    initial: Callable[[IndexExpr], Value] | None = None
    bias: Callable[[IndexExpr, Lanes], Value] | None = None
    touch: Callable[[IndexExpr, IndexExpr], None] | None = None
    ahead: Callable[[Rows, Sequence[IndexExpr]], None] | None = None
    unit: Size = 1
    block: int | None = None
    once: int = 0
    multiply: Multiply = multiply_add
    seen: Callable[[Rows, range], Sequence[Size | Span]] | None = None
    finish_row: FinishRow | None = None
    reach: IndexExpr | None = None
    near: int = 0

    def emit(self, tile: Tile) -> None:
        """Emit independent iterations over panels and tiles."""
        spread(*self.own_sections(tile))

    def own_sections(self, tile: Tile) -> list[Section]:
        """Return the iterations of this contraction alone."""
        return self.sections(tile, (), lambda _: self)

    def sections(
        self, tile: Tile, shape: Shape, make: "Callable[[list[IndexExpr]], Contraction]"
    ) -> list[Section]:
        """Return the iterations of the contractions that `make` returns for indices of a shape.

        All of them have the sizes of this one.
        """
        if not self.near or is_symbolic(self.rows):
            return self._sections(tile, shape, make, self.rows)
        even = ceildiv(self.rows, ceildiv(self.rows, self.near))
        some = ceildiv(even, tile.rows) * tile.rows
        many, rest = divmod(self.rows, some)
        return [
            *self._sections(tile, shape, make, some, many),
            *self._sections(tile, shape, make, rest, 1, many * some),
        ]

    def _sections(
        self,
        tile: Tile,
        shape: Shape,
        make: "Callable[[list[IndexExpr]], Contraction]",
        rows: Size,
        times: int = 1,
        first: int = 0,
    ) -> list[Section]:
        """Return the iterations of so many rows at a time, from a first one on."""
        full, rest = divmod(self.columns, tile.columns)
        most = tile.rows if self.block is None else self.block
        runs = cut_rows(rows, self.unit, most, self.once)
        blocks = sum(run.count for run in runs)
        plain = [Lanes(tile.lanes)] * tile.vectors
        last = IndexExpr(full * tile.columns)
        places = shape if times == 1 else (*shape, times)

        def pieces(
            at: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
        ) -> list[Piece]:
            base = IndexExpr(first) if times == 1 else at[-1] * rows + first
            return make([*at[: len(shape)]])._panel(tile, runs, base, start, masks)

        def last_panel(masks: Sequence[Lanes]) -> Callable[[list[IndexExpr]], list[Piece]]:
            return lambda at: pieces(at[:-1], last, masks)

        return [
            Section(
                (*places, full), blocks, lambda at: pieces(at[:-1], at[-1] * tile.columns, plain)
            ),
            *(
                Section((*places, some), blocks, last_panel(masks))
                for some, masks in self._last_panels(tile, rest)
            ),
        ]

    def _last_panels(self, tile: Tile, rest: Size) -> list[tuple[Size, list[Lanes]]]:
        """Return the masks of the last panel, and whether it exists (1 or 0).

        Where that is known when the kernel runs, it has as many vectors as it needs then: there is
        code for each number of them.
        """
        if not is_symbolic(rest):
            return [(int(rest > 0), _masks(tile.lanes, rest, -(-rest // tile.lanes)))]
        needed = ceildiv(rest, tile.lanes)
        return [
            (is_equal(needed, count), _masks(tile.lanes, rest, count))
            for count in range(1, tile.vectors + 1)
        ]

    def _panel(
        self,
        tile: Tile,
        runs: Sequence[Run],
        base: IndexExpr,
        start: IndexExpr,
        masks: Sequence[Lanes],
    ) -> list[Piece]:
        """Prepare a panel of columns; return the tiles of rows, from a base on, that go over it."""
        self.panel.prepare(start, masks)
        blocks = sum(run.count for run in runs)
        pieces: list[Piece] = []
        before: Size = 0
        for run in runs:

            def block(i: IndexExpr, run: Run = run, before: Size = before) -> None:
                fetch = self.panel.fetch_next(start, i + before, blocks)
                run.emit(i, lambda rows: self._block(tile, rows.behind(base), start, masks, fetch))

            def wanted(i: IndexExpr, block: Callable[[IndexExpr], None] = block) -> None:
                if self.reach is None:
                    block(i)
                else:
                    when(start.less(self.reach), lambda: block(i))

            pieces.append(Piece(run.count, wanted))
            before += run.count
        return pieces

    def _block(
        self, tile: Tile, rows: Rows, start: IndexExpr, masks: Sequence[Lanes], fetch: Fetch | None
    ) -> None:
        """Emit as many tiles as rows that are stored together need; the first one fetches."""
        large, small, many, few = even_split(rows.count, max(tile.rows, self.once))
        first = 0
        for count in [large] * many + [small] * few:
            taken = range(first, first + count)
            self._tile(rows, taken, start, masks, None if first else fetch)
            first += count

    def _tile(
        self,
        rows: Rows,
        taken: range,
        start: IndexExpr,
        masks: Sequence[Lanes],
        fetch: Fetch | None,
    ) -> None:
        sums = self.accumulate(rows, taken, start, masks, fetch)
        for number, r in enumerate(taken):
            stored: list[Value | None] = []
            for v, lanes in enumerate(masks):
                column = start + v * lanes.width
                total = sums[number * len(masks) + v]
                stored.append(self.finish(rows.first + r, column, total, lanes))
            if self.finish_row is not None:
                self.finish_row(rows.first + r, [value for value in stored if value is not None])

    def accumulate(
        self,
        rows: Rows,
        taken: range,
        start: IndexExpr,
        masks: Sequence[Lanes],
        fetch: Fetch | None,
    ) -> Carried:
        """Emit the loops over the depth of a tile; return its sums, those of a row together."""

        def step(
            depth: Sequence[IndexExpr], row: Sequence[Value], sums: list[Value]
        ) -> list[Value]:
            if fetch is not None:
                fetch(depth)
            if self.ahead is not None:
                self.ahead(rows, depth)
            if self.touch is not None:
                r, v = self._touched(depth, len(taken), len(masks))
                self.touch(rows.first + taken.start + r, start + v * masks[0].width)
            out: list[Value] = []
            for number, r in enumerate(taken):
                factor = splat(self.left(rows, r, depth), masks[0].width)
                now = sums[number * len(masks) : (number + 1) * len(masks)]
                out += [self.multiply(factor, b, total) for b, total in zip(row, now, strict=True)]
            return out

        sums = self._start(rows, taken, start, masks)
        depth = self.depth if self.seen is None else self.seen(rows, taken)
        return self.panel.each_row(depth, start, masks, sums, step)

    def _touched(
        self, depth: Sequence[IndexExpr], rows: int, vectors: int
    ) -> tuple[IndexExpr, IndexExpr]:
        """Return which row and vector of a tile is touched at a depth: one after the other.

        All at once, prefetches would wait for each other, and what is multiplied for them.
        """
        steps = math.prod(self.depth)
        pace = 1 if is_symbolic(steps) else max(1, min(PACE, steps // (2 * rows * vectors)))
        step = ravel(depth, self.depth) // pace
        return (step // vectors).minimum(rows - 1), step % vectors

    def _start(
        self, rows: Rows, taken: range, start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        """Return the initial sums of a tile, those of a row together."""
        if self.bias is not None:
            columns = [self.bias(start + v * lanes.width, lanes) for v, lanes in enumerate(masks)]
            return columns * len(taken)
        if self.initial is None:
            return [zero(self.dtype, lanes) for _ in taken for lanes in masks]
        return [splat(self.initial(rows.first + r), lanes.width) for r in taken for lanes in masks]


def emit_each(shape: Shape, make: Callable[[list[IndexExpr]], Contraction], tile: Tile) -> None:
    """Emit a contraction for each index of a shape; all of them have the same sizes.

    Threads share the work inside of each if there may be few: `make` then emits no loops.
    """
    if any(map(is_symbolic, shape)):
        spread(*make([IndexExpr(0)] * len(shape)).sections(tile, shape, make))
    else:
        each(shape, lambda at: make(at).emit(tile))


def _masks(lanes: int, rest: Size, vectors: int) -> list[Lanes]:
    """Return the lanes of some vectors, of which the first `rest` ones count."""
    return [
        Lanes(lanes)
        if at_least(rest, (v + 1) * lanes)
        else Lanes(lanes, tail_mask(lanes, greatest(rest - v * lanes, 0)))
        for v in range(vectors)
    ]


def packed_rows(weights: Buffer, depth: int) -> Left:
    """Return the `left` of weights that `pack_rows` packed; for a depth of one index."""

    def left(rows: Rows, r: int, at: Sequence[IndexExpr]) -> Value:
        return weights.load([rows.first * depth + at[0] * rows.count + r])

    return left


def splat(value: Value, width: int) -> Value:
    """Repeat a scalar in all lanes of a vector."""
    type_ = ir.VectorType.get([width], value.ssa.type)
    return value.with_ssa(vector.broadcast(type_, value.ssa))
