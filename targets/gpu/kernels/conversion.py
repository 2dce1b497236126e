"""Casts of values to element types."""

from ....dialects.core.tensor import is_narrow
from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from ...kernels.narrow import narrowed_bits
from .value import Value


def cast(x: Value, dtype: str) -> Value:
    """Convert and round to an element type: f64 to f16 at once, since rounding twice may differ."""
    x = _widened(x)
    if compute_dtype(dtype) == dtype:
        return convert(x, dtype)
    wide = x if x.is_float else convert(x, dtype)
    return wide.cast(dtype).cast(compute_dtype(dtype))


def narrow(x: Value, dtype: str, saturate: bool) -> Value:
    """Round to floats of 8 bits, as `tri.cast` does."""
    return narrowed_bits(_widened(x), dtype, saturate).bits(dtype)


def _widened(x: Value) -> Value:
    return x.cast("f32") if is_narrow(x.dtype) else x


def reinterpret(x: Value, source: str, dtype: str) -> Value:
    """Read the bits of elements of type `source` as elements of another type of the same width."""
    if source == "i1" or dtype == "i1":
        return convert(x, dtype)
    return x.cast(source).bits(dtype).cast(compute_dtype(dtype))
