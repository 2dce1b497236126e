"""Scales and zero points: how quantised numbers are spread over axes, and how they round."""

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid, Unsupported
from ....dialects.core.tensor import DTYPES, numpy_dtype
from ..core.values import cast, constant, tensor
from .rules import Value

WIDE = "i32"
"""The element type that differences and products of quantised numbers are computed in."""


def spread(value: Value, x: Value, axis: int, block_size: int = 0) -> Value:
    """Shape a scale or zero point so that it broadcasts to `x`.

    It is one for all, one for each index of an axis, or one for each block of an axis.
    """
    have, want = tensor(value), tensor(x)
    if have.size == 1:
        return value if not have.rank else tri.Reshape.build(value, shape=()).y
    if block_size:
        return _repeated(value, x, axis, block_size)
    if have.shape != want.shape[axis : axis + 1]:
        raise Invalid(f"has a scale or zero point {have} for axis {axis} of {want}")
    return _along(value, axis, want.rank)


def _along(value: Value, axis: int, rank: int) -> Value:
    shape = (1,) * axis + tensor(value).shape + (1,) * (rank - axis - 1)
    return tri.Reshape.build(value, shape=shape).y


def _repeated(value: Value, x: Value, axis: int, block_size: int) -> Value:
    have, want = tensor(value), tensor(x)
    size = want.shape[axis]
    blocks = (*want.shape[:axis], -(-size // block_size), *want.shape[axis + 1 :])
    if have.shape != blocks:
        raise Invalid(f"has a scale or zero point {have} for blocks of {block_size} of {want}")
    return tri.Gather.build(value, constant(np.arange(size) // block_size), axis=axis).y


def rows(value: Value, x: Value) -> Value:
    """Shape a scale or zero point of a matrix so that it broadcasts over rows: one for each."""
    return value if tensor(value).rank != 1 else spread(value, x, tensor(x).rank - 2)


def columns(value: Value, x: Value) -> Value:
    """Shape a scale or zero point of a matrix so that it broadcasts over columns."""
    return value if tensor(value).rank != 1 else spread(value, x, tensor(x).rank - 1)


def centered(x: Value, zero_point: Value | None) -> Value:
    """Return the integers that `x` stands for: without its zero point, wide."""
    wide = cast(x, WIDE)
    return wide if zero_point is None else tri.Sub.build(wide, cast(zero_point, WIDE)).y


def quantized(scaled: Value, zero_point: Value | None, dtype: str) -> Value:
    """Round to the nearest integer, ties to even; shift by the zero point and saturate."""
    if DTYPES[dtype].kind not in ("int", "uint") or DTYPES[dtype].bits > 16:
        raise Unsupported(f"quantises to {dtype}, must be an integer of at most 16 bits")
    bounds = np.iinfo(numpy_dtype(dtype))
    y = tri.Round.build(cast(scaled, "f32")).y
    if zero_point is not None:
        y = tri.Add.build(y, cast(zero_point, "f32")).y
    y = tri.Clip.build(y, min=float(bounds.min), max=float(bounds.max)).y
    return tri.Cast.build(y, to=dtype).y


def requantized(x: Value, scale: Value, y_scale: Value, y_zero_point: Value) -> Value:
    """Bring a wide sum of products to the scale and type of a quantised result."""
    factor = tri.Div.build(cast(scale, "f32"), cast(y_scale, "f32")).y
    scaled = tri.Mul.build(cast(x, "f32"), factor).y
    return quantized(scaled, y_zero_point, tensor(y_zero_point).dtype)
