"""Conversion of values between element types; none traps or leaves a result undefined."""

import numpy as np

from ...dialects.core.tensor import DTYPES, numpy_dtype
from .arithmetic import V, compute_dtype


def convert(x: V, dtype: str) -> V:
    """Convert to the compute type of an element type.

    Floats become integers by truncation, saturate at the bounds, and NaN becomes 0; integers that
    do not fit wrap around; any non-zero value, NaN included, is true.
    """
    dtype = compute_dtype(dtype)
    kind = DTYPES[dtype].kind
    if x.dtype == dtype:
        return x
    if kind == "bool":
        return x.not_equal(0)
    return _float_to_int(x, dtype) if x.is_float and kind != "float" else x.cast(dtype)


def _float_to_int(x: V, dtype: str) -> V:
    """Convert a float to an integer type of at least 32 bits, then to the one wanted."""
    info = np.iinfo(numpy_dtype(dtype))
    low, high = int(info.min), int(info.max)
    limit = float_below(high, x.dtype)
    inside = x.is_nan().select(x.like(0), x).maximum(low).minimum(limit)
    whole = inside.cast(dtype if DTYPES[dtype].bits >= 32 else "i32").cast(dtype)
    return whole if limit == high else x.greater(limit).select(whole.like(high), whole)


def float_below(value: int, dtype: str) -> float:
    """Return the greatest float of a type that is not above an integer."""
    kind = numpy_dtype(dtype).type
    near = kind(value)
    return float(near) if int(near) <= value else float(np.nextafter(near, kind(0)))
