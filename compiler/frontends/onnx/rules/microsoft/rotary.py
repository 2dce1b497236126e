"""Rules of ONNX Runtime for rotary embedding: turn pairs of elements by the angle of a position."""

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.checks import need_same_shape
from ......dialects.core.sizes.limits import is_same
from ....core.values import cast, counted, tensor
from ....decoding.heads import heads_apart
from ....decoding.rotary import at_positions, rotate
from ...registry import Size, Value, onnx_op
from . import DOMAIN


@onnx_op("RotaryEmbedding", since=1, domain=DOMAIN)
def rotary_embedding(
    x: Value,
    position_ids: Value,
    cos_cache: Value,
    sin_cache: Value,
    *,
    interleaved: int = 0,
    is_packed_batching: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> Value:
    """Rotate the heads of [batch, length, heads * size], or of [batch, heads, length, size]."""
    if is_packed_batching:
        raise Unsupported("has packed batches, must have is_packed_batching 0")
    if scale != 1:
        raise Unsupported(f"has scale {scale}, which ONNX Runtime ignores, must be 1")
    if rotary_embedding_dim and not num_heads:
        raise Invalid("has rotary_embedding_dim, which needs num_heads")
    shape = tensor(x).shape
    if len(shape) not in (3, 4):
        raise Invalid(f"has input {tensor(x)}, must have rank 3 or 4")
    length, axis = (shape[1], 1) if len(shape) == 3 else (shape[2], 2)
    positions = positions_of(position_ids, shape[0], length)
    angles = tuple(at_positions(cache, positions, 3 - axis) for cache in (cos_cache, sin_cache))
    if len(shape) == 4:
        return rotate(x, *angles, interleaved=bool(interleaved))
    heads = num_heads or _count(shape[2], 2 * tensor(cos_cache).shape[-1])
    apart = rotate(heads_apart(x, heads), *angles, interleaved=bool(interleaved))
    return tri.Reshape.build(apart, shape=shape).y


def _count(hidden: int, size: int) -> int:
    if not size or hidden % size:
        raise Invalid(f"has {hidden} elements, must split in heads of {size}")
    return hidden // size


def positions_of(position_ids: Value, batch: Size, length: Size) -> Value:
    """Return positions, [batch, length], of which one alone is that of the first element."""
    shape = tensor(position_ids).shape
    if len(shape) == 1 and is_same(shape[0], 1):
        after = counted(length, (1, length))
        return tri.Add.build(cast(position_ids, "i64"), after).y
    fault = f"has position_ids {tensor(position_ids)}, must be [1] or {[batch, length]}"
    if len(shape) != 2:
        raise Invalid(fault)
    need_same_shape(shape, (batch, length), fault)
    return position_ids
