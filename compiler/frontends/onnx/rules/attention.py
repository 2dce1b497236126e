"""ONNX rules for attention."""

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.limits import is_same
from ...core.values import cast, number, tensor
from ...decoding.heads import default_scale, heads_apart, joined, merge_heads, split_heads, visible
from ..registry import Node, Size, UseFunctionBody, Value, onnx_op


@onnx_op("Attention", since=23)
def attention(
    q: Value,
    k: Value,
    v: Value,
    attn_mask: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    nonpad_kv_seqlen: Value | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    left_window_size: int = -1,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    node: Node,
) -> tuple[Value, ...]:
    """Translate attention to `tri.attention`, or leave it to the function body.

    A cache, of which `nonpad_kv_seqlen` rows are in use after the queries, is read up to these. The
    function body computes capped scores, scores as an output, and masks of such a cache. Softmax
    has any requested precision: half types are computed in f32.
    """
    for value in (q, k, v):
        if tensor(value).rank not in (3, 4):
            raise Invalid(f"has operand {tensor(value)}, must have rank 3 or 4")
    if past_key is not None and tensor(past_key).rank != 4:
        raise Invalid(f"has past keys {tensor(past_key)}, must have rank 4")
    if node.wants(3) or softcap:
        raise UseFunctionBody
    if nonpad_kv_seqlen is not None:
        single = is_same(_query_count(q), 1) and left_window_size < 0
        if attn_mask is not None or not (is_causal or right_window_size == 0 or single):
            raise UseFunctionBody
        packed, q = tensor(q).rank == 3, split_heads(q, q_num_heads)
        k, v = split_heads(k, kv_num_heads), split_heads(v, kv_num_heads)
        y = _attend_to_rows_in_use(q, k, v, nonpad_kv_seqlen, scale, left_window_size + 1)
        return (merge_heads(y) if packed else y), k, v
    if attn_mask is not None and not _has_keys(attn_mask, _key_count(k, past_key)):
        raise UseFunctionBody
    packed = tensor(q).rank == 3
    q, k, v = (
        split_heads(q, q_num_heads),
        split_heads(k, kv_num_heads),
        split_heads(v, kv_num_heads),
    )
    past = tensor(past_key).shape[2] if past_key is not None else 0
    k, v = joined(past_key, k), joined(past_value, v)
    queries, keys = tensor(q).shape[2], tensor(k).shape[2]
    causal = bool(is_causal) and past == 0
    after = 0 if is_causal and not causal else right_window_size
    seen = visible(queries, keys, past, left_window_size, after)
    y = tri.Attention.build(
        q,
        k,
        v,
        [mask for mask in (attn_mask, seen) if mask is not None],
        scale=default_scale(q) if scale is None else scale,
        causal=causal,
    ).y
    return (merge_heads(y) if packed else y), k, v


def _query_count(q: Value) -> Size:
    return tensor(q).shape[tensor(q).rank - 2]


def _attend_to_rows_in_use(
    q: Value, k: Value, v: Value, used: Value, scale: float | None, window: int
) -> Value:
    """Let queries, the last tokens of the rows in use of each entry, see the rows up to them."""
    starts = tri.Sub.build(cast(used, "i64"), number(tensor(q).shape[2])).y
    scale = default_scale(q) if scale is None else scale
    rows = tensor(k).shape[2]
    return tri.CachedAttention.build(q, k, v, starts, rows=rows, scale=scale, window=window).y


def _has_keys(mask: Value, keys: Size) -> bool:
    """Return whether a mask is as long as the keys, or may be when the model runs."""
    sizes = tensor(mask).shape[-1:]
    return bool(sizes) and is_same(sizes[0], keys) is not False


def _key_count(k: Value, past_key: Value | None) -> Size:
    axis = tensor(k).rank - 2
    return tensor(k).shape[axis] + (tensor(past_key).shape[2] if past_key is not None else 0)


@onnx_op("LinearAttention", since=27)
def linear_attention(
    q: Value,
    k: Value,
    v: Value,
    past_state: Value | None = None,
    decay: Value | None = None,
    beta: Value | None = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> tuple[Value, Value]:
    if update_rule not in ("linear", "gated", "delta", "gated_delta"):
        known = "linear, gated, delta or gated_delta"
        raise Invalid(f"has update_rule '{update_rule}', must be {known}")
    for rule, name, value in (("gated", "decay", decay), ("delta", "beta", beta)):
        if rule in update_rule and value is None:
            raise Invalid(f"has no {name}, which update_rule '{update_rule}' needs")
    q = heads_apart(q, q_num_heads)
    made = tri.LinearAttention.build(
        q,
        heads_apart(k, kv_num_heads),
        heads_apart(v, kv_num_heads),
        heads_apart(decay, kv_num_heads) if decay is not None and "gated" in update_rule else None,
        _rate(beta, kv_num_heads) if beta is not None and "delta" in update_rule else None,
        past_state,
        scale=scale or default_scale(q),
    )
    batch, length, heads, size = tensor(made.y).shape
    return tri.Reshape.build(made.y, shape=(batch, length, heads * size)).y, made.last_state


def _rate(beta: Value, heads: int) -> Value:
    """Turn a rate for all heads, or for each, into [batch, sequence, 1 or heads, 1]."""
    return heads_apart(beta, 1 if tensor(beta).shape[-1] == 1 else heads)
