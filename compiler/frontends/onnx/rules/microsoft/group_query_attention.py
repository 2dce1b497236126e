"""Rule of ONNX Runtime for attention of decoders: shared keys, rotary embedding and a cache."""

from collections.abc import Sequence

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.checks import need, need_same, need_same_shape
from ......dialects.core.sizes.limits import is_same
from ....core.values import cast, constant, counted, number, tensor
from ....decoding.cache import (
    Step,
    appended,
    attend_to_cache,
    positions,
    seen,
    step_of,
)
from ....decoding.capped_attention import capped_attention
from ....decoding.heads import default_scale, first_rows, heads_apart, joined, merge_heads
from ....decoding.rotary import at_positions, rotate
from ...registry import Node, Size, Value, onnx_op
from . import DOMAIN
from .multi_head_attention import checked_bias
from .window_cache import WindowCache


@onnx_op("GroupQueryAttention", since=1, domain=DOMAIN)
def group_query_attention(
    query: Value,
    key: Value | None,
    value: Value | None,
    past_key: Value | None,
    past_value: Value | None,
    seqlens_k: Value,
    total_sequence_length: Value,
    cos_cache: Value | None = None,
    sin_cache: Value | None = None,
    position_ids: Value | None = None,
    attention_bias: Value | None = None,
    head_sink: Value | None = None,
    k_scale: Value | None = None,
    v_scale: Value | None = None,
    q_norm_weight: Value | None = None,
    k_norm_weight: Value | None = None,
    query_seqlens: Value | None = None,
    *,
    causal: int = 1,
    do_rotary: int = 0,
    k_norm_epsilon: float | None = None,
    k_quant_type: str = "NONE",
    kv_cache_bit_width: int = 0,
    kv_num_heads: int,
    local_window_size: int = -1,
    num_heads: int,
    q_norm_epsilon: float | None = None,
    qk_norm_epsilon: float = 1e-6,
    qk_output: int = 0,
    rotary_interleaved: int = 0,
    scale: float = 0.0,
    sliding_window_cache: int = 0,
    smooth_softmax: int = 0,
    softcap: float = 0.0,
    v_quant_type: str = "NONE",
    node: Node,
) -> tuple[Value, Value, Value]:
    """Append keys and values to a cache, and attend to its rows in use.

    `seqlens_k` has one less than the rows in use after the step, for each entry of the batch;
    present has as many rows as the past, or `total_sequence_length` where these are more. Rows
    behind those in use, and results of queries that pad a batch, are not specified.
    """
    if not (k_quant_type == v_quant_type == "NONE") or kv_cache_bit_width or k_scale or v_scale:
        raise Unsupported("has a quantised cache, must have one of the queries' element type")
    if sliding_window_cache and attention_bias is not None:
        raise Unsupported("has sliding_window_cache 1 and attention_bias, must have one of them")
    if qk_output or node.wants(3):
        raise Unsupported("puts out its scores, must have qk_output 0 and at most 3 outputs")
    if local_window_size != -1 and (local_window_size < 1 or not causal):
        what = f"has local_window_size {local_window_size} and causal {causal}"
        raise Invalid(f"{what}, must have -1, or at least 1 and causal 1")
    _need_both("past_key", past_key, "past_value", past_value)
    _need_both("q_norm_weight", q_norm_weight, "k_norm_weight", k_norm_weight)
    q, k, v = _parts(query, key, value, num_heads, kv_num_heads)
    _check_past(past_key, k)
    _check_past(past_value, v)
    q = _normalized(q, q_norm_weight, q_norm_epsilon or qk_norm_epsilon)
    k = _normalized(k, k_norm_weight, k_norm_epsilon or qk_norm_epsilon)
    total = _total(k, past_key, total_sequence_length, bool(sliding_window_cache), node)
    is_state = node.updates(1, past_key)
    step = step_of(k, past_key, total, seqlens_k, query_seqlens, is_state=is_state)
    if do_rotary:
        if cos_cache is None or sin_cache is None:
            raise Invalid("has do_rotary 1, which needs cos_cache and sin_cache")
        if position_ids is not None and query_seqlens is not None:
            raise Unsupported("has position_ids and query_seqlens, must have one of them")
        if position_ids is None:
            rows = tensor(cos_cache).shape[0]
            need(rows, total, f"has {total} keys, must be at most {rows}, the angles of cos_cache")
        places = _places(step, position_ids)
        angles = tuple(at_positions(cache, places, 2) for cache in (cos_cache, sin_cache))
        q, k = (rotate(x, *angles, interleaved=bool(rotary_interleaved)) for x in (q, k))
    q, k, v = (tri.Transpose.build(x, permutation=(0, 2, 1, 3)).y for x in (q, k, v))
    sink = _sink(head_sink, num_heads, bool(smooth_softmax))
    scale = scale or default_scale(q)
    is_plain = sink is None and not softcap and attention_bias is None and bool(causal)
    if is_plain and not sliding_window_cache:
        k, v = appended(past_key, k, step), appended(past_value, v, step)
        y = attend_to_cache(q, k, v, step, scale=scale, window=local_window_size)
        return merge_heads(y), k, v
    if sliding_window_cache:
        cache = WindowCache(past_key, step, local_window_size)
        keys, values = joined(past_key, k), joined(past_value, v)
        k, v, masks = cache.present(keys), cache.present(values), [cache.seen()]
    else:
        k, v = appended(past_key, k, step), appended(past_value, v, step)
        keys, values = k, v
        if attention_bias is not None or step.is_fixed:
            keys, values = (first_rows(x, total) for x in (k, v))
        mask = seen(step, tensor(keys).shape[2], window=local_window_size, causal=bool(causal))
        masks = [] if mask is None else [mask]
    if attention_bias is not None:
        masks.append(checked_bias(attention_bias, step.length, total))
    if softcap or sink is not None:
        y = capped_attention(q, keys, values, masks, scale=scale, softcap=softcap, sink=sink)
    else:
        y = tri.Attention.build(q, keys, values, masks, scale=scale).y
    return merge_heads(y), k, v


