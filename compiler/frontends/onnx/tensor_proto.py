"""Files of one ONNX tensor (`TensorProto`, .pb), as test cases of ONNX and other compilers have."""

from pathlib import Path

import google.protobuf.message
import numpy as np
import onnx
import onnx.numpy_helper

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.files import replaced_file
from ....dialects.core.tensor import Array
from .model import tensor_value


def read_tensor(path: str) -> Array:
    """Read the tensor of a file as an array; CompileError where that does not work."""
    try:
        tensor = onnx.TensorProto.FromString(Path(path).read_bytes())
    except OSError as error:
        raise CompileError(f"{path}: cannot be read: {error.strerror}") from None
    except google.protobuf.message.DecodeError:
        raise CompileError(f"{path}: is not a tensor of ONNX (.pb)") from None
    if tensor.data_type == onnx.TensorProto.UNDEFINED:
        raise CompileError(f"{path}: has a tensor without an element type")
    try:
        return tensor_value(tensor)
    except Invalid as fault:
        raise CompileError([Diagnostic(path, str(fault))]) from None


def write_tensor(path: str, array: Array, name: str = "") -> None:
    """Write an array as a tensor, as a whole or not at all."""
    tensor = onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
    with replaced_file(path) as file:
        file.write(tensor.SerializeToString())
