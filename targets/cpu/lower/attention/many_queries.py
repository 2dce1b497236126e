"""Attention of many queries to a cache, whose keys are transposed once for each head of keys.

Blocks of queries are independent iterations, which go through the chunks of rows in order. Scores
and sums of a block are kept in the near caches.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .....dialects.core.sizes.dim import ceildiv
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.epilogue import each_vector
from ...kernels.index import IndexExpr, for_each, index_of
from ...kernels.loops import Piece, Section, cut
from ...kernels.products.contraction import splat
from ...kernels.products.row_products import ColumnProducts, columns_of, rows_from
from ...kernels.transposition import transpose_registers
from ...schedule.tiles import most_rows
from .chunks import CHUNK, SIDE_BY_SIDE, ChunkedAttention, Totals

BLOCK = 32
"""About how many queries share what is read of rows."""

ROWS = 6
"""Queries whose products with some rows are in registers."""

VECTORS = 1
"""Vectors of transposed rows whose products with some queries are in registers."""


class ManyQueries(ChunkedAttention):
    """Attend from any number of queries."""

    def __init__(self, *operands: Any) -> None:
        super().__init__(*operands)
        machine = self.kernel.machine
        self.rows = most_rows(machine, SIDE_BY_SIDE)
        self.block = ceildiv(BLOCK, self.rows) * self.rows
        self.strip = VECTORS * self.lanes
        padded = ceildiv(self.size, self.lanes) * self.lanes
        strips = ceildiv(self.op.rows, self.strip)
        private, spare = self.kernel.private, ceildiv(self.block, ROWS) * ROWS
        self.left = private((spare, padded), self.dtype)
        self.keys = private((strips, padded, self.strip), self.dtype)
        partial = ColumnProducts.partial_shape(ROWS * VECTORS, self.lanes)
        self.products = ColumnProducts(self.left, private(partial, self.dtype), self.lanes)
        self.places = private((spare,), "i64")
        self.scores = private((spare, CHUNK), self.dtype)
        self.sums = private((spare, self.width), self.dtype)
        self.totals, self.highest, self.mine, self.theirs = (
            private((ceildiv(spare, self.lanes) * self.lanes,), self.dtype) for _ in range(4)
        )

    def section(self) -> Section:
        """Return the iterations over all blocks of queries."""
        full, _, tails = cut(self.numbers, self.block)
        return Section((self.batch, self.groups), full + tails, self._head)

    def _head(self, at: Sequence[IndexExpr]) -> list[Piece]:
        """Transpose the keys of a head; return its blocks of queries."""
        full, _, tails = cut(self.numbers, self.block)
        start = self.start(at[0])
        first, end = self.rows_seen(start, start + (IndexExpr(self.queries) - 1))
        self._transpose(self.k.part(at), first // self.strip, end)
        return [Piece(full + tails, lambda i: self._block(at, start, i * self.block))]

    def _transpose(self, keys: Buffer, first: IndexExpr, end: IndexExpr) -> None:
        """Store rows as strips of some vectors of them, from a strip on."""

        def vector(row: IndexExpr) -> None:
            places = [(row + lane).minimum(end - 1) for lane in range(self.lanes)]
            for column, lanes in columns_of(self.size, self.lanes):
                loaded = [
                    keys.load([place, IndexExpr(column)], lanes).cast(self.dtype)
                    for place in places
                ]
                for i, made in enumerate(transpose_registers(loaded, self.lanes)):
                    at = [row // self.strip, IndexExpr(column + i), row % self.strip]
                    self.keys.store(made, at, Lanes(self.lanes))

        for_each(end, vector, step=self.lanes, start=first * self.strip)

    def _block(self, at: Sequence[IndexExpr], start: IndexExpr, first: IndexExpr) -> None:
        """Attend from the queries of a block to all chunks that some of these see."""
        count = (IndexExpr(self.numbers) - first).minimum(self.block)
        last = first + count - 1
        is_one = (first // self.queries).equal(last // self.queries)
        lowest = start + (first % self.queries).select(is_one, 0)
        highest = start + (last % self.queries).select(is_one, IndexExpr(self.queries) - 1)
        begin, end = self.rows_seen(lowest, highest)
        for_each(count, lambda i: self._prepare(self.q.part(at), start, first + i, i))
        for_each(
            (end + (CHUNK - 1)) // CHUNK,
            lambda chunk: self._chunk(at, count, chunk * CHUNK, end, (lowest, highest)),
            start=begin // CHUNK,
        )
        for_each(count, lambda i: self._finish(at, first + i, i))

    def _prepare(self, q: Buffer, start: IndexExpr, number: IndexExpr, i: IndexExpr) -> None:
        """Copy a query, whose numbers are read one by one; it has seen nothing yet."""
        self.places.store((start + number % self.queries).to_value("i64"), [i])
        for column, lanes in columns_of(self.size, self.lanes):
            loaded = q.load([number, IndexExpr(column)], lanes)
            self.left.store(loaded, [i, IndexExpr(column)], Lanes(self.lanes))
        nothing = self.nothing()
        self.highest.store(nothing.highest, [i])
        self.totals.store(nothing.total, [i])
        self._each_vector(lambda j, lanes: self.sums.store(zero(self.dtype, lanes), [i, *j], lanes))

    def _chunk(
        self,
        at: Sequence[IndexExpr],
        count: IndexExpr,
        begin: IndexExpr,
        end: IndexExpr,
        places: tuple[IndexExpr, IndexExpr],
    ) -> None:
        rows = (end - begin).minimum(CHUNK)
        self.take_scales(at, begin, rows)

        def score(row: IndexExpr) -> None:
            strip = self.keys.part([(begin + row) // self.strip])

            def tile(i: IndexExpr) -> None:
                products = self.products.of([i + r for r in range(ROWS)], strip)
                for number, product in enumerate(products):
                    r, v = divmod(number, VECTORS)
                    column = row + v * self.lanes
                    scores = self.score_of(product, column)
                    self.scores.store(scores, [i + r, column], Lanes(self.lanes))

            for_each(count, tile, step=ROWS)

        for_each(rows, score, step=self.strip)
        self.hide(
            self.scores,
            lambda i: index_of(self.places.load([i])),
            count,
            places,
            begin,
            (IndexExpr(0), rows),
        )
        for_each(count, lambda i: self._find_highest(i, rows))
        for_each(count, lambda i: self._exponentiate(i, rows))
        for_each(count, self._merge, step=self.lanes)
        values = rows_from(self.v.part(at), begin)
        for_each(
            count,
            lambda i: self.mix(
                values,
                self.scores,
                [i + r for r in range(self.rows)],
                (IndexExpr(0), rows),
                self._add,
            ),
            step=self.rows,
        )

    def _find_highest(self, i: IndexExpr, rows: IndexExpr) -> None:
        self.mine.store(self.highest_score(self.scores, i, IndexExpr(0), rows), [i])

    def _exponentiate(self, i: IndexExpr, rows: IndexExpr) -> None:
        total = self.exponentiate(self.scores, i, IndexExpr(0), rows, self.mine.load([i]))
        self.theirs.store(total, [i])

    def _merge(self, i: IndexExpr) -> None:
        """Put a chunk to earlier ones, for neighbouring queries; keep the factors of sums."""
        lanes = Lanes(self.lanes)
        made, now = (
            Totals(*(x.load([i], lanes) for x in pair))
            for pair in ((self.mine, self.theirs), (self.highest, self.totals))
        )
        found, mine, theirs = now.merged(made)
        for buffer, value in (
            (self.highest, found.highest),
            (self.totals, found.total),
            (self.mine, mine),
            (self.theirs, theirs),
        ):
            buffer.store(value, [i], lanes)

    def _add(self, i: IndexExpr, column: IndexExpr, value: Any, lanes: Lanes) -> None:
        """Add the sums of values of a chunk to those of earlier ones."""
        mine, theirs = (splat(x.load([i]), self.lanes) for x in (self.mine, self.theirs))
        now = self.sums.load([i, column], lanes)
        self.sums.store(theirs.fma(value, now * mine), [i, column], lanes)

    def _finish(self, at: Sequence[IndexExpr], number: IndexExpr, i: IndexExpr) -> None:
        """Store the result of a query."""
        head = at[1] * self.shared + number // self.queries
        place = [at[0], head, number % self.queries]
        found = Totals(self.highest.load([i]), self.totals.load([i]))
        factor = splat(found.factor, self.lanes)
        for column, lanes in columns_of(self.width, self.lanes):
            made = self.sums.load([i, IndexExpr(column)], lanes) * factor
            self.y.store(made, [*place, IndexExpr(column)], lanes)

    def _each_vector(self, body: Callable[[list[IndexExpr], Lanes | None], None]) -> None:
        each_vector((self.width,), self.lanes, body)
