"""What the names of a graph stand for: tensors, sequences, maps, and optionals.

All but tensors leave no trace in the IR: it has the tensors in them, or what these are when they
are joined.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import onnx

from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import Tensor, numpy_dtype


@dataclass(frozen=True)
class TensorList:
    """Hold the tensors of an ONNX sequence; `dtype` is the element type of all of them."""

    tensors: tuple[ir.Value, ...]
    dtype: str


@dataclass(frozen=True)
class JoinedSequence:
    """Hold an ONNX sequence whose length a run decides: its tensors, joined along an axis.

    `lengths`, a list of i64, has how much of the axis is of each tensor. Without it, the tensors
    lack the axis: each is one element of it.
    """

    joined: ir.Value
    axis: int
    lengths: ir.Value | None = None


MOST_RANK = 8
"""The most axes that a tensor in a ragged sequence has."""


@dataclass(frozen=True)
class RaggedSequence:
    """Hold an ONNX sequence whose tensors may have any shapes, which a run decides.

    `elements` are those of all tensors, one after the other. `shapes` is [tensors, MOST_RANK] of
    i64: the sizes of each tensor, and -1 for the axes that it lacks, at the end.
    """

    elements: ir.Value
    shapes: ir.Value


@dataclass(frozen=True)
class TensorMap:
    """Hold an ONNX map: its keys, which differ, in any order, and a value for each of them."""

    keys: ir.Value
    values: ir.Value


@dataclass(frozen=True)
class EmptyOptional:
    """Stand for an ONNX optional that has no element; one that has an element is that element."""


@dataclass(frozen=True)
class FoundOptional:
    """Hold an ONNX optional of which a run finds whether it has an element.

    `has_element` is a scalar of i1. Where it is false, the element is one of no meaning.
    """

    has_element: ir.Value
    element: "ir.Value | Sequences | TensorMap"


Sequences: TypeAlias = TensorList | JoinedSequence | RaggedSequence
Item: TypeAlias = ir.Value | Sequences | TensorMap | EmptyOptional | FoundOptional


def type_proto(item: Item) -> onnx.TypeProto:
    """Return ONNX's type of an item; that of an empty optional is not known."""
    if isinstance(item, EmptyOptional):
        return onnx.TypeProto()
    if isinstance(item, FoundOptional):
        return onnx.helper.make_optional_type_proto(type_proto(item.element))
    if isinstance(item, TensorList):
        shapes = {tensor_of(value.type).shape for value in item.tensors}
        shape = shapes.pop() if len(shapes) == 1 else None
        return onnx.helper.make_sequence_type_proto(_tensor_type(item.dtype, shape))
    if isinstance(item, JoinedSequence):
        return onnx.helper.make_sequence_type_proto(_tensor_type(tensor_of(item.joined.type).dtype))
    if isinstance(item, RaggedSequence):
        dtype = tensor_of(item.elements.type).dtype
        return onnx.helper.make_sequence_type_proto(_tensor_type(dtype))
    if isinstance(item, TensorMap):
        key, value = (_tensor_type(tensor_of(each.type).dtype) for each in tensors_of(item))
        return onnx.helper.make_map_type_proto(key.tensor_type.elem_type, value)
    tensor: Tensor = tensor_of(item.type)
    return _tensor_type(tensor.dtype, tensor.shape)


def _tensor_type(dtype: str, shape: tuple[int, ...] | None = None) -> onnx.TypeProto:
    element = onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(dtype))
    sizes = None if shape is None else [str(n) if is_symbolic(n) else n for n in shape]
    return onnx.helper.make_tensor_type_proto(element, sizes)


def kind_of(item: Item) -> tuple[object, ...]:
    """Return what an item is, how many tensors it has, and along which axis they are joined."""
    if isinstance(item, FoundOptional):
        return (FoundOptional, *kind_of(item.element))
    kind = ir.Value if isinstance(item, ir.Value) else type(item)
    return kind, len(tensors_of(item)), item.axis if isinstance(item, JoinedSequence) else 0


def spell_item(item: Item) -> str:
    """Return how messages call an item."""
    if isinstance(item, EmptyOptional):
        return "nothing"
    if isinstance(item, FoundOptional):
        return f"nothing, or {spell_item(item.element)}"
    listed = ", ".join(str(tensor_of(value.type)) for value in tensors_of(item))
    if isinstance(item, JoinedSequence):
        return f"a sequence that is {listed} when joined along axis {item.axis}"
    if isinstance(item, RaggedSequence):
        return f"a sequence of tensors of {tensor_of(item.elements.type).dtype} of any shapes"
    if isinstance(item, TensorMap):
        return f"a map of {listed}"
    return f"a sequence of {listed}" if isinstance(item, TensorList) else listed


def tensors_of(item: Item) -> Sequence[ir.Value]:
    """Return the tensors that the IR has for an item."""
    if isinstance(item, TensorList):
        return item.tensors
    if isinstance(item, JoinedSequence):
        return [item.joined] if item.lengths is None else [item.joined, item.lengths]
    if isinstance(item, RaggedSequence):
        return [item.elements, item.shapes]
    if isinstance(item, FoundOptional):
        return [item.has_element, *tensors_of(item.element)]
    if isinstance(item, TensorMap):
        return [item.keys, item.values]
    return [] if isinstance(item, EmptyOptional) else [item]


def regrouped(like: Item, values: Iterator[ir.Value]) -> Item:
    """Return an item of the same kind as another one, of the next tensors."""
    if isinstance(like, TensorList):
        return TensorList(tuple(islice(values, len(like.tensors))), like.dtype)
    if isinstance(like, JoinedSequence):
        return JoinedSequence(
            next(values), like.axis, None if like.lengths is None else next(values)
        )
    if isinstance(like, RaggedSequence):
        return RaggedSequence(next(values), next(values))
    if isinstance(like, FoundOptional):
        has_element = next(values)
        element = regrouped(like.element, values)
        assert not isinstance(element, EmptyOptional | FoundOptional)
        return FoundOptional(has_element, element)
    if isinstance(like, TensorMap):
        return TensorMap(next(values), next(values))
    return like if isinstance(like, EmptyOptional) else next(values)
