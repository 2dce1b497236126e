"""Attention whose scores are capped, or whose softmax has one more score of no value, in parts."""

from collections.abc import Sequence

import numpy as np

from ....dialects import tri
from ....dialects.core.tensor import greatest_finite
from ..core.values import Value, cast, constant, tensor


def capped_attention(
    q: Value,
    k: Value,
    v: Value,
    masks: Sequence[Value],
    *,
    scale: float,
    softcap: float,
    sink: Value | None,
) -> Value:
    """Attend as `tri.attention` does; cap scores before masks are applied.

    `sink` broadcasts to [batch, heads, queries, 1]: the score of what no value belongs to.
    """
    batch, heads, length, _ = tensor(q).shape
    shared, keys, size = tensor(v).shape[1:]
    grouped = (batch, shared, heads // shared * length)
    wide = [cast(x, "f32") for x in (q, k, v)]
    queries = tri.Reshape.build(wide[0], shape=(*grouped, tensor(q).shape[3])).y
    turned = tri.Transpose.build(wide[1], permutation=(0, 1, 3, 2)).y
    products = tri.MatMul.build(queries, turned).y
    scores = tri.Mul.build(products, _number(scale)).y
    if softcap:
        scores = tri.Tanh.build(tri.Div.build(scores, _number(softcap)).y).y
        scores = tri.Mul.build(scores, _number(softcap)).y
    scores = tri.Reshape.build(scores, shape=(batch, heads, length, keys)).y
    for mask in masks:
        scores = _masked(scores, mask)
    weights = _softmax(scores, sink)
    weights = tri.Reshape.build(weights, shape=(*grouped, keys)).y
    y = tri.MatMul.build(weights, wide[2]).y
    y = tri.Reshape.build(y, shape=(batch, heads, length, size)).y
    return cast(y, tensor(q).dtype)


def _masked(scores: Value, mask: Value) -> Value:
    if tensor(mask).dtype != "i1":
        return tri.Add.build(scores, cast(mask, "f32")).y
    return tri.Where.build(mask, scores, _number(-greatest_finite("f32"))).y


def _softmax(scores: Value, sink: Value | None) -> Value:
    if sink is None:
        return tri.Softmax.build(scores, axis=3).y
    shape = tensor(scores).shape
    last = tri.Expand.build(cast(sink, "f32"), shape=(*shape[:3], 1)).y
    weights = tri.Softmax.build(tri.Concat.build([scores, last], axis=3).y, axis=3).y
    return tri.Slice.build(weights, starts=(0,) * 4, sizes=shape, steps=(1,) * 4).y


def _number(value: float) -> Value:
    return constant(np.array(value, np.float32))
