"""ONNX rules for sequences: lists of tensors at import, whose positions are known."""

import numpy as np
import onnx

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import Array, normalize_axis
from ...core.values import ints, only, single, tensor
from ..element_types import element_type
from ..items import TensorList
from ..registry import Node, Value, onnx_op


@onnx_op("SequenceEmpty", since=11)
def sequence_empty(*, dtype: int = onnx.TensorProto.FLOAT) -> TensorList:
    return TensorList((), element_type(dtype))


@onnx_op("SequenceConstruct", since=11)
def sequence_construct(*xs: Value) -> TensorList:
    made = TensorList((), tensor(xs[0]).dtype)
    for x in xs:
        made = _inserted(made, len(made.tensors), x)
    return made


@onnx_op("SequenceInsert", since=11)
def sequence_insert(xs: TensorList, x: Value, position: Array | None = None) -> TensorList:
    count = len(xs.tensors)
    return _inserted(xs, count if position is None else _position(position, count + 1, count), x)


def _inserted(xs: TensorList, at: int, x: Value) -> TensorList:
    if tensor(x).dtype != xs.dtype:
        raise Invalid(f"puts {tensor(x)} into a sequence of {xs.dtype}, must be of one type")
    return TensorList((*xs.tensors[:at], x, *xs.tensors[at:]), xs.dtype)


@onnx_op("SequenceErase", since=11)
def sequence_erase(xs: TensorList, position: Array | None = None) -> TensorList:
    count = len(xs.tensors)
    at = _position(np.array(-1) if position is None else position, count, count)
    return TensorList((*xs.tensors[:at], *xs.tensors[at + 1 :]), xs.dtype)


@onnx_op("SequenceAt", since=11)
def sequence_at(xs: TensorList, position: Array) -> Value:
    return xs.tensors[_position(position, len(xs.tensors), len(xs.tensors))]


def _position(position: Array, places: int, count: int) -> int:
    """Return a place among so many in a sequence of `count`, from whose end negative ones count."""
    (at,) = ints(single(position))
    if not -count <= at < places:
        raise Invalid(
            f"has position {at} in a sequence of {count}, must be in [{-count}, {places})"
        )
    return at + count if at < 0 else at


@onnx_op("SequenceLength", since=11)
def sequence_length(xs: TensorList) -> Array:
    return np.array(len(xs.tensors), np.int64)


@onnx_op("ConcatFromSequence", since=11)
def concat_from_sequence(xs: TensorList, *, axis: int, new_axis: int = 0) -> Value:
    if not xs.tensors:
        raise Invalid("joins a sequence of 0 tensors, must have at least 1")
    if new_axis:
        return tri.Stack.build(xs.tensors, axis=axis).y
    axis = normalize_axis(axis, tensor(xs.tensors[0]).rank)
    return tri.Concat.build(xs.tensors, axis=axis).y


@onnx_op("SplitToSequence", since=11)
def split_to_sequence(
    x: Value, split: Value | None = None, *, axis: int = 0, keepdims: int = 1, node: Node
) -> TensorList:
    """Split into parts of one size or of given ones; without any, take single elements."""
    axis = normalize_axis(axis, tensor(x).rank)
    size = tensor(x).shape[axis]
    if split is None and not keepdims:
        return TensorList(tuple(tri.Unbind.build(x, axis=axis).ys), tensor(x).dtype)
    if split is None or tensor(split).rank == 0:
        part = 1 if split is None else only(node.sizes(split, "input 'split'"))
        sizes = _chunks(size, part)
    else:
        sizes = node.found.compute(split, (size,) * tensor(split).size)
    parts = tri.Split.build(x, axis=axis, sizes=sizes)
    return TensorList(tuple(parts.results), tensor(x).dtype)


def _chunks(size: int, part: int) -> tuple[int, ...]:
    """Divide a size into equal parts, of which the last may be smaller."""
    if part < 1:
        raise Invalid(f"splits into parts of {part}, must be at least 1")
    return tuple(min(part, size - first) for first in range(0, size, part))
