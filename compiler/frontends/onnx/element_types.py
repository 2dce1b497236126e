"""ONNX's codes of element types."""

import onnx

from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import DTYPES, dtype_of


def element_type(code: int) -> str:
    """Translate ONNX's code of an element type; Unsupported when `tri` has no such type."""
    known = onnx.TensorProto.DataType
    name = known.Name(code) if code in known.values() else str(code)
    try:
        return dtype_of(onnx.helper.tensor_dtype_to_np_dtype(code))
    except (Unsupported, KeyError):
        raise Unsupported(f"uses element type {name}, must be one of {', '.join(DTYPES)}") from None
