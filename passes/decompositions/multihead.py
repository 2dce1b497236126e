"""Attention as a module, in terms of layers, reshapes and attention."""

import math
from collections.abc import Sequence

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ..building import expand, mat_mul, number, reshape, shape_of, transpose
from ..fold.fold_slices import build_slice
from ..rewriting import uses
from .attention import attention_weights
from .norms import narrowed, widened
from .registry import decomposes


@decomposes(tri.MultiheadAttention)
def multihead_attention(op: tri.MultiheadAttention) -> list[ir.Value]:
    """Attend in one op; in several when the weights are used as well."""
    scale = 1 / math.sqrt(max(shape_of(op.q)[2] // op.heads, 1))  # first: it may be undecided
    inputs = [x if op.batch_first else transpose(x, 1, 0, 2) for x in (op.q, op.k, op.v)]
    if op.q == op.k == op.v:
        inputs = [inputs[0]] * 3
    q, k, v = _projected(op, inputs)
    length = shape_of(k)[1]
    k, v = _more(k, op.bias_k, op.add_zero), _more(v, op.bias_v, op.add_zero)
    q, k, v = (_heads(x, op.heads) for x in (q, k, v))
    masks = () if op.mask is None else (_longer(_of_heads(op), length, shape_of(k)[2] - length),)
    if uses(op.weights):
        y, weights = _attend(q, k, v, masks, scale)
    else:
        y = tri.Attention.build(q, k, v, masks, scale=scale).y
        weights = expand(number(0, y), *shape_of(op.weights))
    batch, heads, queries, size = shape_of(y)
    joined = reshape(transpose(y, 0, 2, 1, 3), batch, queries, heads * size)
    made = tri.Linear.build(joined, op.out_w, op.out_b).y
    return [made if op.batch_first else transpose(made, 1, 0, 2), weights]


def _projected(op: tri.MultiheadAttention, inputs: Sequence[ir.Value]) -> list[ir.Value]:
    """Project queries, keys and values: by one product where they are the same tensor."""
    size = shape_of(op.q)[2]
    sizes = (size,) * 3
    if len(op.w) == 1 and inputs[0] == inputs[1] == inputs[2]:
        y = tri.Linear.build(inputs[0], op.w[0], op.b).y
        return list(tri.Split.build(y, axis=2, sizes=sizes).ys)
    weights = list(op.w) if len(op.w) == 3 else [_third(op.w[0], i, size) for i in range(3)]
    biases = [None if op.b is None else _third(op.b, i, size) for i in range(3)]
    zipped = zip(inputs, weights, biases, strict=True)
    return [tri.Linear.build(x, weight, bias).y for x, weight, bias in zipped]


def _third(x: ir.Value, index: int, size: int) -> ir.Value:
    return build_slice(x, 0, index * size, size).y


def _more(x: ir.Value, learned: ir.Value | None, zero: bool) -> ir.Value:
    """Append a learned key or value, and one of zeros."""
    batch, _, size = shape_of(x)
    if learned is not None:
        row = expand(reshape(learned, 1, 1, size), batch, 1, size)
        x = tri.Concat.build([x, row], axis=1).y
    return tri.Pad.build(x, pads=(0, 0, 0, 0, 1, 0)).y if zero else x


def _heads(x: ir.Value, heads: int) -> ir.Value:
    """Turn [batch, length, heads * size] into [batch, heads, length, size]."""
    batch, length, size = shape_of(x)
    return transpose(reshape(x, batch, length, heads, size // heads), 0, 2, 1, 3)


def _of_heads(op: tri.MultiheadAttention) -> ir.Value:
    """Return the mask so that it broadcasts to [batch, heads, L, S]."""
    assert op.mask is not None
    if len(shape_of(op.mask)) != 3:
        return op.mask
    outer, *scores = shape_of(op.mask)
    return reshape(op.mask, outer // op.heads, op.heads, *scores)


def _longer(mask: ir.Value, keys: int, more: int) -> ir.Value:
    """Let a mask of some keys show those that come after them."""
    if not more:
        return mask
    shape = (*shape_of(mask)[:-1], keys)
    seen = 1.0 if tensor_of(mask.type).dtype == "i1" else 0.0
    pads = (*[0] * (2 * len(shape) - 1), more)
    return tri.Pad.build(expand(mask, *shape), pads=pads, value=seen).y


def _attend(
    q: ir.Value, k: ir.Value, v: ir.Value, masks: Sequence[ir.Value], scale: float
) -> tuple[ir.Value, ir.Value]:
    weights = attention_weights(widened(q), widened(k), masks, scale=scale)
    mean = tri.ReduceMean.build(weights, axes=(1,), keepdims=False).y
    return narrowed(mat_mul(weights, widened(v)), q), narrowed(mean, q)
