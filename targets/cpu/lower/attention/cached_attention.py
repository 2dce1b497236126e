"""Lowering of attention to a cache.

A few queries read each row once, where it is: scores are products along rows, for all queries that
share a head of keys. Chunks of rows are independent, and cut at absolute positions, so that results
are the same for any number of threads. Where there are more queries, keys are transposed, and
blocks of queries run over all of them.
"""

import math
from collections.abc import Callable, Sequence

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.checks import need_static
from .....dialects.core.sizes.dim import ceildiv
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.functions.approximation import exp
from ...kernels.index import IndexExpr, carry, for_each, index_of, least, when_else
from ...kernels.loops import Piece, Section, cut, spread
from ...kernels.products.contraction import splat
from ...kernels.products.row_products import (
    Columns,
    columns_of,
    prefetch_row,
    row_products,
    rows_from,
)
from ...kernels.reduction import Reduction
from ...kernels.value import Value
from ...kernels.windows import neighbours, splat_index
from ...registry import template
from .attention import Mask, WholeAttention

FEW = 4
"""The most queries of a head that read rows where they are."""

CHUNK = 128
"""Rows whose scores are kept: a chunk of keys of 64 numbers is in the first-level cache."""

SIDE_BY_SIDE = 4
"""Queries, and vectors of values, whose sums are in registers."""


