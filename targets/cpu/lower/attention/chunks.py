"""What both ways to attend to a cache share: attention to a chunk of rows, and the order of sums.

Rows are cut into chunks at absolute positions. A chunk leaves for each query the highest score,
the sum of the exponentials of scores over that one, and the sum of values weighted by these.
Chunks are put together in order. Both ways do the same operations on each element in the same
order, and what a query does not see adds zeros: results have the same bits, however many queries
there are at once, and beside any others.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects import tri
from .....dialects.core.sizes.checks import need_static
from .....dialects.core.sizes.dim import ceildiv
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.functions.approximation import exp_anywhere
from ...kernels.functions.falling_exp import falling_exp
from ...kernels.index import IndexExpr, carry, for_each, index_of, when
from ...kernels.products.contraction import splat
from ...kernels.products.row_products import Columns, columns_of, prefetch_row
from ...kernels.reduction import Reduction
from ...kernels.value import Value
from ...kernels.windows import neighbours, splat_index

CHUNK = 128
"""Rows whose scores are kept: a chunk of keys of 64 numbers is in the first-level cache."""

SIDE_BY_SIDE = 4
"""Vectors of values whose sums are in registers, for each of some queries; all if they fit."""

NO_SUMS = 8
"""Registers that hold no sums when values are mixed."""


@dataclass(frozen=True)
class Totals:
    """Hold what queries have of the rows so far: scalars of a query, and vectors of its values."""

    highest: Value
    total: Value

    def merged(self, other: "Totals") -> "tuple[Totals, Value, Value]":
        """Add a later chunk; return also the factors of the sums so far, and of those of the chunk.

        One factor is 1. A chunk of which nothing is seen changes nothing.
        """
        is_above = self.highest.less(other.highest)
        best = is_above.select(other.highest, self.highest)
        lesser = is_above.select(self.highest, other.highest)
        shift = best.equal(-math.inf).select(best.like(0), best)
        power = exp_anywhere(lesser - shift)
        mine, theirs = is_above.select(power, 1), is_above.select(power.like(1), power)
        return Totals(best, theirs.fma(other.total, self.total * mine)), mine, theirs

    @property
    def factor(self) -> Value:
        """Return what normalizes sums of values; queries that see nothing have sums of zero."""
        return 1 / self.total.equal(0).select(self.total.like(1), self.total)


@dataclass(frozen=True)
class RowScales:
    """Hold the scales of all rows, [entries, heads, rows], and private memory for some of them."""

    whole: Buffer
    some: Buffer
    width: int

    @classmethod
    def of(cls, whole: Buffer | None, kernel: KernelBuilder) -> "RowScales | None":
        if whole is None:
            return None
        return cls(whole, kernel.private((CHUNK,), whole.dtype), kernel.lanes(whole.dtype))

    def take(self, head: Sequence[IndexExpr], begin: IndexExpr, count: IndexExpr) -> None:
        """Copy those of a chunk, where a whole vector can be read also at the end.

        Those of the next chunk are prefetched.
        """
        scales, width = self.whole.part(head), self.width
        whole = count // width * width

        def copy(row: IndexExpr, lanes: Lanes | None = None) -> None:
            self.some.store(scales.load([begin + row], lanes), [row], lanes)

        for_each(whole, lambda row: copy(row, Lanes(width)), step=width)
        for_each(count, copy, start=whole)
        scales.prefetch_run(scales.position([begin + CHUNK]), CHUNK)

    def apply(self, value: Value, row: IndexExpr, lanes: Lanes) -> Value:
        """Multiply what neighbouring rows of the chunk have by their scales."""
        return value * self.some.load([row], lanes)


class ChunkedAttention:
    """Hold the operands of attention to a cache, and emit what is done to a chunk of rows.

    The queries that share a head of keys are numbered: those of the first query head, then others.
    """

    def __init__(
        self,
        op: tri.CachedAttention,
        kernel: KernelBuilder,
        q: Buffer,
        k: Buffer,
        v: Buffer,
        starts: Buffer,
        scales: Sequence[Buffer | None],
        y: Epilogue,
    ) -> None:
        self.op, self.kernel, self.y = op, kernel, y
        used = [0] * 4, (*k.shape[:2], op.rows), [1] * 4
        self.k, self.v = (x.slice(used[0], (*used[1], x.shape[3]), used[2]) for x in (k, v))
        batch, heads, self.queries, size = q.shape
        self.batch, self.groups = batch, k.shape[1]
        self.starts = starts.reshape((batch,))
        self.shared, self.width = heads // self.groups, need_static(v.shape[3], "size of a head")
        self.size = need_static(size, "size of a head")
        self.numbers = self.shared * self.queries
        self.q = q.reshape((batch, self.groups, self.numbers, self.size))
        self.dtype = compute_dtype(q.dtype)
        self.lanes = kernel.lanes(self.dtype)
        self.chunks = ceildiv(op.rows, CHUNK)
        self.k_scales, self.v_scales = (RowScales.of(each, kernel) for each in scales)

    def start(self, entry: IndexExpr) -> IndexExpr:
        """Return the position of the first query of an entry."""
        return index_of(self.starts.load([entry]).cast("i64"))

    def rows_seen(self, lowest: IndexExpr, highest: IndexExpr) -> tuple[IndexExpr, IndexExpr]:
        """Return the first row that some queries at neighbouring positions see, and the end."""
        end = (highest + 1).minimum(self.op.rows)
        first = (lowest + (1 - self.op.window)).maximum(0) if self.op.window else IndexExpr(0)
        return first, end

    def take_scales(self, head: Sequence[IndexExpr], begin: IndexExpr, count: IndexExpr) -> None:
        """Have the scales of a chunk at hand, where rows have scales."""
        for each in (self.k_scales, self.v_scales):
            if each is not None:
                each.take(head, begin, count)

    def score_of(self, product: Value, row: IndexExpr) -> Value:
        """Return scores of neighbouring rows of a chunk, given products of a query with them."""
        scores = product * self.op.scale
        return self.k_scales.apply(scores, row, Lanes(self.lanes)) if self.k_scales else scores

    def hide(
        self,
        scores: Buffer,
        place_of: Callable[[IndexExpr], IndexExpr],
        numbers: IndexExpr,
        places: tuple[IndexExpr, IndexExpr],
        begin: IndexExpr,
        span: tuple[IndexExpr, IndexExpr],
    ) -> None:
        """Replace scores of a chunk with rows that are not seen or not in use by -inf.

        `place_of` returns the position of each of some queries, which are between two `places`. The
        chunk begins at a row; it has scores of the rows of `span`, counted from there.
        """
        first, end = span
        lowest, highest = places
        seen_by_all = (lowest - begin - (CHUNK - 1)).minimum(end - CHUNK)
        if self.op.window:
            seen_by_all = seen_by_all.minimum(begin - highest + (self.op.window - 1))

        def hide(number: IndexExpr) -> None:
            place, lanes = place_of(number), Lanes(self.lanes)

            def vector(row: IndexExpr) -> None:
                seen = self._seen(place - begin - row, end - row, lanes)
                loaded = scores.load([number, row], lanes)
                scores.store(seen.select(loaded, -math.inf), [number, row], lanes)

            for_each(end, vector, step=self.lanes, start=first)

        when(seen_by_all.less(0), lambda: for_each(numbers, hide))

    def _seen(self, place: IndexExpr, left: IndexExpr, lanes: Lanes) -> Value:
        """Return which of neighbouring rows a query sees; its position counts from the first one.

        From that row on, `left` rows are in use.
        """
        seen = _numbers(lanes).less_equal(_clamped(place, lanes))
        if self.op.window:
            gone = _clamped(place - self.op.window, lanes)
            seen = seen.logical_and(_numbers(lanes).greater(gone))
        return seen.logical_and(_numbers(lanes).less(_clamped(left, lanes)))

    def highest_score(
        self, scores: Buffer, number: IndexExpr, first: IndexExpr, end: IndexExpr
    ) -> Value:
        """Return the highest score of a query, a row of some; NaN does not count here."""
        lanes, most = Lanes(self.lanes), Reduction("max", self.dtype)

        def step(row: IndexExpr, now: list[Value]) -> list[Value]:
            found = scores.load([number, row], lanes)
            return [now[0].less(found).select(found, now[0])]

        (high,) = carry(end, [most.identity(self.lanes)], step, self.lanes, first)
        return most.across(high)

    def exponentiate(
        self, scores: Buffer, number: IndexExpr, first: IndexExpr, end: IndexExpr, top: Value
    ) -> Value:
        """Replace scores of a query by exponentials, over the highest score; return their sum.

        What is left are factors of rows of values as they are stored: the scales are in them.
        """
        lanes, total = Lanes(self.lanes), Reduction("add", self.dtype)
        shift = splat(top.equal(-math.inf).select(top.like(0), top), self.lanes)

        def power(row: IndexExpr, now: list[Value]) -> list[Value]:
            made = falling_exp(scores.load([number, row], lanes) - shift)
            factor = self.v_scales.apply(made, row, lanes) if self.v_scales else made
            scores.store(factor, [number, row], lanes)
            return [now[0] + made]

        (powers,) = carry(end, [total.identity(self.lanes)], power, self.lanes, first)
        return total.across(powers)

    @property
    def mixed(self) -> int:
        """Return how many queries may have the sums of all their values in registers, 0 if none."""
        free = self.kernel.machine.registers - NO_SUMS
        return free // len(columns_of(self.width, self.lanes))

    def mix(
        self,
        values: Buffer,
        scores: Buffer,
        numbers: Sequence[IndexExpr],
        span: tuple[IndexExpr, IndexExpr],
        store: Callable[[IndexExpr, IndexExpr, Value, Lanes], None],
    ) -> None:
        """Hand out the weighted sums of values, those of rows of a chunk."""
        first, end = span
        vectors = columns_of(self.width, self.lanes)
        size = len(vectors) if len(numbers) <= self.mixed else SIDE_BY_SIDE
        for part in range(0, len(vectors), size):
            taken = vectors[part : part + size]

            def step(row: IndexExpr, now: list[Value], taken: Columns = taken) -> list[Value]:
                prefetch_row(values, row)
                loaded = [
                    values.load([row, IndexExpr(c)], lanes).cast(self.dtype) for c, lanes in taken
                ]
                made: list[Value] = []
                for i, number in enumerate(numbers):
                    weight = splat(scores.load([number, row]), self.lanes)
                    sums = now[i * len(taken) : (i + 1) * len(taken)]
                    made += [weight.fma(v, s) for v, s in zip(loaded, sums, strict=True)]
                return made

            none = [zero(self.dtype, Lanes(self.lanes))] * (len(numbers) * len(taken))
            sums = carry(end, none, step, start=first)
            for i, number in enumerate(numbers):
                for (column, lanes), total in zip(taken, sums[i * len(taken) :], strict=False):
                    store(number, IndexExpr(column), total, lanes)

    def nothing(self) -> Totals:
        """Return what a query has before the first row."""
        none = zero(self.dtype)
        return Totals(none.like(-math.inf), none)


def _numbers(lanes: Lanes) -> Value:
    return neighbours(IndexExpr(0), lanes, "i32")


def _clamped(distance: IndexExpr, lanes: Lanes) -> Value:
    """Repeat a number in all lanes, or one that compares in the same way with those of lanes."""
    return splat_index(distance.maximum(-1).minimum(lanes.width), lanes.width, "i32")
