"""Resolve the names of element types; those numpy lacks come from ml_dtypes, when needed."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from .errors import PackageError

_NUMPY = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_EXTENDED = {
    "bfloat16": 2,
    "float8_e3m4": 1,
    "float8_e4m3": 1,
    "float8_e4m3b11fnuz": 1,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float4_e2m1fn": 1,
    "int2": 1,
    "int4": 1,
    "uint2": 1,
    "uint4": 1,
}
TEXT = "object"
"""The type of strings: arrays of callers hold Python strings, memory holds their handles."""

_SIZES = {name: np.dtype(name).itemsize for name in _NUMPY} | _EXTENDED | {TEXT: 8}


def itemsize(name: str) -> int | None:
    """Return the bytes of one element of type `name`, None if there is no such type."""
    return _SIZES.get(name)


@cache
def resolve(name: str) -> np.dtype[Any]:
    """Return the numpy type called `name`."""
    if name in _NUMPY or name == TEXT:
        return np.dtype(name)
    if name not in _EXTENDED:
        raise PackageError(f"element type '{name}' is unknown; known are {', '.join(_SIZES)}")
    try:
        extension = import_module("ml_dtypes")
    except ImportError:
        raise PackageError(
            f"element type '{name}' needs ml_dtypes, which is not installed: pip install ml_dtypes"
        ) from None
    if not hasattr(extension, name):
        raise PackageError(
            f"element type '{name}' needs a newer ml_dtypes: pip install -U ml_dtypes"
        )
    return np.dtype(getattr(extension, name))


def stored(name: str) -> np.dtype[Any]:
    """Return the numpy type that elements of type `name` have in memory."""
    return np.dtype(np.int64) if name == TEXT else resolve(name)
