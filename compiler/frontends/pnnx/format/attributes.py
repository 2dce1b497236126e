"""Weights of PNNX operators: a type, and bytes that are looked at only when asked for. No MLIR."""

import math
from typing import Any, Protocol

import numpy as np

from .....dialects.core.errors import CompileError, Invalid
from .....dialects.core.tensor import Array, numpy_dtype
from ...torch.node import Weight
from .tensor_type import SIZES, spell_type

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


class Data(Protocol):
    """The source of the bytes of a weight: a file, or an array."""

    def read(self) -> memoryview: ...

    def release(self) -> None: ...


class Attribute(Weight):
    """Hold the type of a weight, and its bytes: little-endian, in C order.

    `dtype` is PNNX's word, None for `null`, which has no data. Bytes from a file stay in the file
    until they are asked for, and are never copied.
    """

    def __init__(self, dtype: str | None, shape: tuple[int, ...], data: Data) -> None:
        self.dtype = dtype
        self.shape = shape
        self._data: Data | None = data

    @staticmethod
    def of(array: Array) -> "Attribute":
        """Make a weight of an array, which is not copied; raise Invalid if PNNX lacks its type."""
        held = _Held(array)
        return Attribute(held.dtype, array.shape, held)

    @staticmethod
    def null(shape: tuple[int, ...]) -> "Attribute":
        """Make a weight of type `null`, which has a shape and no data."""
        return Attribute(None, shape, _Held(np.empty(0, np.uint8)))

    @property
    def is_complex(self) -> bool:
        return self.dtype in ("c32", "c64", "c128")

    @property
    def nbytes(self) -> int:
        """Count the bytes that the type asks for, without a look at the data."""
        return math.prod(self.shape) * SIZES[self.dtype] if self.dtype else 0

    def raw(self) -> memoryview:
        """Return the bytes as they are in the file, without a copy.

        Raises CompileError when the weight was cleared, or does not fit its checksum.
        """
        if self._data is None:
            raise CompileError(f"the weight of {self} was cleared")
        return self._data.read()

    def array(self) -> Array:
        """Decode to numpy: without a copy, except for c32, which becomes complex64.

        What comes from a file cannot be written to, and need not begin on a multiple of its
        element's size. Raises CompileError as `raw` does.
        """
        if self.dtype is None:
            raise CompileError(f"the weight of {self} has no data")
        raw = np.frombuffer(self.raw(), np.uint8)
        if self.dtype == "c32":
            return raw.view("<f2").astype(np.float32).view(np.complex64).reshape(self.shape)
        if self.dtype == "bool" and raw.size and raw.max() > 1:
            return (raw != 0).reshape(self.shape)
        return raw.view(_numpy(self.dtype)).reshape(self.shape)

    def get(self, dtype: str) -> Array:
        """Decode, and raise CompileError when the weight is not of the type asked for."""
        if dtype != self.dtype:
            raise CompileError(f"the weight is {self}, not {dtype}")
        return self.array()

    def clear(self) -> None:
        """Forget the data, and give its memory back; the type stays."""
        if self._data is not None:
            self._data.release()
        self._data = None

    def __str__(self) -> str:
        return spell_type(self.shape, self.dtype)


class _Held:
    """The bytes of an array in memory."""

    def __init__(self, array: Array) -> None:
        little = array.dtype.newbyteorder("<")
        words = {np.dtype(name): word for word, name in _NUMPY.items()}
        self.dtype = "bf16" if array.dtype.name == "bfloat16" else words.get(little, "")
        if not self.dtype:
            raise Invalid(f"weights are {array.dtype}, must be one of {', '.join(SIZES)}")
        flat = np.ascontiguousarray(array, little).reshape(-1)
        self._bytes: Any = flat.view(np.uint8)

    def read(self) -> memoryview:
        return memoryview(self._bytes)

    def release(self) -> None:
        self._bytes = None


def _numpy(dtype: str) -> "np.dtype[Any]":
    return numpy_dtype(dtype) if dtype == "bf16" else np.dtype(_NUMPY[dtype])
