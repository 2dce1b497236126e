"""Casts to and from narrow types, as numpy with ml_dtypes and ONNX have them.

Source: the specification of ONNX `Cast`, tables of float 8 and float 4; OCP Microscaling Formats
(MX) v1.0 for f8E8M0FNU.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

ROUND_MODES = ("up", "down", "nearest")

MOST = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
    "float4_e2m1fn": 6.0,
}
"""The greatest finite numbers."""

BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}
"""The width of integers."""


def cast_narrow(x: Array, to: "np.dtype[Any]", saturate: bool) -> Array:
    """Convert an array from or to a type of `ml_dtypes`.

    Real numbers that do not fit become the greatest that do when `saturate`, else infinite, or NaN
    where a type has no infinity.
    """
    wide = _widened(x)
    if to.name in BITS:
        return _integers(wide, to)
    return _floats(wide, to, saturate) if to.name in MOST else wide.astype(to)


def _widened(x: Array) -> Array:
    """Return narrow numbers in a type of numpy."""
    if x.dtype.name.startswith(("float8", "float4", "bfloat16")):
        return x.astype(np.float32)
    return x.astype(np.int32) if x.dtype.name in BITS else x


def _integers(x: Array, to: "np.dtype[Any]") -> Array:
    """Keep the low bits of integers, and of the whole parts of real numbers."""
    whole = x.astype(np.int64) if x.dtype.kind != "f" else np.trunc(x).astype(np.int64)
    return (whole & ((1 << BITS[to.name]) - 1)).astype(np.uint8).view(to)


def _floats(x: Array, to: "np.dtype[Any]", saturate: bool) -> Array:
    most = MOST[to.name]
    wide = x.astype(np.float64 if x.dtype.itemsize > 4 else np.float32)
    if saturate or to.name.startswith("float4"):
        wide = np.clip(wide, -most, most)
    return wide.astype(to)


def powers_of_two(x: Array, saturate: bool, round_mode: str) -> Array:
    """Return the biased exponents of the powers of two that stand for magnitudes; 255 is NaN."""
    x = x.astype(np.float32)
    bits = np.abs(x).view(np.uint32)
    exponent, fraction = (bits >> 23).astype(np.int32), bits & 0x7FFFFF
    if round_mode == "up":
        exponent += (fraction > 0) & ((exponent > 0) | (fraction > 1 << 22))
    elif round_mode == "nearest":
        exponent += fraction >= 1 << 22
    finite = np.isfinite(x)
    limit = 254 if saturate else 255
    made = np.minimum(exponent, limit)
    made = np.where(np.isinf(x), limit, made)
    return np.where(finite | np.isinf(x), made, 255).astype(np.uint8)
