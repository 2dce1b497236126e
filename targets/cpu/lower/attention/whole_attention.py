"""Lowering of attention: scores, softmax and the mix of values, for a few queries at a time.

Scores are never stored whole: a block of queries keeps its rows of scores in cache. Keys are
transposed once for each head, so that scores are a matrix product over contiguous rows.
"""

import math
from collections.abc import Callable, Sequence

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.tri.attention.attention import fills_of
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, for_each, greatest, place_dtype
from ...kernels.loops import Piece, Section, cut, spread
from ...kernels.products.contraction import Contraction, splat
from ...kernels.products.panels import DirectPanel, private_rows
from ...kernels.strips import Strip
from ...kernels.transposition import store_transposed
from ...kernels.value import Value
from ...kernels.windows import neighbours, splat_index
from ...registry import template
from ...schedule.tiles import choose_tile, filled
from ..softmax import exponentiate

BLOCK = 32
"""Queries per tile: the rows of their scores fit in the first-level cache."""


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
        q.reshape((batch, heads, queries, inner)),
        k.reshape((batch, heads // shared, *k.shape[-2:])),
        v.reshape((batch, heads // shared, *v.shape[-2:])),
        y.reshape((batch, heads, queries, v.shape[-1])),
        op.scale,
        _masked(op, flat, queries, keys),
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


class WholeAttention:
    """Attend from blocks of queries of a head to all of its keys, which are transposed before.

    Queries are [batch, heads, length, size], keys and values have the same or fewer heads.
    """

    def __init__(
        self,
        kernel: KernelBuilder,
        q: Buffer,
        k: Buffer,
        v: Buffer,
        y: Epilogue,
        scale: float,
        mask: Mask,
    ) -> None:
        self.kernel, self.scale, self.mask = kernel, scale, mask
        self.q, self.k, self.v, self.y = q, k, v, y
        self.queries, inner = q.shape[-2:]
        self.keys = k.shape[-2]
        self.dtype = compute_dtype(q.dtype)
        self.block = filled(self.queries, BLOCK)
        self.columns = private_rows(kernel, inner, self.keys, self.dtype)
        self.scores = private_rows(kernel, self.block, self.keys, self.dtype)
        self.scales = kernel.private((self.block,), self.dtype)

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
        keys, values = self.k.part(source), self.v.part(source)
        store_transposed(keys, self.columns, self.kernel.lanes(self.dtype))
        full, rest, tails = cut(self.queries, self.block)
        last = IndexExpr(full * self.block)
        return [
            Piece(full, lambda i: self._rows(at, values, i * self.block, self.block)),
            Piece(tails, lambda _: self._rows(at, values, last, rest)),
        ]

    def _rows(self, at: Sequence[IndexExpr], values: Buffer, first: IndexExpr, count: Size) -> None:
        self._score(at, first, count)
        for_each(count, self._normalise)
        self._mix(at, values, first, count)

    def _score(self, at: Sequence[IndexExpr], first: IndexExpr, count: Size) -> None:
        def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
            score = self.mask(value * self.scale, at, first + i, j, lanes)
            self.scores.store(score, [i, j], self._whole(lanes))

        Contraction(
            count,
            self.keys,
            (self.columns.shape[0],),
            self.dtype,
            lambda rows, i, d: self.q.load([*at, first + rows.first + i, *d]),
            DirectPanel(self.columns),
            finish,
        ).emit(choose_tile(self.kernel.machine, self.dtype, count, self.keys))

    def _normalise(self, row: IndexExpr) -> None:
        """Store the exponentials of the scores of a query, and the factor that normalizes them."""
        strip = Strip(row, self.keys, self.kernel.lanes(self.dtype))

        def load(at: list[IndexExpr], lanes: Lanes | None) -> Value:
            return self.scores.load(at, self._whole(lanes))

        def store(power: Value, at: list[IndexExpr], lanes: Lanes | None) -> None:
            self.scores.store(power, at, self._whole(lanes))

        scale = exponentiate(strip, self.dtype, load, store)
        self.scales.store(scale, [row])

    def _whole(self, lanes: Lanes | None) -> Lanes | None:
        """Return lanes in which scores may be accessed: all, where rows have room for that.

        What was stored by a mask cannot be loaded again before it is in the cache.
        """
        return Lanes(lanes.width) if lanes is not None and is_symbolic(self.keys) else lanes

    def _mix(self, at: Sequence[IndexExpr], values: Buffer, first: IndexExpr, count: Size) -> None:
        def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
            scaled = value * splat(self.scales.load([i]), lanes.width)
            self.y.store(scaled, [*at, first + i, j], lanes)

        Contraction(
            count,
            values.shape[-1],
            (self.keys,),
            self.dtype,
            lambda rows, i, s: self.scores.load([rows.first + i, *s]),
            DirectPanel(values),
            finish,
        ).emit(choose_tile(self.kernel.machine, self.dtype, count, values.shape[-1]))
