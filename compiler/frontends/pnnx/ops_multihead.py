"""The PNNX rule for attention as a module."""

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ..core.values import tensor
from .movement import reshape
from .rules import Value, pnnx_op


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
) -> tuple[Value, Value]:
    """Without a key the query is key and value as well, without a value the key is."""
    query = input if query is None else query
    if query is None:
        raise Invalid("has no query")
    key = query if key is None else key
    value = key if value is None else value
    alone = tensor(query).rank == 2
    inputs = _batches(query, key, value) if alone else (query, key, value)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = weights if in_proj_weight is None else (in_proj_weight,)
    given = [weight for weight in weights if weight is not None]
    if len(given) != len(weights):
        raise Invalid("has neither in_proj_weight nor weights for query, key and value")
    made = tri.MultiheadAttention.build(
        *inputs,
        given,
        out_proj_weight,
        in_proj_bias,
        out_proj_bias,
        bias_k,
        bias_v,
        _mask(attn_mask),
        heads=num_heads,
        batch_first=batch_first or alone,
        add_zero=add_zero_attn,
    )
    if not alone:
        return made.y, made.weights
    first, second = (reshape(y, tensor(y).shape[1:]) for y in (made.y, made.weights))
    return first, second


def _batches(query: Value, key: Value, value: Value) -> tuple[Value, Value, Value]:
    """Give tensors without a batch one, and the same tensor the same one."""
    q = reshape(query, (1, *tensor(query).shape))
    k = q if key == query else reshape(key, (1, *tensor(key).shape))
    return q, k, k if value == key else reshape(value, (1, *tensor(value).shape))


def _mask(mask: Value | None) -> Value | None:
    """Return what is added to scores, or true where a key is seen: the module says what is not."""
    if mask is None:
        return None
    return tri.Not.build(mask).y if tensor(mask).dtype == "i1" else mask
