"""Masks of padded keys, in the forms that ONNX Runtime's attention takes them."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.checks import need_same_shape
from ......dialects.core.sizes.limits import is_same
from ......dialects.core.tensor import Shape, numpy_dtype
from ....core.values import cast, constant, counted, tensor
from ...registry import Size, Value


def padding_mask(mask: Value, scores: Shape, fill: float, dtype: str) -> Value:
    """Return what is added to `scores`, [batch, heads, queries, keys]: `fill` for a padded key.

    `mask` has a number above 0 for each key that counts: [batch, keys] or [batch, queries, keys].
    Or it has the lengths of the batch, [batch] or the first of [3 * batch + 2], or the ends and
    then the starts, [2 * batch].
    """
    batch, _, queries, keys = scores
    rank = tensor(mask).rank
    if rank == 1:
        return _added(_between(mask, batch, keys), fill, dtype)
    if rank not in (2, 3):
        raise Unsupported(f"has a padding mask {tensor(mask)}, must have rank 1, 2 or 3")
    shape = (batch, keys) if rank == 2 else (batch, queries, keys)
    fault = f"has a padding mask {tensor(mask)} for scores of {list(scores)}"
    need_same_shape(tensor(mask).shape, shape, fault)
    kept = tri.Greater.build(mask, constant(np.zeros((), numpy_dtype(tensor(mask).dtype)))).y
    spread = (batch, 1, *shape[1:]) if rank == 3 else (batch, 1, 1, keys)
    return _added(tri.Reshape.build(kept, shape=spread).y, fill, dtype)


def _between(mask: Value, batch: Size, keys: Size) -> Value:
    """Return which keys are before the ends and after the starts: [batch, 1, 1, keys]."""
    (size,) = tensor(mask).shape
    forms = [is_same(size, each) for each in (batch, 2 * batch, 3 * batch + 2)]
    if True not in forms:
        what = f"has a padding mask of {size} numbers, must have {batch}, {2 * batch}"
        if None in forms:
            raise Unsupported(f"{what} or {3 * batch + 2}: bind these sizes")
        raise Invalid(f"{what} or {3 * batch + 2}")
    key = counted(keys, (keys,))
    before_end = tri.Less.build(key, _numbers(mask, 0, batch)).y
    if not forms[1]:
        return before_end
    return tri.And.build(before_end, tri.GreaterEqual.build(key, _numbers(mask, batch, batch)).y).y


def _numbers(mask: Value, start: Size, batch: Size) -> Value:
    taken = tri.Slice.build(cast(mask, "i64"), starts=(start,), sizes=(batch,), steps=(1,)).y
    return tri.Reshape.build(taken, shape=(batch, 1, 1, 1)).y


def _added(kept: Value, fill: float, dtype: str) -> Value:
    """Return 0 for what is kept and `fill` for the rest."""
    kind = numpy_dtype(dtype)
    return tri.Where.build(kept, constant(np.array(0, kind)), constant(np.array(fill, kind))).y
