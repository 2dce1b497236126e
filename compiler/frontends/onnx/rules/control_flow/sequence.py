"""ONNX rules for sequences: lists of tensors at import where lengths and positions are known.

Others are tensors that are joined along an axis, or elements of tensors of any shapes.
"""

import numpy as np
import onnx

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.op import Op
from ......dialects.core.sizes.atoms import Size, is_symbolic
from ......dialects.core.tensor import Array, normalize_axis
from ....core.values import cast, constant, ints, number, numbers, single, tensor
from ...element_types import element_type
from ...items import JoinedSequence, RaggedSequence, Sequences, TensorList
from ...registry import Node, Value, onnx_op
from ...sequences.joined_sequences import (
    appended,
    concatenated,
    erased,
    inserted,
    is_like,
    join,
    length_of,
    split_at_lengths,
    split_evenly,
    stacked,
    tensor_at,
)
from ...sequences.ragged_sequences import count_of, put_in, ragged, taken_out, tensors_of_shapes

BY_PLACE = "uses a position that a run decides"


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
def sequence_insert(
    xs: Sequences, x: Value, position: Value | None = None, *, node: Node
) -> Sequences:
    at = None if position is None else node.evaluate(position)
    if isinstance(xs, TensorList) and (position is None or at is not None):
        count = len(xs.tensors)
        return _inserted(xs, count if at is None else _position(at, count + 1, count), x)
    given = _with_room_for(xs, x)
    if isinstance(given, RaggedSequence):
        return put_in(given, x, position, node.found)
    return appended(given, x) if position is None else inserted(given, x, position, node.found)


def _with_room_for(xs: Sequences, x: Value) -> JoinedSequence | RaggedSequence:
    """Return a sequence in a form that a tensor fits into."""
    if isinstance(xs, TensorList):
        return _joined_or_ragged(xs, [x])
    return ragged(xs) if isinstance(xs, JoinedSequence) and not is_like(xs, x) else xs


def _joined_or_ragged(xs: TensorList, others: list[Value]) -> JoinedSequence | RaggedSequence:
    try:
        return join(xs, BY_PLACE, others)
    except Unsupported:
        return ragged(xs)


def _joined(xs: Sequences, node: Node) -> JoinedSequence:
    """Return a sequence that is joined; the shapes of its tensors must be known if they differ."""
    xs = _of_known_shapes(xs, node)
    return xs if isinstance(xs, JoinedSequence) else join(xs, BY_PLACE)


def _of_known_shapes(xs: Sequences, node: Node) -> TensorList | JoinedSequence:
    if not isinstance(xs, RaggedSequence):
        return xs
    shapes = node.graphs.known(xs.shapes, "the shapes of the tensors in a sequence of any shapes,")
    return tensors_of_shapes(xs, shapes)


def _inserted(xs: TensorList, at: int, x: Value) -> TensorList:
    if tensor(x).dtype != xs.dtype:
        raise Invalid(f"puts {tensor(x)} into a sequence of {xs.dtype}, must be of one type")
    return TensorList((*xs.tensors[:at], x, *xs.tensors[at:]), xs.dtype)


@onnx_op("SequenceErase", since=11)
def sequence_erase(xs: Sequences, position: Value | None = None, *, node: Node) -> Sequences:
    last = np.array(-1)
    at = last if position is None else node.evaluate(position)
    if isinstance(xs, TensorList) and at is not None:
        count = len(xs.tensors)
        place = _position(at, count, count)
        return TensorList((*xs.tensors[:place], *xs.tensors[place + 1 :]), xs.dtype)
    given = _joined_or_ragged(xs, []) if isinstance(xs, TensorList) else xs
    place = constant(last) if position is None else position
    if isinstance(given, RaggedSequence):
        return taken_out(given, place, node.found)
    return erased(given, place, node.found)


@onnx_op("SequenceAt", since=11)
def sequence_at(xs: Sequences, position: Value, *, node: Node) -> Value:
    xs, at = _of_known_shapes(xs, node), node.evaluate(position)
    if isinstance(xs, TensorList) and at is not None:
        return xs.tensors[_position(at, len(xs.tensors), len(xs.tensors))]
    return tensor_at(_joined(xs, node), position, node.found)


def _position(position: Array, places: int, count: int) -> int:
    """Return a place among so many in a sequence of `count`, from whose end negative ones count."""
    (at,) = ints(single(position))
    if not -count <= at < places:
        raise Invalid(
            f"has position {at} in a sequence of {count}, must be in [{-count}, {places})"
        )
    return at + count if at < 0 else at


@onnx_op("SequenceLength", since=11)
def sequence_length(xs: Sequences) -> Array | Op:
    return numbers((size_of(xs),), ())


def size_of(xs: Sequences) -> Size:
    """Return how many tensors a sequence has."""
    if isinstance(xs, TensorList):
        return len(xs.tensors)
    return count_of(xs) if isinstance(xs, RaggedSequence) else length_of(xs)


@onnx_op("ConcatFromSequence", since=11)
def concat_from_sequence(xs: Sequences, *, axis: int, new_axis: int = 0, node: Node) -> Value:
    xs = _of_known_shapes(xs, node)
    if isinstance(xs, JoinedSequence):
        rank = tensor(xs.joined).rank - (xs.lengths is None)
        axis = normalize_axis(axis, rank + new_axis)
        return stacked(xs, axis) if new_axis else concatenated(xs, axis)
    if not xs.tensors:
        raise Invalid("joins a sequence of 0 tensors, must have at least 1")
    if new_axis:
        return tri.Stack.build(xs.tensors, axis=axis).y
    axis = normalize_axis(axis, tensor(xs.tensors[0]).rank)
    return tri.Concat.build(xs.tensors, axis=axis).y


@onnx_op("SplitToSequence", since=11)
def split_to_sequence(
    x: Value, split: Value | None = None, *, axis: int = 0, keepdims: int = 1, node: Node
) -> TensorList | JoinedSequence:
    """Split into parts of one size or of given ones; without any, take single elements."""
    axis = normalize_axis(axis, tensor(x).rank)
    size = tensor(x).shape[axis]
    if split is None and not keepdims:
        if is_symbolic(size):
            return JoinedSequence(x, axis)
        return TensorList(tuple(tri.Unbind.build(x, axis=axis).ys), tensor(x).dtype)
    if split is None or tensor(split).rank == 0:
        (part,) = (1,) if split is None else node.found.known(split)
        if part is None or is_symbolic(size) or is_symbolic(part):
            return split_evenly(x, axis, number(1) if split is None else split, node.found)
        sizes = _chunks(size, part)
    elif is_symbolic(tensor(split).size):
        return split_at_lengths(x, axis, cast(split, "i64"), node.found)
    else:
        sizes = node.found.compute(split, (size,) * tensor(split).size)
    parts = tri.Split.build(x, axis=axis, sizes=sizes)
    return TensorList(tuple(parts.results), tensor(x).dtype)


def _chunks(size: int, part: int) -> tuple[int, ...]:
    """Divide a size into equal parts, of which the last may be smaller."""
    if part < 1:
        raise Invalid(f"splits into parts of {part}, must be at least 1")
    return tuple(min(part, size - first) for first in range(0, size, part))
