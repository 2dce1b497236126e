"""Rule of ONNX Runtime for attention whose queries, keys and values were projected before."""

from collections.abc import Sequence

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.checks import need_same, need_same_shape
from ....core.values import tensor
from ....decoding.heads import default_scale, joined, merge_heads, split_heads, visible
from ...registry import Node, Size, Value, onnx_op
from . import DOMAIN
from .padding_masks import padding_mask

FILL = -10000.0
"""What is added to the score of a padded key, unless a node says otherwise."""


@onnx_op("MultiHeadAttention", since=1, domain=DOMAIN)
def multi_head_attention(
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    bias: Value | None = None,
    key_padding_mask: Value | None = None,
    attention_bias: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    past_sequence_length: Value | None = None,
    cache_indirection: Value | None = None,
    *,
    mask_filter_value: float = FILL,
    num_heads: int,
    scale: float = 0.0,
    unidirectional: int = 0,
    node: Node,
) -> tuple[Value, Value, Value]:
    """Attend, given [batch, length, heads * size], or packed in one tensor of rank 5.

    Keys and values of rank 4, [batch, heads, length, size], are those of another sequence, as they
    are: no bias is added to them.
    """
    for name, given in (
        ("past_sequence_length", past_sequence_length),
        ("cache_indirection", cache_indirection),
    ):
        if given is not None:
            raise Unsupported(f"has input '{name}', must have past and present of their own")
    if node.wants(3):
        raise Unsupported("puts out its scores, must have at most 3 outputs")
    if (past_key is None) != (past_value is None):
        raise Invalid("has one of past_key and past_value, must have both or neither")
    queries, keys, values = _unpacked(query, key, value)
    other = tensor(keys).rank == 4 and tensor(query).rank == 3 and tensor(key or query).rank == 4
    if other and past_key is not None:
        raise Unsupported("has keys of rank 4 and a past, must have one of them")
    queries, keys, values = _biased(queries, keys, values, bias, of_keys=not other)
    q, k, v = (_heads(x, num_heads) for x in (queries, keys, values))
    return attend(
        q,
        joined(past_key, k),
        joined(past_value, v),
        key_padding_mask,
        attention_bias,
        past=0 if past_key is None else tensor(past_key).shape[2],
        unidirectional=bool(unidirectional),
        scale=scale,
        fill=mask_filter_value,
    )


def attend(
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None,
    bias: Value | None,
    *,
    past: Size,
    unidirectional: bool,
    scale: float,
    fill: float,
) -> tuple[Value, Value, Value]:
    """Attend to keys, the past ones first; return the result with its heads together, k and v."""
    batch, heads, length, _ = tensor(q).shape
    keys = tensor(k).shape[2]
    masks: list[Value] = []
    if mask is not None:
        scores = (batch, heads, length, keys)
        masks.append(padding_mask(mask, scores, fill, tensor(q).dtype))
    if bias is not None:
        masks.append(checked_bias(bias, length, keys))
    causal = unidirectional and past == 0
    if unidirectional:
        fault = f"is unidirectional with {length} queries and {keys - past} keys, must be as many"
        need_same(length, keys - past, fault)
    if unidirectional and not causal:
        seen = visible(length, keys, past, -1, 0)
        masks += [] if seen is None else [seen]
    scale = scale or default_scale(q)
    y = tri.Attention.build(q, k, v, masks, scale=scale, causal=causal).y
    return merge_heads(y), k, v


def checked_bias(bias: Value, queries: Size, keys: Size) -> Value:
    """Return a bias of scores; raise Invalid unless it has rank 4 and their last two axes."""
    fault = f"has attention_bias {tensor(bias)}, must be [… , …, {queries}, {keys}]"
    if tensor(bias).rank != 4:
        raise Invalid(fault)
    need_same_shape(tensor(bias).shape[2:], (queries, keys), fault)
    return bias


def _unpacked(query: Value, key: Value | None, value: Value | None) -> Sequence[Value]:
    """Return queries, keys and values; what was packed has an axis for the heads."""
    if tensor(query).rank == 5:
        if key is not None or value is not None:
            raise Invalid(f"has packed queries {tensor(query)} and keys, must have one of them")
        return _apart(query, 3)
    if tensor(query).rank != 3:
        raise Invalid(f"has queries {tensor(query)}, must have rank 3 or 5")
    if key is None:
        raise Invalid(f"has queries {tensor(query)} and no keys, must have rank 5 or keys")
    if tensor(key).rank == 5:
        if value is not None:
            raise Invalid(f"has packed keys {tensor(key)} and values, must have one of them")
        return query, *_apart(key, 2)
    if value is None:
        raise Invalid(f"has keys {tensor(key)} and no values, must have both")
    if tensor(key).rank != tensor(value).rank or tensor(key).rank not in (3, 4):
        raise Invalid(f"has keys {tensor(key)}, values {tensor(value)}, must both have rank 3 or 4")
    return query, key, value


def _apart(packed: Value, count: int) -> list[Value]:
    """Take [batch, length, heads, count, size] apart, to [batch, length, heads * size] each."""
    batch, length, heads, given, size = tensor(packed).shape
    need_same(given, count, f"has packed {tensor(packed)}, must have {count} along axis 3")
    parts = tri.Split.build(packed, axis=3, sizes=(1,) * count).results
    return [tri.Reshape.build(part, shape=(batch, length, heads * size)).y for part in parts]


def _biased(
    queries: Value, keys: Value, values: Value, bias: Value | None, *, of_keys: bool
) -> Sequence[Value]:
    """Add the parts of a bias, side by side for queries, keys and values."""
    if bias is None:
        return queries, keys, values
    hidden = tensor(queries).shape[-1]
    last = tensor(values).shape[-1] if of_keys else hidden
    sizes = (hidden, hidden, last)
    fault = f"has bias {tensor(bias)}, must have {sum(sizes)} elements"
    if tensor(bias).rank != 1:
        raise Invalid(fault)
    need_same(tensor(bias).size, sum(sizes), fault)
    q, k, v = tri.Split.build(bias, axis=0, sizes=sizes).results
    queries = tri.Add.build(queries, q).y
    if not of_keys:
        return queries, keys, values
    return queries, tri.Add.build(keys, k).y, tri.Add.build(values, v).y


def _heads(x: Value, heads: int) -> Value:
    if tensor(x).rank == 4:
        fault = f"has {tensor(x)} for {heads} heads"
        need_same(tensor(x).shape[1], heads, fault)
    return split_heads(x, heads)
