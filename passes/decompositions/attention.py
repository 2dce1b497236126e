"""Attention in terms of products, softmax and arithmetic."""

import math
from collections.abc import Sequence

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.atoms import Size
from ...dialects.tri.attention.attention import fills_of
from ..building import (
    add,
    cast,
    equal,
    expand,
    less,
    mat_mul,
    mul,
    reduce_max,
    reshape,
    scaled,
    shape_of,
    sub,
    transpose,
    where,
)
from ..fold.fold_slices import build_slice
from .norms import narrowed, widened
from .registry import decomposes


@decomposes(tri.Attention)
def attention(op: tri.Attention) -> ir.Value:
    shared = shape_of(op.q)[-3] // shape_of(op.k)[-3]
    k, v = _repeated(widened(op.k), shared), _repeated(widened(op.v), shared)
    weights = attention_weights(
        widened(op.q), k, list(op.masks), scale=op.scale, causal=op.causal, fills=op.fills
    )
    return narrowed(mat_mul(weights, v), op.y)


@decomposes(tri.CachedAttention)
def cached_attention(op: tri.CachedAttention) -> ir.Value:
    """Attend to the first rows, of which a mask shows each query those that it sees."""
    dtype = tensor_of(op.q.type).dtype
    k, v = (
        cast(_first_rows(x, scales, op.rows), dtype)
        for x, scales in ((op.k, op.k_scales), (op.v, op.v_scales))
    )
    batch, _, queries, _ = shape_of(op.q)
    start = reshape(cast(op.starts, "i64"), batch, 1, 1, 1)
    place = add(start, reshape(tri.Iota.build(size=queries).y, queries, 1))
    row = tri.Iota.build(size=op.rows).y
    seen = tri.LessEqual.build(row, place).y
    if op.window:
        seen = tri.And.build(seen, less(sub(place, op.window), row)).y
    return tri.Attention.build(op.q, k, v, [seen], scale=op.scale).y


def _first_rows(rows: ir.Value, scales: ir.Value | None, count: Size) -> ir.Value:
    """Return the first rows of a cache: floats, or bytes times their scales."""
    taken = build_slice(rows, 2, 0, count).y
    return taken if scales is None else scaled(taken, build_slice(scales, 2, 0, count).y)


def attention_weights(
    q: ir.Value,
    k: ir.Value,
    masks: Sequence[ir.Value],
    *,
    scale: float,
    causal: bool = False,
    fills: Sequence[float] = (),
) -> ir.Value:
    """Build the weights of an attention: queries and keys have the same heads, in f32 or wider."""
    rank = len(shape_of(k))
    scores = mul(mat_mul(q, transpose(k, *range(rank - 2), rank - 1, rank - 2)), scale)
    may_hide = False  # all keys of a query
    for mask, fill in zip(masks, fills_of(masks, fills), strict=True):
        selects = tensor_of(mask.type).dtype == "i1"
        may_hide = may_hide or not selects or fill == -math.inf
        scores = where(mask, scores, fill) if selects else add(scores, widened(mask))
    if causal:
        seen = np.tri(*shape_of(scores)[-2:], dtype=bool)
        scores = where(tri.Constant.build(value=seen).y, scores, -math.inf)
    weights = tri.Softmax.build(scores, axis=-1).y
    if not may_hide or 0 in shape_of(scores):
        return weights
    hidden = equal(reduce_max(scores, (rank - 1,)), -math.inf)  # NaN by now; others may be NaN, too
    return where(hidden, 0, weights)


def _repeated(heads: ir.Value, times: int) -> ir.Value:
    """Repeat each head, the third axis from the end, as often as query heads share it."""
    if times == 1:
        return heads
    *batch, count, length, size = shape_of(heads)
    single = reshape(heads, *batch, count, 1, length, size)
    repeated = expand(single, *batch, count, times, length, size)
    return reshape(repeated, *batch, count * times, length, size)