@template(tri.CachedAttention)
def lower_cached_attention(
    op: tri.CachedAttention,
    kernel: KernelBuilder,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    starts: Buffer,
    y: Epilogue,
) -> None:
    queries = q.shape[2]
    first = starts.reshape((q.shape[0],))
    k, v = (x.slice([0] * 4, (*x.shape[:2], op.rows, x.shape[3]), [1] * 4) for x in (k, v))
    few = 1 - least(queries // (FEW + 1), 1)
    if few != 0:
        _ChunkedAttention(op, kernel, q, k, v, first, y).emit(few)
    if few != 1:
        whole = WholeAttention(kernel, q, k, v, y, op.scale, _seen(op, first))
        spread(whole.section().only_if(1 - few))


def _seen(op: tri.CachedAttention, starts: Buffer) -> Mask:
    def mask(
        value: Value, at: Sequence[IndexExpr], query: IndexExpr, key: IndexExpr, lanes: Lanes
    ) -> Value:
        place = index_of(starts.load([at[0]]).cast("i64")) + query
        return _visible(op, place, key, lanes).select(value, -math.inf)

    return mask


def _visible(op: tri.CachedAttention, place: IndexExpr, row: IndexExpr, lanes: Lanes) -> Value:
    """Return which neighbouring rows, from `row` on, a query at a position sees."""
    seen = _numbers(lanes).less_equal(_clamped(place - row, lanes))
    if op.window:
        seen = seen.logical_and(_numbers(lanes).greater(_clamped(place - op.window - row, lanes)))
    return seen


def _numbers(lanes: Lanes) -> Value:
    return neighbours(IndexExpr(0), lanes, "i32")


def _clamped(distance: IndexExpr, lanes: Lanes) -> Value:
    """Repeat a number in all lanes, or one that compares in the same way with those of lanes."""
    return splat_index(distance.maximum(-1).minimum(lanes.width), lanes.width, "i32")


class _ChunkedAttention:
    """Attend to chunks of rows, then put these together in order.

    The queries that share a head of keys are numbered: those of the first query head, then others.
    A chunk leaves for each of them the sum of its values, weighted by the exponentials of scores
    over the highest one of the chunk, that score, and the sum of the exponentials.
    """

    def __init__(
        self,
        op: tri.CachedAttention,
        kernel: KernelBuilder,
        q: Buffer,
        k: Buffer,
        v: Buffer,
        starts: Buffer,
        y: Epilogue,
    ) -> None:
        self.op, self.kernel, self.starts, self.y = op, kernel, starts, y
        self.k, self.v = k, v
        batch, heads, self.queries, size = q.shape
        self.batch, self.groups = batch, k.shape[1]
        self.shared, self.width = heads // self.groups, need_static(v.shape[3], "size of a head")
        self.numbers = self.shared * self.queries
        self.q = q.reshape((batch, self.groups, self.numbers, need_static(size, "size of a head")))
        self.dtype = compute_dtype(q.dtype)
        self.lanes = kernel.lanes(self.dtype)
        self.chunks = ceildiv(op.rows, CHUNK)
        most = self.shared * FEW
        made = (batch, self.groups, self.chunks, most)
        self.sums = kernel.scratch((*made, self.width), self.dtype)
        self.highest = kernel.scratch(made, self.dtype)
        self.totals = kernel.scratch(made, self.dtype)
        self.scores = kernel.private((most, CHUNK), self.dtype)

    def emit(self, wanted: Size) -> None:
        shape = (self.batch, self.groups, self.chunks)
        spread(Section(shape, 1, lambda at: [Piece(1, lambda _: self._chunk(at))]).only_if(wanted))
        rows = (self.batch, self.groups * self.shared, self.queries)
        spread(Section(rows, 1, lambda at: [Piece(1, lambda _: self._join(at))]).only_if(wanted))

    # -- a chunk ------------------------------------------------------------------------------

    def _chunk(self, at: Sequence[IndexExpr]) -> None:
        """Attend to the rows of a chunk that some query sees, if there are any."""
        entry, begin = at[0], at[2] * CHUNK
        start = index_of(self.starts.load([entry]).cast("i64"))
        end = (start + self.queries).minimum(self.op.rows).minimum(begin + CHUNK)
        first = begin
        if self.op.window:
            first = (start + (1 - self.op.window)).maximum(begin)
        when_else(
            first.less(end),
            lambda: self._attend(at, start, begin, first, end),
            lambda: self._clear(at),
        )

    def _clear(self, at: Sequence[IndexExpr]) -> None:
        for_each(self.numbers, lambda number: self._keep_nothing([*at, number]))

    def _keep_nothing(self, at: Sequence[IndexExpr]) -> None:
        self.highest.store(zero(self.dtype).like(-math.inf), at)
        self.totals.store(zero(self.dtype), at)
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
        fetched = rows_from(values, begin)
        self._each_block(
            lambda taken: self._score(q, keys, start, begin, (skipped, count), taken, fetched)
        )
        for_each(self.numbers, lambda number: self._exponentiate(at, number, skipped, count))
        fetched = rows_from(keys, begin + CHUNK)
        span = first - begin, count
        self._each_block(
            lambda taken: self._mix(at, rows_from(values, begin), span, taken, fetched)
        )

    def _each_block(self, body: Callable[[list[IndexExpr]], None]) -> None:
        """Emit code for each few of the numbered queries."""
        full, rest, _ = cut(self.numbers, SIDE_BY_SIDE)
        for_each(full, lambda i: body([i * SIDE_BY_SIDE + r for r in range(SIDE_BY_SIDE)]))
        if is_symbolic(rest):
            left = full * SIDE_BY_SIDE
            for_each(rest, lambda i: body([i + left]))
        elif rest:
            body([IndexExpr(full * SIDE_BY_SIDE) + r for r in range(rest)])

    def _score(
        self,
        q: Buffer,
        keys: Buffer,
        start: IndexExpr,
        begin: IndexExpr,
        span: tuple[IndexExpr, IndexExpr],
        numbers: Sequence[IndexExpr],
        fetched: Buffer,
    ) -> None:
        """Store the scores of queries, a vector of rows at a time; prefetch the values of these."""
        first, end = span
        whole = end // self.lanes * self.lanes

        def block(row: IndexExpr, last: IndexExpr | None) -> None:
            rows = [row + lane for lane in range(self.lanes)]
            for each in rows:
                prefetch_row(fetched, each)
            if last is not None:
                rows = [each.minimum(last) for each in rows]
            products = row_products(q, numbers, rows_from(keys, begin), rows)
            for number, product in zip(numbers, products, strict=True):
                place = start + number % self.queries
                lanes = Lanes(self.lanes)
                seen = _visible(self.op, place, begin + row, lanes)
                seen = seen.logical_and(_numbers(lanes).less(_clamped(end - row, lanes)))
                score = seen.select(product * self.op.scale, -math.inf)
                self.scores.store(score, [number, row], lanes)

        for_each(whole, lambda row: block(row, None), step=self.lanes, start=first)
        for_each(end, lambda row: block(row, end - 1), step=self.lanes, start=whole)

    def _exponentiate(
        self, at: Sequence[IndexExpr], number: IndexExpr, first: IndexExpr, end: IndexExpr
    ) -> None:
        """Replace scores of a query by exponentials; keep the highest score and their sum."""
        lanes = Lanes(self.lanes)
        most, total = Reduction("max", self.dtype), Reduction("add", self.dtype)

        def highest(row: IndexExpr, now: list[Value]) -> list[Value]:
            return [now[0].maximum(self.scores.load([number, row], lanes))]

        (high,) = carry(end, [most.identity(self.lanes)], highest, self.lanes, first)
        top = most.across(high)
        shift = splat(top.equal(-math.inf).select(top.like(0), top), self.lanes)

        def power(row: IndexExpr, now: list[Value]) -> list[Value]:
            made = exp(self.scores.load([number, row], lanes) - shift)
            self.scores.store(made, [number, row], lanes)
            return [now[0] + made]

        (powers,) = carry(end, [total.identity(self.lanes)], power, self.lanes, first)
        self.highest.store(top, [*at, number])
        self.totals.store(total.across(powers), [*at, number])

    def _mix(
        self,
        at: Sequence[IndexExpr],
        values: Buffer,
        span: tuple[IndexExpr, IndexExpr],
        numbers: Sequence[IndexExpr],
        fetched: Buffer,
    ) -> None:
        """Store the weighted sums of the values of a chunk; prefetch the keys of the next one."""
        first, end = span
        vectors = columns_of(self.width, self.lanes)
        for part in range(0, len(vectors), SIDE_BY_SIDE):
            taken = vectors[part : part + SIDE_BY_SIDE]

            def step(
                row: IndexExpr, now: list[Value], taken: Columns = taken, part: int = part
            ) -> list[Value]:
                if not part:
                    prefetch_row(fetched, row)
                loaded = [values.load([row, IndexExpr(c)], lanes) for c, lanes in taken]
                made: list[Value] = []
                for i, number in enumerate(numbers):
                    weight = splat(self.scores.load([number, row]), self.lanes)
                    sums = now[i * len(taken) : (i + 1) * len(taken)]
                    made += [weight.fma(v, s) for v, s in zip(loaded, sums, strict=True)]
                return made

            start = [zero(self.dtype, Lanes(self.lanes))] * (len(numbers) * len(taken))
            sums = carry(end, start, step, start=first)
            for i, number in enumerate(numbers):
                for (column, lanes), total in zip(taken, sums[i * len(taken) :], strict=False):
                    self.sums.store(total, [*at, number, IndexExpr(column)], lanes)

    # -- all chunks ---------------------------------------------------------------------------

    def _join(self, at: Sequence[IndexExpr]) -> None:
        """Put the chunks of a query together."""
        entry, head, query = at
        group, member = head // self.shared, head % self.shared
        number = member * self.queries + query

        def place(chunk: IndexExpr) -> list[IndexExpr]:
            return [entry, group, chunk, number]

        lowest = zero(self.dtype).like(-math.inf)
        (top,) = carry(
            self.chunks,
            [lowest],
            lambda chunk, now: [now[0].maximum(self.highest.load(place(chunk)))],
        )
        top = top.equal(-math.inf).select(top.like(0), top)

        def weight(chunk: IndexExpr) -> Value:
            return exp(self.highest.load(place(chunk)) - top)

        (total,) = carry(
            self.chunks,
            [zero(self.dtype)],
            lambda chunk, now: [weight(chunk).fma(self.totals.load(place(chunk)), now[0])],
        )
        total = total.equal(0).select(total.like(1), total)
        factor = splat(1 / total, self.lanes)
        vectors = columns_of(self.width, self.lanes)
        for part in range(0, len(vectors), SIDE_BY_SIDE):
            taken = vectors[part : part + SIDE_BY_SIDE]

            def step(chunk: IndexExpr, now: list[Value], taken: Columns = taken) -> list[Value]:
                by = splat(weight(chunk), self.lanes)
                loaded = [
                    self.sums.load([*place(chunk), IndexExpr(c)], lanes) for c, lanes in taken
                ]
                return [by.fma(v, s) for v, s in zip(loaded, now, strict=True)]

            sums = carry(self.chunks, [zero(self.dtype, Lanes(self.lanes))] * len(taken), step)
            for (column, lanes), made in zip(taken, sums, strict=True):
                self.y.store(made * factor, [*at, IndexExpr(column)], lanes)
