"""Quantised numbers in terms of arithmetic on floats and on the integers that hold them."""

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.quantized import QuantizedType
from ...dialects.core.tensor import Array, numpy_dtype
from ...dialects.tri.quantize import LARGEST_BYTE, SMALLEST_ROW
from ..building import (
    Operand,
    absolute,
    add,
    cast,
    div,
    less,
    maximum,
    minimum,
    mul,
    reduce_max,
    reshape,
    shape_of,
    sub,
    where,
)
from .registry import decomposes

WIDE = "i32"
"""The element type that integers without their zero points are of."""


@decomposes(tri.Quantize)
def quantize(op: tri.Quantize) -> ir.Value:
    kind = QuantizedType.parse(op.to)
    wide = "f64" if kind.expressed == "f64" else "f32"
    y = tri.Round.build(div(cast(op.x, wide), _scales(kind, op.x, wide))).y
    if any(kind.zero_points):
        y = add(y, _zero_points(kind, op.x, wide))
    y = tri.Clip.build(y, min=float(kind.low), max=float(kind.high)).y
    held = tri.Cast.build(y, to=kind.storage).y
    return tri.StorageCast.build(held, to=op.to).y


@decomposes(tri.Dequantize)
def dequantize(op: tri.Dequantize) -> ir.Value:
    kind = QuantizedType.parse(op.of)
    y = cast(tri.StorageCast.build(op.x, to=kind.storage).y, WIDE)
    if any(kind.zero_points):
        y = sub(y, _zero_points(kind, op.x, WIDE))
    return mul(cast(y, kind.expressed), _scales(kind, op.x, kind.expressed))


@decomposes(tri.QuantizeRows)
def quantize_rows(op: tri.QuantizeRows) -> tuple[ir.Value, ir.Value]:
    x = cast(op.x, "f32")
    shape = shape_of(x)
    largest = reduce_max(absolute(x), (len(shape) - 1,))
    is_small = less(largest, SMALLEST_ROW)
    factors = where(is_small, 0, div(LARGEST_BYTE, largest))
    numbers = tri.Round.build(mul(x, factors)).y
    numbers = tri.Clip.build(numbers, min=float(-LARGEST_BYTE), max=float(LARGEST_BYTE)).y
    scales = where(is_small, 0, div(largest, LARGEST_BYTE))
    return tri.Cast.build(numbers, to="i8").y, reshape(scales, *shape[:-1])


@decomposes(tri.Requantize)
def requantize(op: tri.Requantize) -> ir.Value:
    """Round before the shift: add half of what is shifted out, less one where halves go down."""
    factors, shifts = np.array(op.multiplier, np.int64), np.array(op.shift, np.int64)
    shifted = shifts > 0
    halves = np.where(shifted, np.left_shift(1, np.maximum(shifts - 1, 0)), 0)
    product = mul(cast(op.x, "i64"), _along(factors, op.x, op.axis))
    bias: Operand = _along(halves, op.x, op.axis)
    amount = _along(shifts, op.x, op.axis)
    ones = _along(shifted.astype(np.int64), op.x, op.axis)
    if op.rounding == "half_away":
        negative = tri.Less.build(product, _along(np.zeros(1, np.int64), op.x, 0)).y
        product = sub(product, where(negative, ones, 0))
    elif op.rounding == "half_even":
        odd = tri.BitwiseAnd.build(tri.ShiftRight.build(product, amount).y, ones).y
        product = sub(add(product, odd), ones)
    return _finished(tri.ShiftRight.build(add(product, bias), amount).y, op)


@decomposes(tri.RequantizeMean)
def requantize_mean(op: tri.RequantizeMean) -> ir.Value:
    """Divide twice the size by twice the divisor, rounded down; half of it was added before."""
    product = mul(cast(op.x, "i64"), op.multiplier)
    divisor = mul(cast(op.count, "i64"), 1 << op.shift)
    size = div(add(mul(absolute(product), 2), divisor), mul(divisor, 2))
    return _finished(mul(tri.Sign.build(product).y, size), op)


def _finished(x: ir.Value, op: tri.Requantize | tri.RequantizeMean) -> ir.Value:
    """Add the zero point and clamp."""
    least = maximum(add(x, op.zero_point), op.low)
    return cast(minimum(least, op.high), op.to)


def _scales(kind: QuantizedType, like: ir.Value, dtype: str) -> ir.Value:
    return _along(np.array(kind.scales).astype(numpy_dtype(dtype)), like, kind.axis or 0)


def _zero_points(kind: QuantizedType, like: ir.Value, dtype: str) -> ir.Value:
    return _along(np.array(kind.zero_points).astype(numpy_dtype(dtype)), like, kind.axis or 0)


def _along(numbers: Array, like: ir.Value, axis: int) -> ir.Value:
    """Build a constant: one number without axes, or several that broadcast along an axis."""
    rank = tensor_of(like.type).rank
    same = numbers.size == 1 or bool((numbers == numbers[0]).all())
    shape = () if same else (-1, *[1] * (rank - 1 - axis % rank))
    array = numbers[:1].reshape(()) if same else numbers.reshape(shape)
    return tri.Constant.build(value=array).y
