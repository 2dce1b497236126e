"""Matrix products with extras, and attention, in terms of MatMul and arithmetic."""

import math

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import is_float
from ..building import add, expand, mat_mul, mul, reshape, shape_of, transpose, where
from ..rewriting import NoMatch
from .norms import narrowed, widened
from .registry import decomposes


@decomposes(tri.Gemm)
def gemm(op: tri.Gemm) -> ir.Value:
    whole = op.alpha.is_integer() and op.beta.is_integer()
    if not whole and not is_float(tensor_of(op.y.type).dtype):
        raise NoMatch("scales integers by a fraction")
    a = transpose(op.a, 1, 0) if op.trans_a else op.a
    b = transpose(op.b, 1, 0) if op.trans_b else op.b
    y = _times(mat_mul(a, b), op.alpha)
    return y if op.c is None else add(y, _times(op.c, op.beta))


@decomposes(tri.Linear)
def linear(op: tri.Linear) -> ir.Value:
    if len(shape_of(op.x)) == 2:
        return tri.Gemm.build(op.x, op.w, op.b, trans_b=True).y
    y = mat_mul(op.x, transpose(op.w, 1, 0))
    return y if op.b is None else add(y, op.b)


@decomposes(tri.Attention)
def attention(op: tri.Attention) -> ir.Value:
    q, k, v = widened(op.q), widened(op.k), widened(op.v)
    shared = shape_of(q)[-3] // shape_of(k)[-3]
    k, v = _repeated(k, shared), _repeated(v, shared)
    rank = len(shape_of(k))
    scores = mul(mat_mul(q, transpose(k, *range(rank - 2), rank - 1, rank - 2)), op.scale)
    if op.mask is not None:
        scores = _masked(scores, op.mask)
    if op.causal:
        seen = np.tri(*shape_of(scores)[-2:], dtype=bool)
        scores = where(tri.Constant.build(value=seen).y, scores, -math.inf)
    weights = tri.Softmax.build(scores, axis=-1).y
    if op.mask is not None:  # a row of nothing but -inf has become NaN
        weights = where(tri.IsNan.build(weights).y, 0, weights)
    return narrowed(mat_mul(weights, v), op.y)


def _times(x: ir.Value, factor: float) -> ir.Value:
    return x if factor == 1 else mul(x, factor)


def _repeated(heads: ir.Value, times: int) -> ir.Value:
    """Repeat each head, the third axis from the end, as often as query heads share it."""
    if times == 1:
        return heads
    *batch, count, length, size = shape_of(heads)
    single = reshape(heads, *batch, count, 1, length, size)
    repeated = expand(single, *batch, count, times, length, size)
    return reshape(repeated, *batch, count * times, length, size)


def _masked(scores: ir.Value, mask: ir.Value) -> ir.Value:
    if tensor_of(mask.type).dtype == "i1":
        return where(mask, scores, -math.inf)
    return add(scores, widened(mask))
