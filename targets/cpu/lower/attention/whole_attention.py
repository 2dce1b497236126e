"""Lowering of attention: scores, softmax and the mix of values, for a few queries at a time.

Scores are never stored whole: a block of queries keeps its rows of scores in cache.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce

from .....dialects import tri
from .....dialects.core.machine import Machine
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.sizes.substitution import likely
from .....dialects.core.tensor import DTYPES
from .....dialects.tri.attention.attention import fills_of
from ....kernels.approximation import LOG2_E
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.functions.falling_exp import falling_exp, falling_power, falls_by_powers
from ...kernels.index import IndexExpr, Span, carry, choose, for_each, greatest, place_dtype
from ...kernels.loops import Piece, Section, cut, spread
from ...kernels.products.contraction import Contraction, splat
from ...kernels.products.panels import DirectPanel
from ...kernels.reduction import Reduction
from ...kernels.value import Value
from ...kernels.windows import neighbours, splat_index
from ...registry import template
from ...schedule.tiles import choose_tile, choose_wide_tile, filled
from .factors import choose_factors

FEW, MANY = 28, 42
"""The most queries of a block. Keys and values are read once for all of them: many pay where these
are far from the core, few divide better among threads."""

NEAR = 2.0**20
"""The highest exponent of two that may be taken off by a multiplication: it is off by 2^-4 at most.

