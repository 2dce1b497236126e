"""Element types by the words of PNNX and of torch, and what `tri` calls them."""

import numpy as np

from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import numpy_dtype

_TYPES = {
    "f64": "f64",
    "f32": "f32",
    "f16": "f16",
    "bf16": "bf16",
    "i64": "i64",
    "i32": "i32",
    "i16": "i16",
    "i8": "i8",
    "u8": "ui8",
    "bool": "i1",
}

COMPLEX = {"c32": "f16", "c64": "f32", "c128": "f64"}
"""The type of the real and the imaginary part of complex numbers."""

_TORCH = {
    "torch.float64": "f64",
    "torch.double": "f64",
    "torch.float32": "f32",
    "torch.float": "f32",
    "torch.float16": "f16",
    "torch.half": "f16",
    "torch.bfloat16": "bf16",
    "torch.int64": "i64",
    "torch.long": "i64",
    "torch.int32": "i32",
    "torch.int": "i32",
    "torch.int16": "i16",
    "torch.short": "i16",
    "torch.int8": "i8",
    "torch.uint8": "ui8",
    "torch.bool": "i1",
}


def element_type(word: str) -> str:
    """Translate PNNX's word for an element type; that of the parts for complex numbers."""
    return COMPLEX.get(word) or _TYPES[word]


def word_of(dtype: str, is_complex: bool = False) -> str:
    """Return PNNX's word for an element type."""
    table = COMPLEX if is_complex else _TYPES
    return next((word for word, ours in table.items() if ours == dtype), dtype)


COMPLEX_PARTS = {"torch.complex32": "f16", "torch.complex64": "f32", "torch.complex128": "f64"}
"""The types of the parts of torch's complex types."""


def parts_type(name: str) -> str:
    """Return the type of the parts of one of torch's complex types."""
    return COMPLEX_PARTS[name]


def torch_type(name: str) -> str:
    """Translate the name of an element type in torch; Unsupported when `tri` has no such type."""
    if name not in _TORCH:
        raise Unsupported(f"asks for element type {name}, must be one of {', '.join(_TORCH)}")
    return _TORCH[name]


def precision_of(dtype: str) -> float:
    """Return the distance from 1 to the next number of a float type."""
    kind = numpy_dtype(dtype).type
    return float(np.nextafter(kind(1), kind(2))) - 1  # finfo knows no bf16
