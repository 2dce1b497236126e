"""Weights of PNNX operators: a type, and bytes that are looked at only when asked for. No MLIR."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects.core.errors import CompileError, Invalid
from ....dialects.core.tensor import Array, numpy_dtype

SIZES = {
    "f32": 4,
    "f64": 8,
    "f16": 2,
    "bf16": 2,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
    "u8": 1,
    "bool": 1,
    "c64": 8,
    "c128": 16,
    "c32": 4,
}
"""How many bytes an element of each type has; the keys are PNNX's words."""

_NUMPY = {
    "f32": "<f4",
    "f64": "<f8",
    "f16": "<f2",
    "i8": "i1",
    "i16": "<i2",
    "i32": "<i4",
    "i64": "<i8",
    "u8": "u1",
    "bool": "?",
    "c64": "<c8",
    "c128": "<c16",
}

Load = Callable[[], memoryview]


class Attribute:
    """Hold the type of a weight, and its bytes: little-endian, in C order.

    `dtype` is PNNX's word, None for `null`, which has no data. Bytes from a file stay in the file
    until they are asked for, and are never copied.
    """

    def __init__(self, dtype: str | None, shape: tuple[int, ...], load: Load) -> None:
        self.dtype = dtype
        self.shape = shape
        self._load: Load | None = load

    @staticmethod
    def of(array: Array) -> "Attribute":
        """Make a weight of an array; raise CompileError when PNNX has no such type."""
        array = np.asarray(array, order="C")
        little = array.dtype.newbyteorder("<")
        word = next((w for w, n in _NUMPY.items() if np.dtype(n) == little), None)
        word = word or ("bf16" if array.dtype.name == "bfloat16" else None)
        if word is None:
            raise CompileError(f"weights of type {array.dtype} are not one of {', '.join(SIZES)}")
        data: Any = array.astype(little, copy=False).reshape(-1).view(np.uint8)
        return Attribute(word, array.shape, lambda: memoryview(data))

    @property
    def nbytes(self) -> int:
        """Count the bytes that the type asks for, without a look at the data."""
        return math.prod(self.shape) * SIZES[self.dtype] if self.dtype else 0

    def raw(self) -> memoryview:
        """Return the bytes as they are in the file, without a copy."""
        if self._load is None:
            raise CompileError("the weight was cleared")
        return self._load()

    def array(self) -> Array:
        """Decode to numpy: without a copy, except for c32, which becomes complex64.

        An array from a file cannot be written to, and may begin at any byte.
        """
        if self.dtype is None:
            raise CompileError("a weight of type null has no data")
        if self.dtype == "c32":
            halves = np.frombuffer(self.raw(), "<f2").astype(np.float32)
            return halves.view(np.complex64).reshape(self.shape)
        return np.frombuffer(self.raw(), _numpy(self.dtype)).reshape(self.shape)

    def get(self, dtype: str) -> Array:
        """Decode, and raise CompileError when the weight is not of the type asked for."""
        if dtype != self.dtype:
            raise CompileError(f"the weight is {self.dtype or 'null'}, not {dtype}")
        return self.array()

    def clear(self) -> None:
        """Forget the data; the type stays."""
        self._load = None


def parse_shape(text: str) -> tuple[tuple[int | str | None, ...], str | None]:
    """Read `(1,?,%n)f32`: sizes, unknown sizes and symbols, and the type (None for `null`)."""
    inner, closed, word = text.rpartition(")")
    if not closed or not inner.startswith("("):
        raise Invalid(f"is '{text}', which is not a shape and a type such as (1,3)f32")
    if word not in SIZES and word != "null":
        raise Invalid(f"is of type '{word}', which is not one of {', '.join(SIZES)}, null")
    sizes = inner[1:].split(",") if inner != "(" else []
    return tuple(map(_dimension, sizes)), None if word == "null" else word


def spell_shape(shape: tuple[int | str | None, ...], dtype: str | None) -> str:
    """Spell a shape and a type as `parse_shape` reads them."""
    sizes = ("?" if d is None else f"%{d}" if isinstance(d, str) else str(d) for d in shape)
    return f"({','.join(sizes)}){dtype or 'null'}"


def _dimension(text: str) -> int | str | None:
    if text == "?":
        return None
    if text.startswith("%") and len(text) > 1:
        return text[1:]
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise Invalid(f"has a size '{text[:24]}', which is not a number, '?' or '%' and a name")
    return int(text)


def _numpy(dtype: str) -> "np.dtype[Any]":
    return numpy_dtype("bf16") if dtype == "bf16" else np.dtype(_NUMPY[dtype])
