"""Conversions of numbers between element types; none leaves a result undefined."""

import numpy as np

from ....dialects.core.tensor import DTYPES, numpy_dtype
from ...number import float_below
from .value import Value, compute_dtype


def convert(x: Value, dtype: str) -> Value:
    """Convert to the compute type of an element type.

    Floats lose their fraction on the way to an integer, stop at its bounds, and NaN becomes 0;
    integers that do not fit wrap around; any non-zero value, NaN included, is true.
    """
    dtype = compute_dtype(dtype)
    kind = DTYPES[dtype].kind
    if x.dtype == dtype:
        return x
    if kind == "bool":
        return x.not_equal(0)
    return _float_to_int(x, dtype) if x.is_float and kind != "float" else x.cast(dtype)


def _float_to_int(x: Value, dtype: str) -> Value:
    """Convert a float to an integer type that is at least 32 bits wide, then to the one wanted."""
    info = np.iinfo(numpy_dtype(dtype))
    low, high = int(info.min), int(info.max)
    limit = float_below(high, x.dtype)
    inside = x.is_nan().select(x.like(0), x).maximum(low).minimum(limit)
    whole = inside.cast(dtype if DTYPES[dtype].bits >= 32 else "i32").cast(dtype)
    return whole if limit == high else x.greater(limit).select(whole.like(high), whole)


def cast(x: Value, dtype: str) -> Value:
    """Convert and round to an element type: f64 to f16 at once, since rounding twice may differ."""
    if compute_dtype(dtype) == dtype:
        return convert(x, dtype)
    wide = x if x.is_float else convert(x, dtype)
    return wide.cast(dtype).cast(compute_dtype(dtype))


def reinterpret(x: Value, source: str, dtype: str) -> Value:
    """Read the bits of elements of type `source` as elements of another type of the same width."""
    if source == "i1" or dtype == "i1":
        return convert(x, dtype)
    return x.cast(source).bits(dtype).cast(compute_dtype(dtype))
