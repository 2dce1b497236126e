"""Lowerings of ops by operators alone: arithmetic, comparison, logic and choice."""

import math

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.op import Op
from ....dialects.core.tensor import DTYPES, numpy_dtype
from .shared import Value, arithmetic


@arithmetic(tri.Add)
def lower_add(op: tri.Add, a: Value, b: Value) -> Value:
    return a + b


@arithmetic(tri.Sub)
def lower_sub(op: tri.Sub, a: Value, b: Value) -> Value:
    return a - b


@arithmetic(tri.Mul)
def lower_mul(op: tri.Mul, a: Value, b: Value) -> Value:
    return a * b


@arithmetic(tri.Minimum)
def lower_minimum(op: tri.Minimum, a: Value, b: Value) -> Value:
    return a.minimum(b)


@arithmetic(tri.Maximum)
def lower_maximum(op: tri.Maximum, a: Value, b: Value) -> Value:
    return a.maximum(b)


@arithmetic(tri.BitwiseAnd, tri.And)
def lower_and(op: Op, a: Value, b: Value) -> Value:
    return a.logical_and(b)


@arithmetic(tri.BitwiseOr, tri.Or)
def lower_or(op: Op, a: Value, b: Value) -> Value:
    return a.logical_or(b)


@arithmetic(tri.BitwiseXor, tri.Xor)
def lower_xor(op: Op, a: Value, b: Value) -> Value:
    return a.logical_xor(b)


@arithmetic(tri.Equal)
def lower_equal(op: tri.Equal, a: Value, b: Value) -> Value:
    return a.equal(b)


@arithmetic(tri.Less)
def lower_less(op: tri.Less, a: Value, b: Value) -> Value:
    return a.less(b)


@arithmetic(tri.Greater)
def lower_greater(op: tri.Greater, a: Value, b: Value) -> Value:
    return a.greater(b)


@arithmetic(tri.LessEqual)
def lower_less_equal(op: tri.LessEqual, a: Value, b: Value) -> Value:
    return a.less_equal(b)


@arithmetic(tri.GreaterEqual)
def lower_greater_equal(op: tri.GreaterEqual, a: Value, b: Value) -> Value:
    return a.greater_equal(b)


@arithmetic(tri.Where, moves=True)
def lower_where(op: tri.Where, condition: Value, a: Value, b: Value) -> Value:
    return condition.select(a, b)


@arithmetic(tri.Abs)
def lower_abs(op: tri.Abs, x: Value) -> Value:
    return x.abs()


@arithmetic(tri.Sign)
def lower_sign(op: tri.Sign, x: Value) -> Value:
    one = x.greater(0).select(x.like(1), 0)
    if x.kind == "uint":
        return one
    signed = x.less(0).select(x.like(-1), one)
    return x.is_nan().select(x, signed) if x.is_float else signed


@arithmetic(tri.Neg)
def lower_neg(op: tri.Neg, x: Value) -> Value:
    return -x


@arithmetic(tri.Not, tri.BitwiseNot)
def lower_not(op: Op, x: Value) -> Value:
    return x.invert()


@arithmetic(tri.ShiftLeft)
def lower_shift_left(op: tri.ShiftLeft, a: Value, b: Value) -> Value:
    fits = _is_shift(b)
    return fits.select(a.shift_left(fits.select(b, 0)), 0)


@arithmetic(tri.ShiftRight)
def lower_shift_right(op: tri.ShiftRight, a: Value, b: Value) -> Value:
    # A shift by all bits or more is two shifts by all bits but one.
    most = DTYPES[a.dtype].bits - 1
    fits = _is_shift(b)
    far = a.shift_right(most).shift_right(most)
    return fits.select(a.shift_right(fits.select(b, 0)), far)


def _is_shift(b: Value) -> Value:
    """Return whether a shift is shorter than the number of bits."""
    bits = DTYPES[b.dtype].bits
    return b.cast(f"ui{bits}").less(bits)


@arithmetic(tri.Reciprocal)
def lower_reciprocal(op: tri.Reciprocal, x: Value) -> Value:
    return 1 / x


@arithmetic(tri.IsNan)
def lower_is_nan(op: tri.IsNan, x: Value) -> Value:
    return x.is_nan()


@arithmetic(tri.IsInf)
def lower_is_inf(op: tri.IsInf, x: Value) -> Value:
    if op.detect_negative and op.detect_positive:
        return x.abs().equal(math.inf)
    if op.detect_negative:
        return x.equal(-math.inf)
    return x.equal(math.inf) if op.detect_positive else x.less(x)


@arithmetic(tri.Clip)
def lower_clip(op: tri.Clip, x: Value) -> Value:
    limits = np.array([op.min, op.max])
    with np.errstate(over="ignore"):  # a limit beyond the range of the element type is infinite
        low, high = map(float, limits.astype(numpy_dtype(tensor_of(op.x.type).dtype)))
    x = x if low == -math.inf else x.maximum(low)
    return x if high == math.inf else x.minimum(high)
