"""Rules of ONNX Runtime for the embeddings at the start of an encoder."""

from dataclasses import dataclass

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.checks import need, need_same_shape
from ......dialects.core.tensor import numpy_dtype
from ....core.values import cast, constant, filled, tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .scaled import real


@dataclass(frozen=True)
class Numbers:
    """Hold numbers, which are integers at a scale where there is one."""

    stored: Value
    scale: Value | None = None
    zero_point: Value | None = None

    def real(self, stored: Value) -> Value:
        """Return the floats that some of them stand for."""
        return stored if self.scale is None else real(stored, self.scale, self.zero_point)

    def rows(self, places: Value) -> Value:
        """Take rows of a table."""
        self._check()
        return self.real(tri.Gather.build(self.stored, places, axis=0).y)

    def first(self, count: int) -> Value:
        """Take the first rows of a table."""
        self._check()
        rows, columns = tensor(self.stored).shape
        need(rows, count, f"has {count} words, must be at most {rows}, the positions")
        sizes = (count, columns)
        return self.real(tri.Slice.build(self.stored, starts=(0, 0), sizes=sizes, steps=(1, 1)).y)

    def _check(self) -> None:
        if tensor(self.stored).rank != 2:
            raise Invalid(f"has embeddings {tensor(self.stored)}, must have rank 2")


@onnx_op("EmbedLayerNormalization", since=1, domain=DOMAIN)
def embed_layer_normalization(
    input_ids: Value,
    segment_ids: Value | None,
    word_embedding: Value,
    position_embedding: Value,
    segment_embedding: Value | None,
    gamma: Value,
    beta: Value,
    mask: Value | None = None,
    position_ids: Value | None = None,
    *,
    epsilon: float = 1e-12,
    mask_index_type: int | None = None,
) -> tuple[object, ...]:
    """Add the embeddings of words, positions and segments, and normalise the sum.

    The second output is how many numbers of the mask are 1, for each entry of the batch, and 0
    without a mask; the third is the sum. `mask_index_type` only says of what type ONNX Runtime
    infers the second to be.
    """
    total = _sum(
        input_ids,
        segment_ids,
        Numbers(word_embedding),
        Numbers(position_embedding),
        None if segment_embedding is None else Numbers(segment_embedding),
        position_ids,
    )
    y = tri.LayerNorm.build(total, gamma, beta, axis=2, epsilon=epsilon).y
    return y, _lengths(input_ids, mask), total


@onnx_op("QEmbedLayerNormalization", since=1, domain=DOMAIN)
def q_embed_layer_normalization(
    input_ids: Value,
    segment_ids: Value | None,
    word_embedding: Value,
    position_embedding: Value,
    segment_embedding: Value | None,
    gamma: Value,
    beta: Value,
    mask: Value | None,
    word_embedding_scale: Value,
    position_embedding_scale: Value,
    segment_embedding_scale: Value | None,
    gamma_scale: Value,
    beta_scale: Value,
    word_embedding_zero_point: Value,
    position_embedding_zero_point: Value,
    segment_embedding_zero_point: Value | None,
    gamma_zero_point: Value,
    beta_zero_point: Value,
    *,
    epsilon: float = 1e-12,
) -> tuple[object, ...]:
    """Add embeddings that are integers at scales, as floats, and normalise the sum."""
    segments = (segment_embedding, segment_embedding_scale, segment_embedding_zero_point)
    table = None if segments[0] is None else Numbers(segments[0], *segments[1:])
    total = _sum(
        input_ids,
        segment_ids,
        Numbers(word_embedding, word_embedding_scale, word_embedding_zero_point),
        Numbers(position_embedding, position_embedding_scale, position_embedding_zero_point),
        table,
        None,
    )
    scale = real(gamma, gamma_scale, gamma_zero_point)
    shift = real(beta, beta_scale, beta_zero_point)
    y = tri.LayerNorm.build(total, scale, shift, axis=2, epsilon=epsilon).y
    return y, _lengths(input_ids, mask)


def _sum(
    input_ids: Value,
    segment_ids: Value | None,
    words: Numbers,
    positions: Numbers,
    segments: Numbers | None,
    position_ids: Value | None,
) -> Value:
    if (segment_ids is None) != (segments is None):
        raise Invalid("has one of segment_ids and segment_embedding, must have both or neither")
    if tensor(input_ids).rank != 2:
        raise Invalid(f"has input_ids {tensor(input_ids)}, must have rank 2")
    length = tensor(input_ids).shape[1]
    places = positions.first(length) if position_ids is None else positions.rows(position_ids)
    total = tri.Add.build(words.rows(input_ids), places).y
    if segment_ids is None or segments is None:
        return total
    return tri.Add.build(total, segments.rows(segment_ids)).y


def _lengths(input_ids: Value, mask: Value | None) -> object:
    """Return how many numbers of a mask are 1, for each entry of the batch."""
    shape = tensor(input_ids).shape
    if mask is None:
        return filled(shape[:1], np.array(0, np.int32))
    fault = f"has mask {tensor(mask)}, must be {list(shape)}"
    need_same_shape(tensor(mask).shape, shape, fault)
    ones = tri.Equal.build(mask, constant(np.array(1, numpy_dtype(tensor(mask).dtype)))).y
    return tri.ReduceSum.build(cast(ones, "i32"), axes=(1,), keepdims=False).y
