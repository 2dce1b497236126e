"""The functions of expressions as ops of tri, on values of the type that each computes in."""

import math
from collections.abc import Callable
from typing import Any

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import DTYPES
from ..building import absolute, add, div, equal, exp, less, log, maximum, mul, neg, sub, where

_ONE_OP = {
    **{"acos": tri.Acos, "acosh": tri.Acosh, "asin": tri.Asin, "asinh": tri.Asinh},
    **{"atan": tri.Atan, "atanh": tri.Atanh, "cos": tri.Cos, "cosh": tri.Cosh, "erf": tri.Erf},
    **{"exp": tri.Exp, "expm1": tri.Expm1, "log": tri.Log, "log1p": tri.Log1p},
    **{"reciprocal": tri.Reciprocal, "rsqrt": tri.Rsqrt, "sin": tri.Sin, "sinh": tri.Sinh},
    **{"sqrt": tri.Sqrt, "tan": tri.Tan, "tanh": tri.Tanh},
    **{"abs": tri.Abs, "neg": tri.Neg, "atan2": tri.Atan2, "div": tri.Div, "pow": tri.Pow},
    **{"sub": tri.Sub, "lshift": tri.ShiftLeft, "rshift": tri.ShiftRight},
}
"""Functions that are one op for operands of any type."""

_WHOLE = {"ceil": tri.Ceil, "floor": tri.Floor, "round": tri.Round, "trunc": tri.Trunc}

_OF_BOOLS_OR_NUMBERS = {
    **{"add": (tri.Or, tri.Add), "mul": (tri.And, tri.Mul)},
    **{"max": (tri.Or, tri.Maximum), "maximum": (tri.Or, tri.Maximum)},
    **{"min": (tri.And, tri.Minimum), "minimum": (tri.And, tri.Minimum)},
    **{"and": (tri.And, tri.BitwiseAnd), "or": (tri.Or, tri.BitwiseOr)},
    "xor": (tri.Xor, tri.BitwiseXor),
}


def _kind(x: ir.Value) -> str:
    return DTYPES[tensor_of(x.type).dtype].kind


def _same(x: ir.Value) -> ir.Value:
    return x


def _one(cls: Any) -> Callable[..., ir.Value]:
    return lambda *values: cls.build(*values).y


def _whole(cls: Any) -> Callable[[ir.Value], ir.Value]:
    """Round floats; integers are whole."""
    return lambda x: cls.build(x).y if _kind(x) == "float" else x


def _by_kind(of_bools: Any, of_numbers: Any) -> Callable[[ir.Value, ir.Value], ir.Value]:
    return lambda a, b: (of_bools if _kind(a) == "bool" else of_numbers).build(a, b).y


def _sign(x: ir.Value) -> ir.Value:
    if _kind(x) == "bool":
        return x
    sign = tri.Sign.build(x).y
    return where(tri.IsNan.build(x).y, 0, sign) if _kind(x) == "float" else sign


def _square(x: ir.Value) -> ir.Value:
    return mul(x, x)


def _log10(x: ir.Value) -> ir.Value:
    return mul(log(x), 1 / math.log(10))


def _fmod(a: ir.Value, b: ir.Value) -> ir.Value:
    return tri.Mod.build(a, b, fmod=True).y


def _remainder(a: ir.Value, b: ir.Value) -> ir.Value:
    return tri.Mod.build(a, b).y


def _floor_divide(a: ir.Value, b: ir.Value) -> ir.Value:
    if _kind(a) != "float":
        return div(sub(a, _remainder(a, b)), b)
    # Take off the remainder first: a quotient just below a whole number would be rounded to it.
    rest = _fmod(a, b)
    near = div(sub(a, rest), b)
    zero = equal(rest, 0)
    opposite = tri.Xor.build(less(rest, 0), less(b, 0)).y
    below = tri.And.build(tri.Not.build(zero).y, opposite).y
    whole = tri.Round.build(where(below, sub(near, 1), near)).y
    return where(equal(b, 0), div(a, b), whole)


def _logaddexp(a: ir.Value, b: ir.Value) -> ir.Value:
    # Equal infinities have no difference.
    tail = tri.Log1p.build(exp(neg(absolute(sub(a, b))))).y
    return where(equal(a, b), add(a, math.log(2)), add(maximum(a, b), tail))


BUILDERS: dict[str, Callable[..., ir.Value]] = {
    **{name: _one(cls) for name, cls in _ONE_OP.items()},
    **{name: _whole(cls) for name, cls in _WHOLE.items()},
    **{name: _by_kind(*classes) for name, classes in _OF_BOOLS_OR_NUMBERS.items()},
    **{name: _same for name in ("int", "torch.bool", "torch.float", "torch.long")},
    **{"sign": _sign, "square": _square, "log10": _log10, "logaddexp": _logaddexp},
    **{"fmod": _fmod, "remainder": _remainder, "floor_divide": _floor_divide},
}
"""How each function is built, of values that have the element type that it computes in."""
