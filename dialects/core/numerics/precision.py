"""The types that references compute in: half-precision values are summed in f32."""

from ..tensor import Array, dtype_of, numpy_dtype

_ACCUMULATORS = {"f16": "f32", "bf16": "f32"}


def accumulator(dtype: str) -> str:
    """Name the element type in which sums of elements of type `dtype` are kept."""
    return _ACCUMULATORS.get(dtype, dtype)


def widen(x: Array) -> Array:
    """Return `x` in its accumulator type; no copy when it has it already."""
    return x.astype(numpy_dtype(accumulator(dtype_of(x.dtype))), copy=False)


def narrow(y: Array, like: Array) -> Array:
    """Return `y` in the element type of `like`: the way back from `widen`."""
    return y.astype(like.dtype, copy=False)
