"""The outputs that an ONNX graph declares, compared with those that the import gives."""

import warnings
from collections.abc import Mapping, Sequence

import onnx

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.sizes.limits import is_same
from ....dialects.core.tensor import Tensor
from ..core.inputs import spell_shape
from .inputs import NO_ELEMENT_TYPE, declared_input
from .items import (
    EmptyOptional,
    FoundOptional,
    Item,
    JoinedSequence,
    RaggedSequence,
    Sequences,
    TensorList,
    TensorMap,
)

NOTE = "correct the declaration, or leave it out: types of outputs are inferred"


def check_outputs(declared: Sequence[onnx.ValueInfoProto], results: Mapping[str, Item]) -> None:
    """Raise CompileError that lists all outputs that the model declares to be something else.

    A declared shape decides nothing: where it is another one, a warning says so. Symbols, sizes of
    -1, and shapes or element types that are left out fit any; numbers fit sizes that they may be in
    a run.
    """
    faults = [
        Diagnostic(value.name, fault, (NOTE,))
        for value in declared
        if (fault := _item_fault(value, results[value.name]))
    ]
    if faults:
        raise CompileError(faults)


def _item_fault(value: onnx.ValueInfoProto, made: Item) -> str:
    kind = value.type.WhichOneof("value")
    if kind == "optional_type":
        element = onnx.ValueInfoProto(name=value.name, type=value.type.optional_type.elem_type)
        if isinstance(made, FoundOptional):
            return _item_fault(element, made.element)
        return "" if isinstance(made, EmptyOptional) else _item_fault(element, made)
    if isinstance(made, EmptyOptional | FoundOptional):
        return "output is an optional that may be empty, the model declares none"
    if kind == "sequence_type" and value.type.sequence_type.elem_type.HasField("map_type"):
        return ""  # a tensor of what the maps have
    if isinstance(made, TensorMap):
        is_map = kind in ("map_type", None)
        return "" if is_map else "output is a map, the model declares another kind of value"
    is_sequence = isinstance(made, Sequences)
    if is_sequence != (kind == "sequence_type") and kind is not None:
        found = "a sequence" if is_sequence else "a tensor"
        return f"output is {found}, the model declares another kind of value"
    if isinstance(made, JoinedSequence | RaggedSequence):
        return ""
    tensors = made.tensors if isinstance(made, TensorList) else (made,)
    declared = onnx.ValueInfoProto(name=value.name, type=value.type)
    if kind == "sequence_type":
        declared.type.CopyFrom(value.type.sequence_type.elem_type)
    return next((f for t in tensors if (f := _fault(declared, tensor_of(t.type)))), "")


def _fault(value: onnx.ValueInfoProto, made: Tensor) -> str:
    """Return how an output differs from its declaration, or nothing."""
    if value.type.WhichOneof("value") is None:
        return ""
    output = declared_input(value)
    has_dtype = output.fault != NO_ELEMENT_TYPE
    if output.fault and has_dtype:
        return f"output {output.fault}"
    dtype = output.dtype if has_dtype else made.dtype
    shape = made.shape if output.shape is None else output.shape
    fits = len(shape) == made.rank and all(
        not isinstance(said, int) or is_same(said, size) is not False
        for said, size in zip(shape, made.shape, strict=True)
    )
    if fits and dtype == made.dtype:
        return ""
    found = (
        f"output is {spell_shape(made.shape)} of {made.dtype}, "
        f"the model declares {spell_shape(shape)} of {dtype}"
    )
    if dtype != made.dtype:
        return found
    warnings.warn(f"{value.name}: {found}: {NOTE}", stacklevel=2)
    return ""
