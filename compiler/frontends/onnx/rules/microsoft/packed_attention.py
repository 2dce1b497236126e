"""Rules of ONNX Runtime for attention with the product of queries, keys and values inside."""

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.checks import need_same_shape
from ....core.values import tensor
from ....decoding.heads import joined, split_heads
from ...registry import Node, Value, onnx_op
from . import DOMAIN
from .multi_head_attention import FILL, attend
from .quantize import matmul_integer_to_float


@onnx_op("Attention", since=1, domain=DOMAIN)
def attention(
    x: Value,
    weights: Value,
    bias: Value | None = None,
    mask_index: Value | None = None,
    past: Value | None = None,
    attention_bias: Value | None = None,
    past_sequence_length: Value | None = None,
    *,
    do_rotary: int = 0,
    mask_filter_value: float = FILL,
    num_heads: int,
    past_present_share_buffer: int = 0,
    qkv_hidden_sizes: tuple[int, ...] = (),
    rotary_embedding_dim: int = 0,
    scale: float = 0.0,
    unidirectional: int = 0,
    node: Node,
) -> tuple[Value, ...]:
    """Project [batch, length, …] to queries, keys and values, side by side, and attend.

    The past is [2, batch, heads, length, size], keys and then values, and so is present.
    """
    if past_sequence_length is not None:
        raise Unsupported("has input 'past_sequence_length', must have a past and present apart")
    if rotary_embedding_dim:
        raise Unsupported("has rotary_embedding_dim, must have none")
    _refuse(do_rotary, past_present_share_buffer)
    projected = tri.MatMul.build(x, weights).y
    if bias is not None:
        projected = tri.Add.build(projected, bias).y
    return _attended(
        projected,
        mask_index,
        past,
        attention_bias,
        num_heads=num_heads,
        sizes=qkv_hidden_sizes,
        unidirectional=bool(unidirectional),
        scale=scale,
        fill=mask_filter_value,
        node=node,
    )


@onnx_op("QAttention", since=1, domain=DOMAIN)
def q_attention(
    x: Value,
    weight: Value,
    bias: Value,
    input_scale: Value,
    weight_scale: Value,
    mask_index: Value | None = None,
    input_zero_point: Value | None = None,
    weight_zero_point: Value | None = None,
    past: Value | None = None,
    *,
    do_rotary: int = 0,
    mask_filter_value: float = FILL,
    num_heads: int,
    past_present_share_buffer: int = 0,
    scale: float = 0.0,
    unidirectional: int = 0,
    node: Node,
) -> tuple[Value, ...]:
    """Multiply integers for queries, keys and values, scale the products, and attend in floats."""
    _refuse(do_rotary, past_present_share_buffer)
    scales, zeros = (input_scale, weight_scale), (input_zero_point, weight_zero_point)
    return _attended(
        matmul_integer_to_float(x, weight, *scales, *zeros, bias),
        mask_index,
        past,
        None,
        num_heads=num_heads,
        sizes=(),
        unidirectional=bool(unidirectional),
        scale=scale,
        fill=mask_filter_value,
        node=node,
    )


def _refuse(do_rotary: int, share_buffer: int) -> None:
    if do_rotary:
        raise Unsupported("has do_rotary 1, must have RotaryEmbedding before MultiHeadAttention")
    if share_buffer:
        raise Unsupported("has past_present_share_buffer 1, must have a past and present apart")


def _attended(
    projected: Value,
    mask: Value | None,
    past: Value | None,
    bias: Value | None,
    *,
    num_heads: int,
    sizes: tuple[int, ...],
    unidirectional: bool,
    scale: float,
    fill: float,
    node: Node,
) -> tuple[Value, ...]:
    if tensor(projected).rank != 3:
        raise Invalid(f"projects to {tensor(projected)}, must have rank 3")
    hidden = int(tensor(projected).shape[-1])
    sizes = sizes or (hidden // 3,) * 3
    if len(sizes) != 3 or sum(sizes) != hidden:
        raise Invalid(f"has {hidden} columns, which do not split in sizes {list(sizes)}")
    parts = tri.Split.build(projected, axis=2, sizes=sizes).results
    q, k, v = (split_heads(x, num_heads) for x in parts)
    if sizes[0] != sizes[2] and (past is not None or node.wants(1)):
        raise Unsupported(f"has sizes {list(sizes)} and a past or present, must have equal ones")
    pasts = [None, None] if past is None else [_half(past, number, k) for number in (0, 1)]
    y, k, v = attend(
        q,
        joined(pasts[0], k),
        joined(pasts[1], v),
        mask,
        bias,
        past=0 if past is None else tensor(past).shape[3],
        unidirectional=unidirectional,
        scale=scale,
        fill=fill,
    )
    if not node.wants(1):
        return (y,)
    shape = (1, *tensor(k).shape)
    halves = [tri.Reshape.build(x, shape=shape).y for x in (k, v)]
    return y, tri.Concat.build(halves, axis=0).y


def _half(past: Value, number: int, new: Value) -> Value:
    """Return keys or values of a past, [2, batch, heads, length, size]."""
    shape, (batch, heads, _, size) = tensor(past).shape, tensor(new).shape
    fault = f"has past {tensor(past)}, must be [2, {batch}, {heads}, …, {size}]"
    if len(shape) != 5:
        raise Invalid(fault)
    need_same_shape((*shape[:3], shape[4]), (2, batch, heads, size), fault)
    half = tri.Slice.build(
        past, starts=(number, 0, 0, 0, 0), sizes=(1, *shape[1:]), steps=(1,) * 5
    ).y
    return tri.Reshape.build(half, shape=shape[1:]).y
