"""ONNX rules for arithmetic, comparisons and logic, element by element, and for casts."""

import math
from collections.abc import Callable

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.op import Op
from .....dialects.core.tensor import greatest_finite, is_float, numpy_dtype
from .....dialects.tri.elementwise.base import POWERS
from ...core.broadcasting import with_axes_of_one
from ...core.values import constant, constant_of, single, tensor
from ..element_types import element_type
from ..registry import Value, onnx_op

SAME: tuple[tuple[str, int, type[Op]], ...] = (
    ("Abs", 6, tri.Abs),
    ("Acos", 7, tri.Acos),
    ("Acosh", 9, tri.Acosh),
    ("Add", 7, tri.Add),
    ("And", 7, tri.And),
    ("Asin", 7, tri.Asin),
    ("Asinh", 9, tri.Asinh),
    ("Atan", 7, tri.Atan),
    ("Atanh", 9, tri.Atanh),
    ("BitwiseAnd", 18, tri.BitwiseAnd),
    ("BitwiseNot", 18, tri.BitwiseNot),
    ("BitwiseOr", 18, tri.BitwiseOr),
    ("BitwiseXor", 18, tri.BitwiseXor),
    ("Ceil", 6, tri.Ceil),
    ("Cos", 7, tri.Cos),
    ("Cosh", 9, tri.Cosh),
    ("Div", 7, tri.Div),
    ("Equal", 7, tri.Equal),
    ("Erf", 9, tri.Erf),
    ("Exp", 6, tri.Exp),
    ("Floor", 6, tri.Floor),
    ("Greater", 7, tri.Greater),
    ("GreaterOrEqual", 12, tri.GreaterEqual),
    ("HardSwish", 14, tri.Hardswish),
    ("IsNaN", 9, tri.IsNan),
    ("Less", 7, tri.Less),
    ("LessOrEqual", 12, tri.LessEqual),
    ("Log", 6, tri.Log),
    ("Mish", 18, tri.Mish),
    ("Mul", 7, tri.Mul),
    ("Neg", 6, tri.Neg),
    ("Not", 1, tri.Not),
    ("Or", 7, tri.Or),
    ("Pow", 7, tri.Pow),
    ("Reciprocal", 6, tri.Reciprocal),
    ("Relu", 6, tri.Relu),
    ("Round", 11, tri.Round),
    ("Sigmoid", 6, tri.Sigmoid),
    ("Sign", 9, tri.Sign),
    ("Sin", 7, tri.Sin),
    ("Sinh", 9, tri.Sinh),
    ("Softplus", 1, tri.Softplus),
    ("Softsign", 1, tri.Softsign),
    ("Sqrt", 6, tri.Sqrt),
    ("Sub", 7, tri.Sub),
    ("Tan", 7, tri.Tan),
    ("Tanh", 6, tri.Tanh),
    ("Where", 9, tri.Where),
    ("Xor", 7, tri.Xor),
)
"""Operators that are one op with the same operands: ONNX's name, first version, op."""


def _same(op: type[Op]) -> Callable[..., Op]:
    """Make a rule with as many inputs as the op has operands."""

    def unary(x: Value) -> Op:
        return op.build(x)

    def binary(a: Value, b: Value) -> Op:
        return op.build(*with_axes_of_one(a, b))

    def ternary(a: Value, b: Value, c: Value) -> Op:
        return op.build(*with_axes_of_one(a, b, c))

    return (unary, binary, ternary)[len(op.fields.operands) - 1]


for _op_type, _since, _op in SAME:
    onnx_op(_op_type, since=_since)(_same(_op))


@onnx_op("Mod", since=10)
def mod(a: Value, b: Value, *, fmod: int = 0) -> tri.Mod:
    return tri.Mod.build(a, b, fmod=bool(fmod))


@onnx_op("BitShift", since=11)
def bit_shift(x: Value, y: Value, *, direction: str) -> tri.ShiftLeft | tri.ShiftRight:
    if direction not in ("LEFT", "RIGHT"):
        raise Invalid(f"has direction '{direction}', must be LEFT or RIGHT")
    return tri.ShiftLeft.build(x, y) if direction == "LEFT" else tri.ShiftRight.build(x, y)


