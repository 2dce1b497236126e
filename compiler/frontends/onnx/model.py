"""Read and check ONNX models: files, bytes or protos, with external data; no IR yet."""

import os
from pathlib import Path
from typing import Any

import google.protobuf.message
import numpy as np
import onnx
import onnx.checker
import onnx.inliner
import onnx.numpy_helper

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.tensor import Array

Source = str | os.PathLike[str] | bytes | onnx.ModelProto

DEPRECATED = "is deprecated in domain_version"
"""What ONNX's checker says of an operator that a newer version took back; runtimes accept it."""


def read_model(source: Source) -> onnx.ModelProto:
    """Read, check and flatten a model, and load its external data.

    Model-local functions are inlined. Raises CompileError when the source is no ONNX model or
    breaks ONNX's rules.
    """
    model, origin = _parse(source)
    folder = str(Path(origin).parent) if origin else ""
    if not model.graph.node and not model.graph.output:
        raise CompileError([Diagnostic(origin or "model", "holds no ONNX graph")])
    _check_text(model.graph, origin)
    _check(model, origin)
    _load_external_data(model, folder, origin)
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    return model


def _parse(source: Source) -> tuple[onnx.ModelProto, str]:
    if isinstance(source, onnx.ModelProto):
        return source, ""
    if isinstance(source, bytes):
        return _decode(source, "model"), ""
    path = os.fspath(source)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CompileError([Diagnostic(path, error.strerror or str(error))]) from None
    return _decode(data, path), path


def _decode(data: bytes, origin: str) -> onnx.ModelProto:
    try:
        return onnx.load_model_from_string(data)
    except (google.protobuf.message.DecodeError, ValueError, RuntimeError):
        message = f"is not an ONNX model: {len(data)} bytes that do not decode as one"
        raise CompileError([Diagnostic(origin, message)]) from None


def _check_text(graph: onnx.GraphProto, origin: str) -> None:
    """Refuse names that are not UTF-8: protobuf hands them out as bytes."""
    for node in graph.node:
        texts: list[Any] = [node.name, node.op_type, node.domain, *node.input, *node.output]
        for text in texts:
            if not isinstance(text, str):
                message = f"is not an ONNX model: the name {text!r} is not UTF-8"
                raise CompileError([Diagnostic(origin or "model", message)])


def _check(model: onnx.ModelProto, origin: str) -> None:
    """Run ONNX's own checker; through the file when there is one, for the sake of its size."""
    try:
        checker: Any = onnx.checker
        checker.check_model(origin or model)
    except (onnx.checker.ValidationError, ValueError, UnicodeDecodeError) as error:
        first = str(error).strip().splitlines()[0]
        if DEPRECATED in first:
            return  # the operator still means something, and rules check what they translate
        raise CompileError([Diagnostic(origin or "model", first)]) from None


def _load_external_data(model: onnx.ModelProto, folder: str, origin: str) -> None:
    try:
        onnx.load_external_data_for_model(model, folder)
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        message = f"external data does not load: {error}"
        raise CompileError([Diagnostic(origin or "model", message)]) from None


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
