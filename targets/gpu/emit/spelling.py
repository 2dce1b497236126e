"""Spell types and numbers as Triton does, in source and in signatures."""

from collections.abc import Mapping

import numpy as np

from ....dialects.core.tensor import DTYPES, numpy_dtype

SIGNATURE: Mapping[str, str] = {
    "f64": "fp64",
    "f32": "fp32",
    "f16": "fp16",
    "bf16": "bf16",
    "i64": "i64",
    "i32": "i32",
    "i16": "i16",
    "i8": "i8",
    "ui64": "u64",
    "ui32": "u32",
    "ui16": "u16",
    "ui8": "u8",
    "i1": "i8",
    "f8E4M3FN": "fp8e4nv",
    "f8E5M2": "fp8e5",
}
"""Element types as signatures have them. In memory an i1 is a byte, 0 or 1."""

_LANGUAGE: Mapping[str, str] = {
    "bf16": "bfloat16",
    "i1": "int1",
    "f8E4M3FN": "float8e4nv",
    "f8E5M2": "float8e5",
}


def language_type(dtype: str) -> str:
    """Return an element type as source has it: `tl.float32`."""
    return f"tl.{_LANGUAGE.get(dtype, DTYPES[dtype].numpy)}"


def literal(value: float | int | bool, dtype: str) -> str:
    """Write a number so that it is exactly itself when read as an element of a type."""
    if dtype == "i1":
        return str(bool(value))
    if DTYPES[dtype].kind not in ("float", "narrow"):
        return str(int(value))
    number = float(value)
    if not np.isfinite(number):
        return f'float("{number}")'
    if dtype == "f32":
        short = str(np.float32(number))
        if np.float32(float(short)) == np.float32(number):
            return short if "." in short or "e" in short else f"{short}.0"
    return repr(number)


def element(value: object, dtype: str) -> float | int:
    """Round a number to an element type."""
    return np.asarray(value).astype(numpy_dtype(dtype)).item()
