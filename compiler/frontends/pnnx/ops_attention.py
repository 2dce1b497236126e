"""PNNX rules for attention."""

import math

from ....dialects import tri
from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import broadcast
from ..core.values import tensor
from .movement import expand, reshape
from .rules import Value, pnnx_op


@pnnx_op("F.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    *,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    if dropout_p:
        raise Unsupported(f"drops elements at random (dropout_p={dropout_p}), must be inference")
    rank = max(tensor(query).rank, tensor(key).rank, tensor(value).rank, 3)
    q, k, v = (_of_rank(x, rank) for x in (query, key, value))
    q, k, v = _same_batches(q, k, v)
    if scale is None:
        scale = 1 / math.sqrt(max(tensor(q).shape[-1], 1))
    masks = () if attn_mask is None else (attn_mask,)
    y = tri.Attention.build(q, k, v, masks, scale=scale, causal=is_causal).y
    return reshape(y, tensor(y).shape[1:]) if tensor(query).rank == 2 else y


def _of_rank(x: Value, rank: int) -> Value:
    return reshape(x, (*[1] * (rank - tensor(x).rank), *tensor(x).shape))


def _same_batches(q: Value, k: Value, v: Value) -> tuple[Value, Value, Value]:
    """Broadcast the axes before the heads; keys and values have the same heads as one another."""
    outer = broadcast(*(tensor(x).shape[:-3] for x in (q, k, v)))
    heads = broadcast(tensor(k).shape[-3:-2], tensor(v).shape[-3:-2])
    q = expand(q, (*outer, *tensor(q).shape[-3:]))
    k, v = (expand(x, (*outer, *heads, *tensor(x).shape[-2:])) for x in (k, v))
    return q, k, v
