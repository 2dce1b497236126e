"""The outputs that an ONNX graph declares, compared with those that the import gives."""

from collections.abc import Mapping, Sequence

import onnx

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.limits import is_same
from ....dialects.core.tensor import Tensor
from ..core.inputs import spell_shape
from .inputs import NO_ELEMENT_TYPE, declared_input

NOTE = "correct the declaration, or leave it out: types of outputs are inferred"


def check_outputs(declared: Sequence[onnx.ValueInfoProto], results: Mapping[str, ir.Value]) -> None:
    """Raise CompileError that lists all outputs that the model declares to be something else.

    Symbols, sizes of -1, and shapes or element types that are left out fit any; numbers fit sizes
    that they may be in a run.
    """
    faults = [
        Diagnostic(value.name, fault, (NOTE,))
        for value in declared
        if (fault := _fault(value, tensor_of(results[value.name].type)))
    ]
    if faults:
        raise CompileError(faults)


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
    return (
        f"output is {spell_shape(made.shape)} of {made.dtype}, "
        f"the model declares {spell_shape(shape)} of {dtype}"
    )
