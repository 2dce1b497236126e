"""Rules for functions of elements: expressions, whose operands come in the order of the schema."""

import math
from collections.abc import Callable
from typing import Any

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ......dialects.core.tensor import is_float
from ......dialects.expression import FUNCTIONS
from ....core.values import tensor
from ...complex_expressions import AnyOperand, apply_any, joined, split
from ...expressions import apply
from ...promotion import Operand, as_float, as_type, promote, promoted_type
from ...registry import Complex, Number, Value, torch_op
from .. import compare

_OF_SIZES = {"size", "int"}
_NAMED_OTHERWISE = {"max", "min", "and", "or", "xor", "lshift", "rshift"}
_WITH_ALPHA = {"add", "sub"}
_ALIASES = {"max.other": "maximum", "min.other": "minimum", "true_divide": "div", "round": "round"}


def _function(name: str, arity: int) -> Callable[..., Any]:
    text = f"{name}({','.join(f'@{index}' for index in range(arity))})"

    def compute(*operands: AnyOperand) -> Any:
        if len(operands) != arity:
            raise Unsupported(f"has {len(operands)} operands, must have {arity}")
        return apply_any(text, *operands)

    return compute


for _name, _function_of in FUNCTIONS.items():
    if "." not in _name and _name not in _OF_SIZES | _NAMED_OTHERWISE | _WITH_ALPHA:
        torch_op(f"aten::{_name}")(_function(_name, _function_of.arity))
for _alias, _name in _ALIASES.items():
    if _alias not in FUNCTIONS:
        torch_op(f"aten::{_alias}")(_function(_name, FUNCTIONS[_name].arity))


@torch_op("aten::add")
def add(self: AnyOperand, other: AnyOperand, alpha: Number = 1) -> Any:
    return apply_any("add(@0,@1)", self, _scaled(other, alpha))


@torch_op("aten::sub")
def sub(self: AnyOperand, other: AnyOperand, alpha: Number = 1) -> Any:
    return apply_any("sub(@0,@1)", self, _scaled(other, alpha))


@torch_op("aten::rsub")
def rsub(self: AnyOperand, other: AnyOperand, alpha: Number = 1) -> Any:
    return apply_any("sub(@1,@0)", _scaled(self, alpha), other)


def _scaled(x: AnyOperand, alpha: Number) -> Any:
    return x if alpha == 1 else apply_any("mul(@0,@1)", x, alpha)


@torch_op("aten::div.Tensor_mode", "aten::div.Scalar_mode")
def div(self: Operand, other: Operand, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return apply("floor_divide(@0,@1)", self, other)
    if rounding_mode is None:
        return apply("div(@0,@1)", self, other)
    if is_float(promoted_type(self, other)):
        return apply("trunc(div(@0,@1))", self, other)
    return apply("mul(floor_divide(abs(@0),abs(@1)),mul(sign(@0),sign(@1)))", self, other)


@torch_op("aten::round.decimals")
def round_decimals(self: Value, decimals: int) -> Any:
    """Round to a decimal place; to even where two numbers are as near."""
    factor = 10.0 ** abs(decimals)
    if decimals < 0:
        return apply("mul(round(div(@0,@1)),@1)", self, factor)
    return apply("div(round(mul(@0,@1)),@1)", self, factor)


@torch_op("aten::log2")
def log2(self: Value) -> Any:
    return apply("mul(log(@0),@1)", self, 1 / math.log(2))


@torch_op("aten::exp2")
def exp2(self: Value) -> Any:
    return apply("exp(mul(@0,@1))", self, math.log(2))


@torch_op("aten::fmax")
def fmax(self: Value, other: Value) -> Any:
    return _of_numbers("maximum", self, other)


@torch_op("aten::fmin")
def fmin(self: Value, other: Value) -> Any:
    return _of_numbers("minimum", self, other)


def _of_numbers(function: str, a: Value, b: Value) -> Any:
    """Compute a function of two elements; where one is not a number, take the other."""
    a, b = promote(a, b)
    if not is_float(tensor(a).dtype):
        return apply(f"{function}(@0,@1)", a, b)
    first = tri.Where.build(tri.IsNan.build(a).y, b, a).y
    second = tri.Where.build(tri.IsNan.build(b).y, a, b).y
    return apply(f"{function}(@0,@1)", first, second)


@torch_op("aten::hypot")
def hypot(self: Value, other: Value) -> Any:
    """Compute the length of two sides, whose squares may be too large for their type."""
    a, b = (tri.Abs.build(x).y for x in promote(self, other))
    long, short = tri.Maximum.build(a, b).y, tri.Minimum.build(a, b).y
    length = apply("mul(@0,sqrt(add(square(div(@1,@0)),1)))", long, short)
    # A quotient of two zeros or of two infinities is no number.
    plain = tri.Equal.build(long, short).y
    return tri.Where.build(plain, apply("mul(@0,@1)", long, math.sqrt(2)), length)


@torch_op("aten::signbit")
def signbit(self: Value) -> Any:
    """Return which elements are negative; of the two zeros of floats one is."""
    if tensor(self).dtype == "i1":
        return compare.never(self)
    zero = as_type(0, tensor(self).dtype)
    negative = tri.Less.build(self, zero).y
    if not is_float(tensor(self).dtype):
        return negative
    under = tri.Less.build(apply("reciprocal(@0)", self), zero).y
    return tri.Or.build(negative, tri.And.build(tri.Equal.build(self, zero).y, under).y)


@torch_op("aten::copysign")
def copysign(self: Value, other: Operand) -> Any:
    """Give elements the sign of others."""
    size, sign = promote(self, other)
    size, sign = as_float(size), as_float(sign)
    size = tri.Abs.build(size).y
    return tri.Where.build(signbit(sign).y, tri.Neg.build(size).y, size)


@torch_op("aten::angle")
def angle(self: Value | Complex) -> Any:
    """Return the angles of complex numbers; those of real ones are 0 or pi."""
    if isinstance(self, Complex):
        real, imaginary = split(self)
        return apply("atan2(@1,@0)", real, imaginary)
    x = as_float(self)
    dtype = tensor(x).dtype
    half = tri.Where.build(
        tri.Less.build(x, as_type(0, dtype)).y, as_type(math.pi, dtype), as_type(0, dtype)
    ).y
    return tri.Where.build(tri.IsNan.build(x).y, x, half)


@torch_op("aten::polar")
def polar(abs: Value, angle: Value) -> Complex:
    return joined(apply("mul(@0,cos(@1))", abs, angle), apply("mul(@0,sin(@1))", abs, angle))
