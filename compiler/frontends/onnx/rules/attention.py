"""ONNX rules for attention."""

import math

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.sizes.limits import at_least, is_same
from ...core.values import constant, counted, number, tensor
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

    The function body computes capped scores, scores as an output, and padding that is known at
    run time only. Softmax has any requested precision: half types are computed in f32.
    """
    for value in (q, k, v):
        if tensor(value).rank not in (3, 4):
            raise Invalid(f"has operand {tensor(value)}, must have rank 3 or 4")
    if past_key is not None and tensor(past_key).rank != 4:
        raise Invalid(f"has past keys {tensor(past_key)}, must have rank 4")
    if node.wants(3) or softcap or nonpad_kv_seqlen is not None:
        raise UseFunctionBody
    if attn_mask is not None and not _has_keys(attn_mask, _key_count(k, past_key)):
        raise UseFunctionBody
    packed = tensor(q).rank == 3
    q, k, v = (
        _split_heads(q, q_num_heads),
        _split_heads(k, kv_num_heads),
        _split_heads(v, kv_num_heads),
    )
    past = tensor(past_key).shape[2] if past_key is not None else 0
    k, v = _joined(past_key, k), _joined(past_value, v)
    queries, keys = tensor(q).shape[2], tensor(k).shape[2]
    causal = bool(is_causal) and past == 0
    after = 0 if is_causal and not causal else right_window_size
    seen = _visible(queries, keys, past, left_window_size, after)
    y = tri.Attention.build(
        q,
        k,
        v,
        [mask for mask in (attn_mask, seen) if mask is not None],
        scale=_default_scale(q) if scale is None else scale,
        causal=causal,
    ).y
    return (_merge_heads(y) if packed else y), k, v


def _default_scale(q: Value) -> float:
    return 1 / math.sqrt(max(int(tensor(q).shape[-1]), 1))


def _has_keys(mask: Value, keys: Size) -> bool:
    """Return whether a mask is as long as the keys, or may be when the model runs."""
    sizes = tensor(mask).shape[-1:]
    return bool(sizes) and is_same(sizes[0], keys) is not False


def _key_count(k: Value, past_key: Value | None) -> Size:
    axis = tensor(k).rank - 2
    return tensor(k).shape[axis] + (tensor(past_key).shape[2] if past_key is not None else 0)


def _split_heads(x: Value, heads: int | None) -> Value:
    """Turn [batch, sequence, heads * size] into [batch, heads, sequence, size]."""
    if tensor(x).rank == 4:
        return x
    return tri.Transpose.build(_heads_apart(x, heads or 0), permutation=(0, 2, 1, 3)).y


def _merge_heads(x: Value) -> Value:
    batch, heads, length, size = tensor(x).shape
    together = tri.Transpose.build(x, permutation=(0, 2, 1, 3)).y
    return tri.Reshape.build(together, shape=(batch, length, heads * size)).y


def _joined(past: Value | None, new: Value) -> Value:
    return new if past is None else tri.Concat.build([past, new], axis=2).y


def _visible(queries: Size, keys: Size, past: Size, before: int, after: int) -> Value | None:
    """Return which keys each query may see by its place; None when it may see all of them.

    A query sees so many keys `before` its place and `after` it; a negative number means all.
    """
    if is_symbolic(past) or is_symbolic(queries):
        place = tri.Add.build(counted(queries, (queries, 1)), number(past)).y
    else:
        place = constant(past + np.arange(queries)[:, None])
    key = counted(keys, (keys,))
    seen: Value | None = None
    if before >= 0 and not at_least(before, past + queries - 1):
        first = tri.Sub.build(place, constant(np.array(before))).y
        seen = tri.GreaterEqual.build(key, first).y
    if after >= 0 and not at_least(after, keys - past - 1):
        last = tri.Add.build(place, constant(np.array(after))).y
        ahead = tri.LessEqual.build(key, last).y
        seen = ahead if seen is None else tri.And.build(seen, ahead).y
    return seen


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
    q = _heads_apart(q, q_num_heads)
    made = tri.LinearAttention.build(
        q,
        _heads_apart(k, kv_num_heads),
        _heads_apart(v, kv_num_heads),
        _heads_apart(decay, kv_num_heads) if decay is not None and "gated" in update_rule else None,
        _rate(beta, kv_num_heads) if beta is not None and "delta" in update_rule else None,
        past_state,
        scale=scale or _default_scale(q),
    )
    batch, length, heads, size = tensor(made.y).shape
    return tri.Reshape.build(made.y, shape=(batch, length, heads * size)).y, made.last_state


def _heads_apart(x: Value, heads: int) -> Value:
    """Turn [batch, sequence, heads * size] into [batch, sequence, heads, size]."""
    shape = tensor(x).shape
    if len(shape) != 3 or heads < 1 or shape[2] % heads:
        raise Invalid(f"has {heads} heads for an input {tensor(x)}")
    return tri.Reshape.build(x, shape=(*shape[:2], heads, shape[2] // heads)).y


def _rate(beta: Value, heads: int) -> Value:
    """Turn a rate for all heads, or for each, into [batch, sequence, 1 or heads, 1]."""
    return _heads_apart(beta, 1 if tensor(beta).shape[-1] == 1 else heads)
