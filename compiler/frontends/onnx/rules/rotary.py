"""ONNX rules for rotary embedding: turn pairs of elements by the angle of a position."""

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.checks import need_same, need_same_shape
from ...core.values import tensor
from ...decoding.heads import heads_apart
from ...decoding.rotary import at_positions, rotate
from ..registry import Value, onnx_op


@onnx_op("RotaryEmbedding", since=23)
def rotary_embedding(
    x: Value,
    cos_cache: Value,
    sin_cache: Value,
    position_ids: Value | None = None,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Value:
    """Rotate the heads of [batch, length, heads * size], or of [batch, heads, length, size].

    Without positions, the angles are those of each token: [batch, length, pairs].
    """
    shape = tensor(x).shape
    if len(shape) not in (3, 4):
        raise Invalid(f"has input {tensor(x)}, must have rank 3 or 4")
    if len(shape) == 3 and not num_heads:
        raise Invalid(f"has input {tensor(x)}, which needs num_heads")
    tokens = (shape[0], shape[-2])
    axis = 1 if len(shape) == 4 else 2
    angles = [_angles(each, position_ids, tokens, axis) for each in (cos_cache, sin_cache)]
    apart = x if len(shape) == 4 else heads_apart(x, num_heads)
    pairs = tensor(angles[0]).shape[-1]
    rotated = rotary_embedding_dim or tensor(apart).shape[-1]
    need_same(rotated, 2 * pairs, f"has angles of {pairs} pairs, must rotate {rotated} elements")
    y = rotate(apart, *angles, interleaved=bool(interleaved))
    return y if len(shape) == 4 else tri.Reshape.build(y, shape=shape).y


def _angles(
    cache: Value, positions: Value | None, tokens: tuple[int, int], heads_axis: int
) -> Value:
    """Return cosines or sines of tokens, [batch, length, pairs], with an axis of 1 for heads."""
    if positions is not None:
        fault = f"has position_ids {tensor(positions)}, must be {list(tokens)}"
        if tensor(positions).rank != 2:
            raise Invalid(fault)
        need_same_shape(tensor(positions).shape, tokens, fault)
        return at_positions(cache, positions, heads_axis)
    fault = f"has angles {tensor(cache)}, must be {[*tokens, 'pairs']} without position_ids"
    if tensor(cache).rank != 3:
        raise Invalid(fault)
    need_same_shape(tensor(cache).shape[:2], tokens, fault)
    sizes = list(tensor(cache).shape)
    sizes.insert(heads_axis, 1)
    return tri.Reshape.build(cache, shape=tuple(sizes)).y
