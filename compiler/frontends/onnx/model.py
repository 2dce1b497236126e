"""Read ONNX models: files, bytes or protos, with external data; no IR yet."""

import os
from pathlib import Path
from typing import Any

import google.protobuf.message
import numpy as np
import onnx
import onnx.checker
import onnx.numpy_helper

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.tensor import Array
from .check import check_text, operator_sets
from .local_functions import inline_functions

Source = str | os.PathLike[str] | bytes | onnx.ModelProto

SOURCES = "a path, bytes, an onnx.ModelProto, a pnnx.Graph or a torch.nn.Module"
"""What a model may be, of this frontend and of the others: nobody else takes it but these."""

UNNAMED = "model"
"""What messages call a model that comes from no file."""


def read_model(source: Source) -> onnx.ModelProto:
    """Read a model, inline its functions and load its external data.

    Raises CompileError when the source is no ONNX model, has names that are no text, or is of
    versions of ONNX that the installed one does not define.
    """
    model, origin, folder = _parse(source)
    if not model.graph.node and not model.graph.output:
        raise CompileError([Diagnostic(origin, "holds no ONNX graph")])
    check_text(model, origin)
    operator_sets(model, origin)
    model = inline_functions(model, origin)
    _load_external_data(model, folder, origin)
    return model


def _parse(source: Source) -> tuple[onnx.ModelProto, str, str]:
    """Return a model, what messages call it, and the folder of its external data."""
    if isinstance(source, onnx.ModelProto):
        return source, UNNAMED, ""
    if isinstance(source, bytes):
        return _decode(source, UNNAMED), UNNAMED, ""
    try:
        path = os.fsdecode(source)
    except TypeError:
        kind = type(source).__name__
        raise CompileError(f"model is of type {kind}, must be {SOURCES}") from None
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise CompileError([Diagnostic(path or "''", reason)]) from None
    return _decode(data, path), path, str(Path(path).parent)


def _decode(data: bytes, origin: str) -> onnx.ModelProto:
    try:
        return onnx.load_model_from_string(data)
    except (google.protobuf.message.DecodeError, ValueError, RuntimeError):
        message = f"is not an ONNX model: {len(data)} bytes that do not decode as one"
        raise CompileError([Diagnostic(origin, message)]) from None


def _load_external_data(model: onnx.ModelProto, folder: str, origin: str) -> None:
    try:
        onnx.load_external_data_for_model(model, folder)
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        message = f"external data does not load: {error}"
        raise CompileError([Diagnostic(origin, message)]) from None


def tensor_value(tensor: onnx.TensorProto) -> Array:
    """Return the numpy array that a tensor holds; Invalid when its data does not fit its type."""
    try:
        return onnx.numpy_helper.to_array(tensor)
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid(f"uses tensor '{tensor.name}', which does not decode: {error}") from None


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """Convert a node's attribute to Python: bytes to str, lists to tuples, tensors to numpy."""
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, onnx.TensorProto):
        return tensor_value(value)
    if isinstance(value, onnx.SparseTensorProto):
        return _dense(value)
    if isinstance(value, (int, float, str, onnx.GraphProto)):
        return value
    return tuple(v.decode("utf-8") if isinstance(v, bytes) else v for v in value)


def _dense(sparse: onnx.SparseTensorProto) -> Array:
    """Write out a sparse tensor; its indices are places in row-major order, or index tuples."""
    values = tensor_value(sparse.values)
    indices = tensor_value(sparse.indices)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    places = tuple(indices.T) if indices.ndim == 2 else np.unravel_index(indices, dense.shape)
    dense[places] = values
    return dense
