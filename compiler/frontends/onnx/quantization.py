"""Scales and zero points: how quantised numbers are spread over axes, and how they round.

Constant ones become a part of the type; `known_type` says when. The rest is arithmetic.
"""

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.op import view
from ....dialects.core.quantized import STORAGE, QuantizedType
from ....dialects.core.tensor import DTYPES, Array, integer_range, is_narrow
from ..core.values import cast, constant, tensor
from .registry import Node, Value

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
    """Return the numbers that `x` stands for, without its zero point: i32, or f32 for floats."""
    dtype = WIDE if _is_integer(tensor(x).dtype) else "f32"
    wide = cast(x, dtype)
    return wide if zero_point is None else tri.Sub.build(wide, cast(zero_point, dtype)).y


def _is_integer(dtype: str) -> bool:
    """Return whether numbers are integers, those of fewer than 8 bits included."""
    return "int" in DTYPES[dtype].numpy


def quantized(scaled: Value, zero_point: Value | None, dtype: str, saturate: bool = True) -> Value:
    """Round to the nearest number of a type, ties to even; shift by the zero point and saturate.

    Floats of 8 bits need not `saturate`.
    """
    if not (_is_integer(dtype) or is_narrow(dtype)) or DTYPES[dtype].bits > 16:
        raise Unsupported(f"quantises to {dtype}, must be an integer of at most 16 bits or narrow")
    whole = _is_integer(dtype)
    y = cast(scaled, "f32")
    if whole:
        y = tri.Round.build(y).y
    if zero_point is not None:
        y = tri.Add.build(y, cast(zero_point, "f32")).y
    if whole:
        least, most = integer_range(dtype)
        y = tri.Clip.build(y, min=float(least), max=float(most)).y
    return tri.Cast.build(y, to=dtype, saturate=saturate).y


def requantized(x: Value, scale: Value, y_scale: Value, y_zero_point: Value) -> Value:
    """Bring a wide sum of products to the scale and type of a quantised result."""
    factor = tri.Div.build(cast(scale, "f32"), cast(y_scale, "f32")).y
    scaled = tri.Mul.build(cast(x, "f32"), factor).y
    return quantized(scaled, y_zero_point, tensor(y_zero_point).dtype)


def known_type(
    scale: Value, zero_point: Value | None, storage: str, x: Value, axis: int, node: Node
) -> QuantizedType | None:
    """Return the quantised type of constant scales, one for all or one for each index of an axis.

    Returns None where scales or zero points are computed, not of f32, none at all, or no positive
    numbers, or do not fit `x`.
    """
    scales = node.evaluate(scale) if tensor(scale).dtype == "f32" else None
    zeros = np.zeros(1, np.int64) if zero_point is None else node.evaluate(zero_point)
    if scales is None or zeros is None or not scales.size or storage not in STORAGE.values():
        return None
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        return None
    if scales.size == zeros.size == 1:
        return QuantizedType.of(storage, scales.reshape(-1).tolist(), _integers(zeros))
    shape = tensor(x).shape[axis : axis + 1]
    if scales.shape != shape or zeros.size not in (1, scales.size):
        return None
    return QuantizedType.of(storage, scales.tolist(), _integers(zeros), axis=axis)


def _integers(array: Array) -> list[int]:
    return [int(number) for number in array.reshape(-1)]


def as_quantized(x: Value, kind: QuantizedType) -> Value:
    """Read integers as quantised numbers, as which they may have been made."""
    op = view(x.owner) if isinstance(x, ir.OpResult) else None
    if isinstance(op, tri.StorageCast) and tensor(op.x).dtype == str(kind):
        return op.x
    return tri.StorageCast.build(x, to=str(kind)).y


def dequantized(x: Value, kind: QuantizedType) -> Value:
    """Return the floats that integers of a quantised type stand for."""
    return tri.Dequantize.build(as_quantized(x, kind), of=str(kind)).y


def held(x: Value, kind: QuantizedType) -> Value:
    """Return the integers of a quantised type that are nearest to floats."""
    y = tri.Quantize.build(x, to=str(kind)).y
    return tri.StorageCast.build(y, to=kind.storage).y
