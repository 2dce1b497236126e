"""Indices of `Tensor.index` that PNNX cut short: it writes as many numbers as the first axis has.

An index of one axis is written whole. Masks of transformers are read by indices of more axes,
`mask[[[[[0]]]], [[[[0, 1, 2, 3]]]]]`, and are written as `expr=[[0],[0]]`; that numbers are
missing shows in the shape of the result, (1,1,1,4).
"""

import warnings
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import Array, Shape, broadcast
from .format.operator import Operator
from .format.tensor_type import Dimensions


def completed(indices: list[Any], shape: Shape, operator: Operator) -> list[Any]:
    """Return the indices for the first axes of a tensor, completed with those that PNNX omitted.

    Each is assumed to count up along the one axis of the result that has the size of its axis.
    Other indices are not known in practice; a warning reports the assumption. Raises Unsupported if
    the result differs from the shape in the file.
    """
    expected = operator.outputs[0].shape
    count = len(indices)
    if expected is None or not indices or not all(_is_list(each) for each in indices):
        return indices
    if _fits((*broadcast(*(each.shape for each in indices)), *shape[count:]), expected):
        return indices
    places = expected[: len(expected) - len(shape) + count]
    made = [_counted(each, size, places) for each, size in zip(indices, shape, strict=False)]
    if not _fits((*broadcast(*(each.shape for each in made)), *shape[count:]), expected):
        raise _lost()
    warnings.warn(
        f"'{operator.type}' operator '{operator.name}' has indices that PNNX cut short; taken to "
        f"count up from 0, as the shape {list(expected)} of the result allows",
        stacklevel=2,
    )
    return made


def _lost() -> Unsupported:
    return Unsupported(
        "has indices that PNNX cut short, it writes one axis of them: give the model indices as an "
        "input, or no mask that needs them"
    )


def _is_list(index: Any) -> bool:
    if not isinstance(index, np.ndarray):
        return False
    array = cast("Array", index)
    return array.dtype.kind == "i" and array.ndim == 1


def _fits(shape: Shape, expected: Dimensions) -> bool:
    pairs = zip(shape, expected, strict=False)
    return len(shape) == len(expected) and all(not isinstance(d, int) or d == s for s, d in pairs)


def _counted(index: Array, size: int, places: Sequence[int | str | None]) -> Array:
    """Return an index with all its axes: it counts up to a size along the axis that has this size.

    Raises Unsupported when there is no such axis, or several, or when what the file has is not the
    beginning of that.
    """
    rank = len(places)
    if size == 1 and not index.any():
        return np.zeros((1,) * rank, np.int64)
    along = [axis for axis in range(rank) if places[axis] == size]
    written = size if along == [0] else 1
    if len(along) != 1 or index.tolist() != list(range(written)):
        raise _lost()
    return np.arange(size).reshape([-1 if axis == along[0] else 1 for axis in range(rank)])
