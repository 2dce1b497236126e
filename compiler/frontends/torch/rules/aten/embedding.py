"""Rules for sums, means and maxima of rows of a table."""

from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.checks import need_static
from ......dialects.core.tensor import Array, numpy_dtype
from ....core.values import constant, tensor
from ...registry import Value, torch_op
from ...views import reshape, take
from .. import reduce

SUM, MEAN, MAX = range(3)
"""The modes of bags by number."""


@torch_op("aten::_embedding_bag", "aten::_embedding_bag_forward_only")
def embedding_bag(
    weight: Value,
    indices: Value,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Value | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Any, ...]:
    """Reduce the rows of each bag to one; those of an empty bag to zeros.

    `offsets` has where bags begin, and must be known. The other results are for training.
    """
    if mode not in (SUM, MEAN, MAX):
        raise Invalid(f"has mode {mode}, must be 0, 1 or 2")
    if padding_idx >= 0:
        raise Unsupported(f"leaves out rows {padding_idx} (padding_idx), must take all rows")
    size = tensor(indices).size
    need_static(size, "number of indices")
    ends = offsets[1:] if include_last_offset else np.append(offsets[1:], size)
    starts = offsets[: len(ends)]
    rows = tri.Gather.build(weight, indices, axis=0).y
    if per_sample_weights is not None:
        rows = tri.Mul.build(rows, reshape(per_sample_weights, (size, 1))).y
    return _reduced(rows, starts, ends - starts, mode), None, None, None


def _reduced(rows: Value, starts: Array, counts: Array, mode: int) -> Value:
    """Reduce bags that are filled up to the longest one."""
    within = np.arange(max(int(counts.max(initial=0)), 1))
    inside: Array = within < counts[:, None]
    # Places beyond a bag are those of its last row.
    ends = np.minimum(within, np.maximum(counts - 1, 0)[:, None])
    places: Array = np.minimum(starts[:, None] + ends, max(tensor(rows).shape[0] - 1, 0))
    seen = take(rows, places.astype(np.int64), 0)
    dtype = numpy_dtype(tensor(rows).dtype)
    if mode == MAX:
        filled = constant((counts > 0).astype(dtype)[:, None])
        return tri.Mul.build(reduce.amax(seen, 1), filled).y
    share: Array = inside / np.maximum(counts, 1)[:, None] if mode == MEAN else inside
    weighted = tri.Mul.build(seen, constant(share.astype(dtype)[..., None])).y
    return reduce.sum_(weighted, 1)
