"""Read ONNX models: files, bytes or protos, with external data; no IR yet."""

import mmap
import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from io import BufferedReader
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
from .tensor_file import TensorFile, strip_initializers

Source = str | os.PathLike[str] | bytes | onnx.ModelProto

Values = Callable[[onnx.TensorProto], Array]
"""Returns the value of an initializer; raises Invalid when its data does not fit its type."""

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
    _check(model, origin)
    model = inline_functions(model, origin)
    _load_external_data(model, folder, origin)
    return model


def _check(model: onnx.ModelProto, origin: str) -> None:
    if not model.graph.node and not model.graph.output:
        raise CompileError([Diagnostic(origin, "holds no ONNX graph")])
    check_text(model, origin)
    operator_sets(model, origin)


@contextmanager
def open_model(source: Source) -> Generator[tuple[onnx.ModelProto, Values]]:
    """Read a model like `read_model`, and return what reads the values of its initializers.

    While this is open, so is the file: large initializers have no data in the model.
    """
    with ExitStack() as stack:
        opened = None
        if isinstance(source, (str, os.PathLike)):
            with suppress(OSError, ValueError):  # read_model raises the error
                opened = _strip(stack.enter_context(open(source, "rb")))
        if opened is None:
            yield read_model(source), tensor_value
            return
        model, tensors = opened
        path = os.fsdecode(tensors.file.name)
        _check(model, path)
        _load_external_data(model, str(Path(path).parent), path)
        yield model, partial(_initializer, tensors)


def read_once(model: onnx.ModelProto, values: Values) -> Values:
    """Return what reads the values of a model's own initializers once, however often it is asked.

    Those of subgraphs, which may have the same names, are read as `values` does.
    """
    own, made = {each.name: each for each in model.graph.initializer}, dict[str, Array]()

    def value(tensor: onnx.TensorProto) -> Array:
        if own.get(tensor.name) is not tensor:
            return values(tensor)
        if tensor.name not in made:
            made[tensor.name] = values(tensor)
        return made[tensor.name]

    return value


def _strip(file: BufferedReader) -> tuple[onnx.ModelProto, TensorFile] | None:
    """Read the model in a file without large initializers; None where only all can be read.

    Functions are inlined by code that copies all of a model.
    """
    try:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        stripped, spans = strip_initializers(memoryview(data))
        model = onnx.load_model_from_string(stripped)
    except (ValueError, RuntimeError, google.protobuf.message.DecodeError):
        return None
    names = [tensor.name for tensor in model.graph.initializer]
    if not spans or model.functions or len(set(names)) < len(names):
        return None
    return model, TensorFile(file, spans)


def _initializer(tensors: TensorFile, tensor: onnx.TensorProto) -> Array:
    with _decoding(tensor):
        found = tensors.read(tensor)
    return tensor_value(tensor) if found is None else found


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
    with _decoding(tensor):
        return onnx.numpy_helper.to_array(tensor)


@contextmanager
def _decoding(tensor: onnx.TensorProto) -> Generator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid(f"uses tensor '{tensor.name}', which does not decode: {error}") from None


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """Convert a node's attribute to Python: bytes to str, lists to tuples, tensors to numpy.

    Raises Invalid for an attribute without a value, and for text that is not UTF-8.
    """
    try:
        return _converted(onnx.helper.get_attribute_value(attribute))
    except (IndexError, ValueError) as error:  # ValueError: text that is not UTF-8, too
        raise Invalid(f"has attribute '{attribute.name}', which does not decode: {error}") from None


def _converted(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, onnx.TensorProto):
        return tensor_value(value)
    if isinstance(value, onnx.SparseTensorProto):
        return _dense(value)
    if isinstance(value, (int, float, str, onnx.GraphProto, onnx.TypeProto)):
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