All weights of a query then are off by one factor, by which they are divided.
"""


@template(tri.Attention)
def lower_attention(
    op: tri.Attention,
    kernel: KernelBuilder,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    masks: Sequence[Buffer],
    y: Epilogue,
) -> None:
    """Emit one pass over batch, heads and blocks of queries."""
    heads, queries, inner = q.shape[-3:]
    keys = k.shape[-2]
    shared = heads // k.shape[-3]
    batch = math.prod(q.shape[:-3])
    wide = [mask.broadcast_to((*q.shape[:-1], keys)) for mask in masks]
    flat = [kernel.reshaped(mask, (batch, heads, queries, keys)) for mask in wide]
    work = WholeAttention(
        kernel,
        kernel.reshaped(q, (batch, heads, queries, inner)),
        kernel.reshaped(k, (batch, heads // shared, *k.shape[-2:])),
        kernel.reshaped(v, (batch, heads // shared, *v.shape[-2:])),
        y.reshape((batch, heads, queries, v.shape[-1])),
        op.scale,
        len(masks) > 0,
        _masked(op, flat, queries, keys),
        op.causal,
    )
    spread(work.section())


Mask = Callable[[Value, Sequence[IndexExpr], IndexExpr, IndexExpr, Lanes], Value]
"""Mask scores of a head, given a query, the first key and lanes over keys."""


def _masked(op: tri.Attention, masks: Sequence[Buffer], queries: Size, keys: Size) -> Mask:
    filled_masks = list(zip(masks, fills_of(masks, op.fills), strict=True))

    def mask(
        value: Value, at: Sequence[IndexExpr], query: IndexExpr, key: IndexExpr, lanes: Lanes
    ) -> Value:
        for each, fill in filled_masks:
            seen = each.load([*at, query, key], lanes)
            value = seen.select(value, fill) if seen.dtype == "i1" else value + seen
        if op.causal:
            dtype = place_dtype(greatest(keys, queries))
            places = neighbours(key, lanes, dtype)
            before = places.less_equal(splat_index(query, lanes.width, dtype))
            value = before.select(value, -math.inf)
        return value

    return mask


def _block(machine: Machine, queries: Size, k: Buffer, v: Buffer) -> int:
    """Return how many queries a block has: all about as many, where their number is known."""
    of_head = likely(k.shape[-2] * (k.shape[-1] + v.shape[-1])) * DTYPES[k.dtype].itemsize
    most = filled(queries, MANY if of_head > machine.core.caches[1] // 4 else FEW)
    return most if is_symbolic(queries) else -(-queries // max(1, -(-queries // most)))


class WholeAttention:
    """Attend from blocks of queries of a head to all of its keys, which are transposed before.

    Queries are [batch, heads, length, size], keys and values have the same or fewer heads. With
    `causal`, a block passes over the keys behind its last query. Where no number of a mask is
    among the scores, which may be the lowest of all, they are scaled when they become powers of
    two: one multiplication scales, takes off the highest and changes the base.
    """

    def __init__(
        self,
        kernel: KernelBuilder,
        q: Buffer,
        k: Buffer,
        v: Buffer,
        y: Epilogue,
        scale: float,
        has_masks: bool,
        mask: Mask,
        causal: bool,
    ) -> None:
        self.kernel, self.mask, self.causal = kernel, mask, causal
        self.q, self.k, self.v, self.y = q, k, v, y
        self.queries, self.keys = q.shape[-2], k.shape[-2]
        self.block = _block(kernel.machine, self.queries, k, v)
        self.factors = choose_factors(kernel, q, k, v, self.block)
        self.dtype, self.lanes = self.factors.dtype, self.factors.lanes
        late = falls_by_powers(self.dtype) and scale > 0 and not has_masks
        self.scale, self.power_of = (1.0, scale * LOG2_E) if late else (scale, None)
        rows = ceildiv(self.block, self.lanes) * self.lanes
        self.tops, self.sums = (kernel.private((rows, self.lanes), self.dtype) for _ in range(2))
        self.scales = kernel.private((rows,), self.dtype)
        self.highest, self.total = (Reduction(kind, self.dtype) for kind in ("max", "add"))

    def section(self) -> Section:
        """Return the iterations over all blocks of queries."""
        batch, heads = self.q.shape[:2]
        shared = heads // self.k.shape[1]
        full, _, tails = cut(self.queries, self.block)
        return Section(
            (batch, heads), full + tails, lambda at: self._head(at, [at[0], at[1] // shared])
        )

    def _head(self, at: Sequence[IndexExpr], source: Sequence[IndexExpr]) -> list[Piece]:
        """Prepare one head; keys and values come from the head `source`, which may be shared.

        Returns its blocks of queries.
        """
        self.factors.take_head(self.k.part(source), self.v.part(source))
        full, rest, tails = cut(self.queries, self.block)
        last = IndexExpr(full * self.block)
        return [
            Piece(full, lambda i: self._rows(at, i * self.block, self.block)),
            Piece(tails, lambda _: self._rows(at, last, rest)),
        ]

    def _rows(self, at: Sequence[IndexExpr], first: IndexExpr, count: Size) -> None:
        none = self.highest.identity(self.lanes)
        for_each(count, lambda i: self._store_row(self.tops, i, none))
        end = (first + count).minimum(self.keys) if self.causal else IndexExpr(self.keys)
        self._score(at, first, count, end)
        self._reduce_rows(self.highest, self.tops, count, self._shift)
        for_each(count, lambda row: self._exponentiate(row, end))
        self._reduce_rows(self.total, self.sums, count, self._factor)
        self._mix(at, first, count, end)

    def _score(
        self, at: Sequence[IndexExpr], first: IndexExpr, count: Size, end: IndexExpr
    ) -> None:
        """Store the scores of some queries, and the highest ones of each, lane by lane."""

        def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> Value:
            scaled = value if self.scale == 1 else value * self.scale
            score = self.mask(scaled, at, first + i, j, lanes)
            if lanes.mask is not None:
                score = Value(lanes.mask, "i1").select(score, -math.inf)
            self.factors.scores.store(score, [i, j], Lanes(lanes.width))
            return score

        def keep_highest(i: IndexExpr, scores: Sequence[Value]) -> None:
            top = reduce(self.highest.choose, [*scores, self._load_row(self.tops, i)])
            self._store_row(self.tops, i, top)

        def touch(i: IndexExpr, j: IndexExpr) -> None:
            self.factors.scores.prefetch(self.factors.scores.position([i, j]), writes=True, level=1)

        factors = self.factors
        factors.take_queries(at, first, count)
        Contraction(
            count,
            self.keys,
            (factors.keys.shape[0],),
            self.dtype,
            lambda rows, i, d: factors.query(rows.first + i, d[0]),
            DirectPanel(factors.keys),
            finish,
            touch=touch,
            multiply=factors.multiply,
            finish_row=keep_highest,
            reach=end if self.causal else None,
        ).emit(choose_tile(self.kernel.machine, self.dtype, count, self.keys))

    def _exponentiate(self, row: IndexExpr, end: IndexExpr) -> None:
        """Store the exponentials of the scores of a query, and sums of these.

        Those of whole vectors are stored: scores from `end` on are -inf there.
        """
        top, dtype, power_of = self.scales.load([row]), self.factors.weight_dtype, self.power_of
        highest = splat(top, self.lanes)
        if power_of is None:
            total = self._powers(row, end, lambda score: falling_exp(score - highest, dtype))
        else:
            shift = splat(top * -power_of, self.lanes)
            total = choose(
                top.abs().less(NEAR / power_of),
                highest,
                lambda: self._powers(
                    row, end, lambda score: falling_power(score.fma(power_of, shift), dtype)
                ),
                lambda: self._powers(
                    row, end, lambda score: falling_power((score - highest) * power_of, dtype)
                ),
            )
        self._store_row(self.sums, row, total)

    def _powers(self, row: IndexExpr, end: IndexExpr, power: Callable[[Value], Value]) -> Value:
        """Store what becomes of each score of a query; return the sums of the lanes."""

        def step(key: IndexExpr, now: list[Value]) -> list[Value]:
            made = power(self.factors.scores.load([row, key], Lanes(self.lanes)))
            self.factors.store_weights(row, key, made)
            return [now[0] + made]

        start = [self.total.identity(self.lanes)]
        (total,) = carry(end, start, step, step=self.lanes)
        return total

    def _shift(self, highest: Value) -> Value:
        return highest.equal(-math.inf).select(highest.like(0), highest)

    def _factor(self, total: Value) -> Value:
        return 1 / total.equal(0).select(total.like(1), total)

    def _reduce_rows(
        self, how: Reduction, vectors: Buffer, count: Size, finish: Callable[[Value], Value]
    ) -> None:
        """Reduce a vector of each query across its lanes; store what becomes of it as its scale."""

        def some(row: IndexExpr) -> None:
            loaded = [self._load_row(vectors, row + i) for i in range(self.lanes)]
            self.scales.store(finish(how.across_each(loaded)), [row], Lanes(self.lanes))

        for_each(count, some, step=self.lanes)

    def _load_row(self, vectors: Buffer, row: IndexExpr) -> Value:
        return vectors.load([row, IndexExpr(0)], Lanes(self.lanes))

    def _store_row(self, vectors: Buffer, row: IndexExpr, value: Value) -> None:
        vectors.store(value, [row, IndexExpr(0)], Lanes(self.lanes))

    def _mix(self, at: Sequence[IndexExpr], first: IndexExpr, count: Size, end: IndexExpr) -> None:
        def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
            scaled = value * splat(self.scales.load([i]), lanes.width)
            self.y.store(scaled, [*at, first + i, j], lanes)

        factors = self.factors
        depth, width = factors.values.shape
        seen = Span(IndexExpr(0), (end + (factors.together - 1)) // factors.together)
        Contraction(
            count,
            width,
            (depth,),
            self.dtype,
            lambda rows, i, s: factors.weight(rows.first + i, s[0]),
            DirectPanel(factors.values),
            finish,
            multiply=factors.multiply,
            seen=lambda rows, taken: (seen,),
        ).emit(choose_wide_tile(self.kernel.machine, self.dtype, count, width))
