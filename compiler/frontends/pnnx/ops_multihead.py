"""The PNNX rule for attention as a module: projections, heads, attention, and a projection."""

import math
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.tensor import numpy_dtype
from ..core.values import constant, tensor
from .graph import Operator
from .movement import cut, expand, reshape, transpose
from .ops_matmul import linear
from .promotion import as_type
from .rules import Value, pnnx_op


@dataclass(frozen=True)
class _Projection:
    """Hold the weights of one projection."""

    weight: Value
    bias: Value | None

    def __call__(self, x: Value) -> Value:
        return linear(x, self.weight, self.bias)


@pnnx_op("nn.MultiheadAttention")
def multihead_attention(
    query: Value | None = None,
    key: Value | None = None,
    value: Value | None = None,
    input: Value | None = None,
    attn_mask: Value | None = None,
    *,
    out_proj_weight: Value,
    out_proj_bias: Value | None = None,
    in_proj_weight: Value | None = None,
    in_proj_bias: Value | None = None,
    q_proj_weight: Value | None = None,
    k_proj_weight: Value | None = None,
    v_proj_weight: Value | None = None,
    bias_k: Value | None = None,
    bias_v: Value | None = None,
    num_heads: int,
    batch_first: bool = False,
    add_bias_kv: bool = False,
    add_zero_attn: bool = False,
    operator: Operator,
) -> tuple[Value, Value | None]:
    """Attend; the second result, the weights that heads have on average, is made when it is used.

    Without a key the query is key and value as well, without a value the key is.
    """
    query = input if query is None else query
    if query is None:
        raise Invalid("has no query")
    key = query if key is None else key
    value = key if value is None else value
    weights = in_proj_weight, (q_proj_weight, k_proj_weight, v_proj_weight)
    projected = _projected((query, key, value), *weights, in_proj_bias)
    q, k, v = (_standard(x, batch_first) for x in projected)
    k, v = _with_more(k, bias_k, add_zero_attn), _with_more(v, bias_v, add_zero_attn)
    q, k, v = (_heads(x, num_heads) for x in (q, k, v))
    mask = _mask(attn_mask, q, k)
    used = len(operator.outputs) > 1 and bool(operator.outputs[1].consumers)
    y, seen = _attend(q, k, v, mask, used)
    batch, heads, length, size = tensor(y).shape
    joined = reshape(transpose(y, (0, 2, 1, 3)), (batch, length, heads * size))
    made = _Projection(out_proj_weight, out_proj_bias)(joined)
    if tensor(query).rank == 2:
        unbatched = None if seen is None else reshape(seen, tensor(seen).shape[1:])
        return reshape(made, tensor(made).shape[1:]), unbatched
    return made if batch_first else transpose(made, (1, 0, 2)), seen


def _projected(
    inputs: tuple[Value, Value, Value],
    packed: Value | None,
    apart: tuple[Value | None, ...],
    bias: Value | None,
) -> list[Value]:
    """Project queries, keys and values: by one product where they are the same tensor."""
    if packed is not None and inputs[0] == inputs[1] == inputs[2]:
        y = _Projection(packed, bias)(inputs[0])
        size = tensor(y).shape[-1] // 3
        return list(tri.Split.build(y, axis=tensor(y).rank - 1, sizes=(size,) * 3).results)
    weights = list(apart) if packed is None else _thirds(packed)
    biases = [None] * 3 if bias is None else _thirds(bias)
    made: list[Value] = []
    for x, weight, shift in zip(inputs, weights, biases, strict=True):
        if weight is None:
            raise Invalid("has neither in_proj_weight nor weights for query, key and value")
        made.append(_Projection(weight, shift)(x))
    return made


def _thirds(x: Value) -> list[Value]:
    size = tensor(x).shape[0] // 3
    return [cut(x, 0, i * size, (i + 1) * size) for i in range(3)]


def _standard(x: Value, batch_first: bool) -> Value:
    """Return [batch, length, size]."""
    if tensor(x).rank == 2:
        return reshape(x, (1, *tensor(x).shape))
    if tensor(x).rank != 3:
        raise Invalid(f"has an input {tensor(x)}, must have rank 2 or 3")
    return x if batch_first else transpose(x, (1, 0, 2))


def _with_more(x: Value, bias: Value | None, zero: bool) -> Value:
    """Append a key, or a value, that was learned, and one of zeros."""
    batch, _, size = tensor(x).shape
    if bias is not None:
        learned = expand(reshape(bias, (1, 1, size)), (batch, 1, size))
        x = tri.Concat.build([x, learned], axis=1).y
    return tri.Pad.build(x, pads=(0, 0, 0, 0, 1, 0)).y if zero else x


def _heads(x: Value, heads: int) -> Value:
    """Turn [batch, length, heads * size] into [batch, heads, length, size]."""
    batch, length, size = tensor(x).shape
    if heads < 1 or size % heads:
        raise Invalid(f"has {heads} heads for {size} elements, must divide them")
    return transpose(reshape(x, (batch, length, heads, size // heads)), (0, 2, 1, 3))


def _mask(mask: Value | None, q: Value, k: Value) -> Value | None:
    """Return what is added to scores, or true where a key is seen; keys that came later are."""
    if mask is None:
        return None
    (batch, heads, _, _), keys = tensor(q).shape, tensor(k).shape[2]
    if tensor(mask).rank == 3:
        mask = reshape(mask, (batch, heads, *tensor(mask).shape[1:]))
    # The module's bools say which keys are hidden.
    hidden = tensor(mask).dtype == "i1"
    if missing := keys - tensor(mask).shape[-1]:
        ends = (*[0] * (2 * tensor(mask).rank - 1), missing)
        mask = tri.Pad.build(mask, pads=ends).y
    return tri.Not.build(mask).y if hidden else mask


def _attend(
    q: Value, k: Value, v: Value, mask: Value | None, used: bool
) -> tuple[Value, Value | None]:
    """Attend in one op; in several when the weights are used as well."""
    scale = 1 / math.sqrt(max(tensor(q).shape[-1], 1))
    if not used:
        return tri.Attention.build(q, k, v, mask, scale=scale).y, None
    dtype = tensor(q).dtype
    scaled = tri.Mul.build(q, as_type(scale, dtype)).y
    scores = tri.MatMul.build(scaled, transpose(k, (0, 1, 3, 2))).y
    if mask is not None and tensor(mask).dtype == "i1":
        never = constant(np.array(-np.inf, numpy_dtype(dtype)))
        scores = tri.Where.build(mask, scores, never).y
    elif mask is not None:
        scores = tri.Add.build(scores, mask).y
    weights = tri.Softmax.build(scores, axis=3).y
    mean = tri.ReduceMean.build(weights, axes=(1,), keepdims=False).y
    return tri.MatMul.build(weights, v).y, mean
