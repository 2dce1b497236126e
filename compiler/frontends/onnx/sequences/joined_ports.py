"""The inputs and outputs of a session for sequences whose length a run decides.

A sequence `s` of tensors of one shape is `s.stacked`: they lie along a new first axis. Tensors that
differ in the size of axis 1 are `s.joined.1`, one after the other along that axis, and `s.lengths`
has how much of it each of them has.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import onnx

from .....dialects.core.mlir import ir
from .....dialects.core.tensor import MOST_AXES, Array, numpy_dtype
from ...core.inputs import ANONYMOUS
from ...core.sizes.found_sizes import FoundSizes
from ..inputs import declared_input
from ..items import Item, JoinedSequence, RaggedSequence
from .joined_sequences import split_at_lengths, stacked
from .ragged_ports import flatten_arrays, ragged_input, ragged_inputs, shaped_arrays


def joined_inputs(value: onnx.ValueInfoProto) -> list[onnx.ValueInfoProto]:
    """Return what a session takes for a sequence, whose elements are of the type of `value`.

    Where the rank of the elements is not known, or several of their sizes may differ, they may have
    any shapes. A size that has a name is the same for all of them.
    """
    element = declared_input(value)
    if element.fault or element.shape is None:
        return ragged_inputs(value.name, value.type.tensor_type.elem_type)
    free = [axis for axis, size in enumerate(element.shape) if size in (None, ANONYMOUS)]
    code, name = value.type.tensor_type.elem_type, value.name
    tensor = onnx.helper.make_tensor_value_info
    if not free:
        return [tensor(_stacked(name), code, (None, *element.shape))]
    if len(free) > 1:
        return ragged_inputs(name, code)
    lengths = tensor(_lengths(name), onnx.TensorProto.INT64, (None,))
    return [tensor(_joined(name, free[0]), code, element.shape), lengths]


def joined_input(
    name: str, values: Mapping[str, Item | None], found: FoundSizes
) -> JoinedSequence | RaggedSequence | None:
    """Return a sequence that the inputs of a session are, given their values; None for no such."""
    if isinstance(tensors := values.get(_stacked(name)), ir.Value):
        return JoinedSequence(tensors, 0)
    axis = _joined_axis(name, values)
    if axis is None:
        return ragged_input(name, values, found)
    joined, lengths = values[_joined(name, axis)], values[_lengths(name)]
    assert isinstance(joined, ir.Value)
    assert isinstance(lengths, ir.Value)
    return split_at_lengths(joined, axis, lengths, found)


def joined_outputs(name: str, item: JoinedSequence) -> Iterator[tuple[str, ir.Value]]:
    """Yield the outputs of a session that a sequence is, by their names."""
    if item.lengths is None:
        yield _stacked(name), stacked(item, 0)
        return
    yield _joined(name, item.axis), item.joined
    yield _lengths(name), item.lengths


def join_arrays(
    value: onnx.ValueInfoProto, elements: Sequence[Array], ports: Collection[str]
) -> dict[str, Array] | None:
    """Return what a session takes for the arrays of a sequence, whose elements are of a type.

    None where it takes each by itself, or where they are not of the shape that the model declares,
    as some of ONNX's own cases are.
    """
    name, declared = value.name, declared_input(value)
    sizes = [size for size in declared.shape or () if isinstance(size, int)]
    if not elements and len(sizes) == len(declared.shape or ()) and _stacked(name) in ports:
        return {_stacked(name): np.zeros((0, *sizes), numpy_dtype(declared.dtype))}
    if _stacked(name) in ports:
        alike = len({each.shape for each in elements}) == 1
        return {_stacked(name): np.stack(elements)} if alike else None
    axis = _joined_axis(name, ports)
    if axis is None:
        return flatten_arrays(name, elements, declared.dtype, ports)
    if len({np.delete(each.shape, axis).tobytes() for each in elements}) != 1:
        return None
    lengths = np.array([each.shape[axis] for each in elements], np.int64)
    return {_joined(name, axis): np.concatenate(elements, axis), _lengths(name): lengths}


def split_arrays(name: str, results: Mapping[str, Array]) -> list[Array] | None:
    """Return the arrays of a sequence that a session puts out; None if it does each by itself."""
    if _stacked(name) in results:
        return [*results[_stacked(name)]]
    axis = _joined_axis(name, results)
    if axis is None:
        return shaped_arrays(name, results)
    ends = np.cumsum(results[_lengths(name)])
    return np.split(results[_joined(name, axis)], ends, axis)[:-1]


def _joined_axis(name: str, ports: Collection[str]) -> int | None:
    if _lengths(name) not in ports:
        return None
    return next((axis for axis in range(MOST_AXES) if _joined(name, axis) in ports), None)


def _stacked(name: str) -> str:
    return f"{name}.stacked"


def _joined(name: str, axis: int) -> str:
    return f"{name}.joined.{axis}"


def _lengths(name: str) -> str:
    return f"{name}.lengths"
