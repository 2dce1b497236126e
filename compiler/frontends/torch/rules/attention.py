"""Rules for attention, for attention as a module, and for a layer of a transformer."""

import math

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.tensor import broadcast
from ...core.values import tensor
from ..registry import Value, torch_op
from ..views import expand, reshape


@torch_op("F.scaled_dot_product_attention")
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


@torch_op("nn.MultiheadAttention")
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
    """Return the addend of scores, or true where a key is seen: modules mark unseen keys."""
    if mask is None:
        return None
    return tri.Not.build(mask).y if tensor(mask).dtype == "i1" else mask


@torch_op("aten::_transformer_encoder_layer_fwd")
def transformer_encoder_layer(
    src: Value,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Value,
    qkv_bias: Value,
    proj_weight: Value,
    proj_bias: Value,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Value,
    norm_bias_1: Value,
    norm_weight_2: Value,
    norm_bias_2: Value,
    ffn_weight_1: Value,
    ffn_bias_1: Value,
    ffn_weight_2: Value,
    ffn_bias_2: Value,
    mask: Value | None = None,
    mask_type: int | None = None,
) -> tri.LayerNorm | tri.Add:
    """Add attention and a feed-forward network, each normalised before or after.

    Torch runs the layer as one operator in inference.
    """
    if mask is not None:
        words = "torch.backends.mha.set_fastpath_enabled(False)"
        raise Unsupported(f"has a mask: export the model after {words}")

    def attend(x: Value) -> Value:
        operands = (x, x, x, [qkv_weight], proj_weight, qkv_bias, proj_bias)
        return tri.MultiheadAttention.build(*operands, heads=num_heads, batch_first=True).y

    def feed(x: Value) -> Value:
        inner = tri.Linear.build(x, ffn_weight_1, ffn_bias_1).y
        inner = tri.Gelu.build(inner).y if use_gelu else tri.Relu.build(inner).y
        return tri.Linear.build(inner, ffn_weight_2, ffn_bias_2).y

    def norm(x: Value, weight: Value, bias: Value) -> tri.LayerNorm:
        return tri.LayerNorm.build(x, weight, bias, epsilon=eps)

    if norm_first:
        seen = attend(norm(src, norm_weight_1, norm_bias_1).y)
        x = tri.Add.build(src, seen).y
        return tri.Add.build(x, feed(norm(x, norm_weight_2, norm_bias_2).y))
    x = norm(tri.Add.build(src, attend(src)).y, norm_weight_1, norm_bias_1).y
    return norm(tri.Add.build(x, feed(x)).y, norm_weight_2, norm_bias_2)
