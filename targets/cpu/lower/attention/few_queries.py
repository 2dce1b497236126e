"""Attention of a few queries to a cache, which reads each row once, where it is.

Scores are products along rows, for all queries that share a head of keys. Chunks of rows are
independent iterations, which leave what they have in scratch.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .....dialects.core.sizes.atoms import Size, is_symbolic
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.epilogue import each_vector
from ...kernels.index import IndexExpr, carry, for_each, rolled, when, when_else
from ...kernels.loops import Piece, Section, cut, spread
from ...kernels.products.contraction import splat
from ...kernels.products.row_products import (
    Columns,
    columns_of,
    prefetch_row,
    row_products,
    rows_from,
)
from ...kernels.value import Value
from .chunks import CHUNK, SIDE_BY_SIDE, ChunkedAttention, Totals

SCORED = 2
"""Queries that share what is loaded of a row of keys: more of their sums are not in registers."""

MIXED = 4
"""The most queries that share what is loaded of a row of values."""


class FewQueries(ChunkedAttention):
    """Attend from at most some queries of a head."""

    def __init__(self, *operands: Any, most: int) -> None:
        super().__init__(*operands)
        count = self.shared * most
        made = (self.batch, self.groups, self.chunks, count)
        self.sums = self.kernel.scratch((*made, self.width), self.dtype)
        self.highest = self.kernel.scratch(made, self.dtype)
        self.totals = self.kernel.scratch(made, self.dtype)
        self.scores = self.kernel.private((count, CHUNK), self.dtype)

    def emit(self, wanted: Size) -> None:
        shape = (self.batch, self.groups, self.chunks)
        spread(Section(shape, 1, lambda at: [Piece(1, lambda _: self._chunk(at))]).only_if(wanted))
        rows = (self.batch, self.groups * self.shared, self.queries)
        spread(Section(rows, 1, lambda at: [Piece(1, lambda _: self._join(at))]).only_if(wanted))

    # -- a chunk ------------------------------------------------------------------------------

    def _chunk(self, at: Sequence[IndexExpr]) -> None:
        """Attend to the rows of a chunk that some query sees, if there are any."""
        start, begin = self.start(at[0]), at[2] * CHUNK
        first, end = self.rows_seen(start, start + (IndexExpr(self.queries) - 1))
        first, end = first.maximum(begin), end.minimum(begin + CHUNK)
        when_else(
            first.less(end),
            lambda: self._attend(at, start, begin, first, end),
            lambda: self._clear(at),
        )

    def _clear(self, at: Sequence[IndexExpr]) -> None:
        for_each(self.numbers, lambda number: self._keep_nothing([*at, number]))

    def _keep_nothing(self, at: Sequence[IndexExpr]) -> None:
        nothing = self.nothing()
        self.highest.store(nothing.highest, at)
        self.totals.store(nothing.total, at)
        each_vector(
            (self.width,),
            self.lanes,
            lambda i, lanes: self.sums.store(zero(self.dtype, lanes), [*at, *i], lanes),
        )

    def _attend(
        self,
        at: Sequence[IndexExpr],
        start: IndexExpr,
        begin: IndexExpr,
        first: IndexExpr,
        end: IndexExpr,
    ) -> None:
        head = at[:2]
        q, keys, values = self.q.part(head), self.k.part(head), self.v.part(head)
        skipped = (first - begin) // self.lanes * self.lanes
        count = end - begin
        self.take_scales(head, begin, count)
        self._score(q, rows_from(keys, begin), (skipped, count))
        self.hide(
            self.scores,
            lambda number: start + number % self.queries,
            IndexExpr(self.numbers),
            (start, start + (IndexExpr(self.queries) - 1)),
            begin,
            (skipped, count),
        )

        def highest(number: IndexExpr) -> None:
            top = self.highest_score(self.scores, number, skipped, count)
            self.highest.store(top, [*at, number])

        def exponentiate(number: IndexExpr) -> None:
            top = self.highest.load([*at, number])
            total = self.exponentiate(self.scores, number, skipped, count, top)
            self.totals.store(total, [*at, number])

        for_each(self.numbers, highest)
        for_each(self.numbers, exponentiate)
        span = first - begin, count
        self._each_block(
            min(self.mixed, MIXED) or MIXED,
            lambda taken: self.mix(
                rows_from(values, begin),
                self.scores,
                taken,
                span,
                lambda number, column, value, lanes: self.sums.store(
                    value, [*at, number, column], lanes
                ),
            ),
        )

    def _each_block(self, size: int, body: Callable[[list[IndexExpr]], None]) -> None:
        """Emit code for each few of the numbered queries, and for each number that may be left."""
        full, rest, _ = cut(self.numbers, size)
        for_each(full, lambda i: body([i * size + r for r in range(size)]))

        def left(count: int) -> None:
            body([IndexExpr(full * size) + r for r in range(count)])

        if not is_symbolic(rest):
            if rest:
                left(int(rest))
            return
        for count in range(1, size):
            when(IndexExpr(rest).equal(count), lambda count=count: left(count))

    def _score(self, q: Buffer, keys: Buffer, span: tuple[IndexExpr, IndexExpr]) -> None:
        """Store the scores of queries, a vector of rows at a time."""
        first, end = span
        whole = end // self.lanes * self.lanes

        def block(row: IndexExpr, last: IndexExpr | None) -> None:
            rows = [row + lane for lane in range(self.lanes)]
            for each in rows:
                prefetch_row(keys, each)
            if last is not None:
                rows = [each.minimum(last) for each in rows]

            def score(numbers: Sequence[IndexExpr]) -> None:
                products = row_products(q, numbers, keys, rows)
                for number, product in zip(numbers, products, strict=True):
                    scores = self.score_of(product, row)
                    self.scores.store(scores, [number, row], Lanes(self.lanes))

            with rolled():
                self._each_block(SCORED, score)

        for_each(whole, lambda row: block(row, None), step=self.lanes, start=first)
        for_each(end, lambda row: block(row, end - 1), step=self.lanes, start=whole)

    # -- all chunks ---------------------------------------------------------------------------

    def _join(self, at: Sequence[IndexExpr]) -> None:
        """Put the chunks of a query together."""
        entry, head, query = at
        group, member = head // self.shared, head % self.shared
        number = member * self.queries + query
        vectors = columns_of(self.width, self.lanes)
        for part in range(0, len(vectors), SIDE_BY_SIDE):
            taken = vectors[part : part + SIDE_BY_SIDE]

            def step(chunk: IndexExpr, now: list[Value], taken: Columns = taken) -> list[Value]:
                place = [entry, group, chunk, number]
                made = Totals(self.highest.load(place), self.totals.load(place))
                found, mine, theirs = Totals(*now[:2]).merged(made)
                by, other = splat(mine, self.lanes), splat(theirs, self.lanes)
                loaded = [self.sums.load([*place, IndexExpr(c)], lanes) for c, lanes in taken]
                sums = [other.fma(v, s * by) for v, s in zip(loaded, now[2:], strict=True)]
                return [found.highest, found.total, *sums]

            nothing = self.nothing()
            none = [zero(self.dtype, Lanes(self.lanes))] * len(taken)
            highest, total, *sums = carry(
                self.chunks, [nothing.highest, nothing.total, *none], step
            )
            factor = splat(Totals(highest, total).factor, self.lanes)
            for (column, lanes), made in zip(taken, sums, strict=True):
                self.y.store(made * factor, [*at, IndexExpr(column)], lanes)