@onnx_op("IsInf", since=10)
def is_inf(x: Value, *, detect_negative: int = 1, detect_positive: int = 1) -> tri.IsInf:
    return tri.IsInf.build(
        x, detect_negative=bool(detect_negative), detect_positive=bool(detect_positive)
    )


def _joined(op: type[tri.Binary], xs: tuple[Value, ...]) -> Value:
    joined = xs[0]
    for x in xs[1:]:
        joined = op.build(*with_axes_of_one(joined, x)).y
    return joined


@onnx_op("Max", since=6)
def maximum(*xs: Value) -> Value:
    return _joined(tri.Maximum, xs)


@onnx_op("Min", since=6)
def minimum(*xs: Value) -> Value:
    return _joined(tri.Minimum, xs)


@onnx_op("Sum", since=6)
def total(*xs: Value) -> Value:
    return _joined(tri.Add, xs)


@onnx_op("Mean", since=6)
def mean(*xs: Value) -> Value:
    if len(xs) == 1:
        return xs[0]
    count = constant(np.array(len(xs), numpy_dtype(tensor(xs[0]).dtype)))
    return tri.Div.build(_joined(tri.Add, xs), count).y


GREATEST = greatest_finite("f32")


@onnx_op("Clip", since=6)
def clip_to_attributes(x: Value, *, min: float = -GREATEST, max: float = GREATEST) -> tri.Clip:
    return tri.Clip.build(x, min=_no_nan(min, -math.inf), max=_no_nan(max, math.inf))


@onnx_op("Clip", since=11)
def clip(x: Value, min: Value | None = None, max: Value | None = None) -> Value:
    """Clip to limits; a missing limit is the greatest finite number, and a NaN limit is none.

    ONNX defines the former, ONNX Runtime the latter.
    """
    dtype = tensor(x).dtype
    if not is_float(dtype):
        x = x if min is None else tri.Maximum.build(x, min).y
        return x if max is None else tri.Minimum.build(x, max).y
    greatest = greatest_finite(dtype)
    least, most = _known_limit(min, -greatest), _known_limit(max, greatest)
    if least is None and min is not None:
        x = tri.Where.build(tri.Less.build(x, min).y, min, x).y
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    x = tri.Clip.build(x, min=low, max=high).y
    if most is None and max is not None:
        x = tri.Where.build(tri.Less.build(max, x).y, max, x).y
    return x


def _known_limit(limit: Value | None, missing: float) -> float | None:
    """Return a limit that is missing or constant, infinite if it is NaN; None for any other."""
    array = constant_of(limit)
    if limit is not None and array is None:
        return None
    given = missing if array is None else float(single(array))
    return _no_nan(given, math.copysign(math.inf, missing))


def _no_nan(limit: float, unlimited: float) -> float:
    return unlimited if math.isnan(limit) else limit


@onnx_op("Cast", since=6)
def cast(x: Value, *, to: int, saturate: int = 1, round_mode: str = "up") -> Value:
    return _cast(x, element_type(to), saturate, round_mode)


@onnx_op("CastLike", since=15)
def cast_like(x: Value, target_type: Value, *, saturate: int = 1, round_mode: str = "up") -> Value:
    return _cast(x, tensor(target_type).dtype, saturate, round_mode)


def _cast(x: Value, to: str, saturate: int, round_mode: str) -> Value:
    if to == tensor(x).dtype:
        return x
    if to == POWERS:
        wide = x if is_float(tensor(x).dtype) else tri.Cast.build(x, to="f32").y
        return tri.PowerOfTwo.build(wide, saturate=bool(saturate), round_mode=round_mode).y
    return tri.Cast.build(x, to=to, saturate=bool(saturate)).y


@onnx_op("BitCast", since=26)
def bit_cast(x: Value, *, to: int) -> Value:
    dtype = element_type(to)
    return x if dtype == tensor(x).dtype else tri.BitCast.build(x, to=dtype).y
