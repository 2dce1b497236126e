"""Lowering of attention: scores, softmax and the mix of values, for a few queries at a time.

Scores are never stored whole: a block of queries keeps its rows of scores in cache. Keys are
transposed once for each head, so that scores are a matrix product over contiguous rows.
"""

import math
from collections.abc import Sequence

from ...dialects import tri
from ...dialects.tri.attention.attention import fills_of
from .buffer import Buffer, Lanes
from .contraction import Contraction, splat
from .index import Index, for_each, place_dtype
from .kernel import KernelBuilder
from .lower_softmax import exponentiate
from .number import Number, compute_dtype
from .panels import DirectPanel
from .parallel import Piece, Section, spread
from .sink import Sink
from .strips import Strip
from .target import template
from .tiles import choose_tile
from .transposition import store_transposed
from .windows import neighbours, splat_index

BLOCK = 32
"""Queries whose scores are worked on at a time: their rows stay in the first-level caches."""


@template(tri.Attention)
def lower_attention(
    op: tri.Attention,
    kernel: KernelBuilder,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    masks: Sequence[Buffer],
    y: Sink,
) -> None:
    """Emit one pass over batch, heads and blocks of queries."""
    heads, queries, inner = q.shape[-3:]
    keys = k.shape[-2]
    shared = heads // k.shape[-3]
    batch = math.prod(q.shape[:-3])
    wide = [mask.broadcast_to((*q.shape[:-1], keys)) for mask in masks]
    work = _Attention(
        op,
        kernel,
        q.reshape((batch, heads, queries, inner)),
        k.reshape((batch, heads // shared, *k.shape[-2:])),
        v.reshape((batch, heads // shared, *v.shape[-2:])),
        [kernel.reshaped(mask, (batch, heads, queries, keys)) for mask in wide],
        y.over((batch, heads, queries, v.shape[-1])),
    )
    blocks = -(-queries // work.block)
    spread(Section((batch, heads), blocks, lambda at: work.head(at, [at[0], at[1] // shared])))


class _Attention:
    def __init__(
        self,
        op: tri.Attention,
        kernel: KernelBuilder,
        q: Buffer,
        k: Buffer,
        v: Buffer,
        masks: Sequence[Buffer],
        y: Sink,
    ) -> None:
        self.op, self.kernel = op, kernel
        self.q, self.k, self.v, self.y = q, k, v, y
        self.masks = list(zip(masks, fills_of(masks, op.fills), strict=True))
        self.queries, inner = q.shape[-2:]
        self.keys = k.shape[-2]
        self.dtype = compute_dtype(q.dtype)
        self.block = min(BLOCK, self.queries)
        self.columns = kernel.private((inner, self.keys), self.dtype)
        self.scores = kernel.private((self.block, self.keys), self.dtype)
        self.scales = kernel.private((self.block,), self.dtype)

    def head(self, at: Sequence[Index], source: Sequence[Index]) -> list[Piece]:
        """Prepare one head; keys and values come from the head `source`, which may be shared.

        Returns its blocks of queries.
        """
        keys, values = self.k.part(source), self.v.part(source)
        store_transposed(keys, self.columns, self.kernel.lanes(self.dtype))
        full, rest = divmod(self.queries, self.block)
        last = Index(full * self.block)
        return [
            Piece(full, lambda i: self._rows(at, values, i * self.block, self.block)),
            Piece(bool(rest), lambda _: self._rows(at, values, last, rest)),
        ]

    def _rows(self, at: Sequence[Index], values: Buffer, first: Index, count: int) -> None:
        self._score(at, first, count)
        for_each(count, self._normalise)
        self._mix(at, values, first, count)

    def _score(self, at: Sequence[Index], first: Index, count: int) -> None:
        def finish(i: Index, j: Index, number: Number, lanes: Lanes) -> None:
            self.scores.store(self._masked(number, at, first + i, j, lanes), [i, j], lanes)

        Contraction(
            count,
            self.keys,
            (self.columns.shape[0],),
            self.dtype,
            lambda rows, i, d: self.q.load([*at, first + rows.first + i, *d]),
            DirectPanel(self.columns),
            finish,
        ).emit(choose_tile(self.kernel.machine, self.dtype, count, self.keys))

    def _masked(
        self, number: Number, at: Sequence[Index], query: Index, key: Index, lanes: Lanes
    ) -> Number:
        number = number * self.op.scale
        for mask, fill in self.masks:
            seen = mask.load([*at, query, key], lanes)
            number = seen.select(number, fill) if seen.dtype == "i1" else number + seen
        if self.op.causal:
            dtype = place_dtype(max(self.keys, self.queries))
            keys = neighbours(key, lanes, dtype)
            before = keys.less_equal(splat_index(query, lanes.width, dtype))
            number = before.select(number, -math.inf)
        return number

    def _normalise(self, row: Index) -> None:
        """Make powers of the scores of a query, and note what they must be multiplied by."""
        strip = Strip(row, self.keys, self.kernel.lanes(self.dtype))
        scale = exponentiate(strip, self.dtype, self.scores.load, self.scores.store)
        self.scales.store(scale, [row])

    def _mix(self, at: Sequence[Index], values: Buffer, first: Index, count: int) -> None:
        def finish(i: Index, j: Index, number: Number, lanes: Lanes) -> None:
            scaled = number * splat(self.scales.load([i]), lanes.width)
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
