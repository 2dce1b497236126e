"""Rule of ONNX Runtime for the embeddings at the start of an encoder."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.checks import need, need_same_shape
from ......dialects.core.tensor import numpy_dtype
from ....core.values import cast, constant, filled, tensor
from ...registry import Value, onnx_op
from . import DOMAIN


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
    if (segment_ids is None) != (segment_embedding is None):
        raise Invalid("has one of segment_ids and segment_embedding, must have both or neither")
    if tensor(input_ids).rank != 2:
        raise Invalid(f"has input_ids {tensor(input_ids)}, must have rank 2")
    batch, length = tensor(input_ids).shape
    total = tri.Gather.build(word_embedding, input_ids, axis=0).y
    if position_ids is None:
        rows, hidden = tensor(position_embedding).shape
        need(rows, length, f"has {length} words, must be at most {rows}, the positions")
        sizes = (length, hidden)
        places = tri.Slice.build(position_embedding, starts=(0, 0), sizes=sizes, steps=(1, 1)).y
    else:
        places = tri.Gather.build(position_embedding, position_ids, axis=0).y
    total = tri.Add.build(total, places).y
    if segment_ids is not None and segment_embedding is not None:
        segments = tri.Gather.build(segment_embedding, segment_ids, axis=0).y
        total = tri.Add.build(total, segments).y
    y = tri.LayerNorm.build(total, gamma, beta, axis=2, epsilon=epsilon).y
    if mask is None:
        return y, filled((batch,), np.array(0, np.int32)), total
    fault = f"has mask {tensor(mask)}, must be {[batch, length]}"
    need_same_shape(tensor(mask).shape, (batch, length), fault)
    ones = tri.Equal.build(mask, constant(np.array(1, numpy_dtype(tensor(mask).dtype)))).y
    return y, tri.ReduceSum.build(cast(ones, "i32"), axes=(1,), keepdims=False), total