def _need_both(name: str, value: Value | None, other: str, given: Value | None) -> None:
    if (value is None) != (given is None):
        raise Invalid(f"has one of {name} and {other}, must have both or neither")


def _parts(
    query: Value, key: Value | None, value: Value | None, heads: int, shared: int
) -> Sequence[Value]:
    """Return queries, keys and values, [batch, length, heads, size], which may be in one tensor."""
    _need_both("key", key, "value", value)
    if heads < 1 or shared < 1 or heads % shared:
        raise Invalid(f"has {heads} query heads for {shared} key heads, must be a multiple")
    if key is None or value is None:
        apart = heads_apart(query, heads + 2 * shared)
        return tri.Split.build(apart, axis=2, sizes=(heads, shared, shared)).results
    q, k, v = heads_apart(query, heads), heads_apart(key, shared), heads_apart(value, shared)
    for x in (k, v):
        fault = f"has queries {tensor(query)} and keys or values {tensor(x)}, which do not fit"
        need_same_shape((*tensor(x).shape[:2],), tensor(q).shape[:2], fault)
    return q, k, v


def _check_past(past: Value | None, new: Value) -> None:
    """Raise Invalid unless a past, [batch, heads, rows, size], fits what is appended to it."""
    if past is None:
        return
    (batch, _, heads, size), given = tensor(new).shape, tensor(past)
    fault = f"has past {given}, must be of {tensor(new).dtype}, [{batch}, {heads}, …, {size}]"
    if given.rank != 4 or given.dtype != tensor(new).dtype:
        raise Invalid(fault)
    need_same_shape((*given.shape[:2], given.shape[3]), (batch, heads, size), fault)


def _normalized(x: Value, weight: Value | None, epsilon: float) -> Value:
    return x if weight is None else tri.RmsNorm.build(x, weight, axis=3, epsilon=epsilon).y


def _total(k: Value, past: Value | None, total: Value, drops: bool, node: Node) -> Size:
    """Return the most rows in use after the step; raise Invalid for more than there can be.

    Of a cache that `drops` rows, it counts those, too.
    """
    length = tensor(k).shape[1]
    if tensor(total).size != 1:
        raise Invalid(f"has total_sequence_length {tensor(total)}, must have one element")
    if drops:
        return node.found.compute(total)[0]
    most = length if past is None else tensor(past).shape[2] + length
    (size,) = node.found.compute(total, [most])
    if past is None:
        need_same(size, length, f"has {size} keys and no past, must have {length}, the new ones")
        return length
    need(size, length, f"has {size} keys, must be at least the {length} new ones")
    need(most, size, f"has {size} keys, must be at most {most}: those of the past and new ones")
    return size


def _places(step: Step, position_ids: Value | None) -> Value:
    """Return the positions of a step; given ones are those of the first alone in a first step."""
    if position_ids is None:
        return positions(step)
    given = cast(position_ids, "i64")
    fault = f"has position_ids {tensor(given)}, must be {[step.batch, step.length]}"
    need_same_shape(tensor(given).shape, (step.batch, step.length), fault)
    first = tri.Slice.build(given, starts=(0, 0), sizes=(1, 1), steps=(1, 1)).y
    counting = tri.Add.build(first, counted(step.length, (1, step.length))).y
    is_first = is_same(step.total, step.length)
    if is_first is not None:
        return counting if is_first else given
    decided = tri.Equal.build(number(step.total), number(step.length)).y
    return tri.Where.build(decided, counting, given).y


def _sink(head_sink: Value | None, heads: int, smooth: bool) -> Value | None:
    """Return a score for each head that no value belongs to, [1, heads or 1, 1, 1], or None."""
    if head_sink is not None:
        fault = f"has head_sink {tensor(head_sink)}, must have {heads} elements"
        need_same(tensor(head_sink).size, heads, fault)
        return tri.Reshape.build(head_sink, shape=(1, heads, 1, 1)).y
    return constant(np.zeros((1, 1, 1, 1), np.float32)) if smooth else None
