"""Lowerings of arithmetic and transcendental functions of one tensor."""

from collections.abc import Callable

from ....dialects import tri
from ....dialects.core.op import Op
from ..kernels import approximation, hyperbolic, trigonometry
from ..kernels.value import Value
from ..registry import elementwise

SAME: dict[type[Op], str] = {
    tri.Ceil: "ceil",
    tri.Cos: "cos",
    tri.Erf: "erf",
    tri.Exp: "exp",
    tri.Floor: "floor",
    tri.Log: "log",
    tri.Neg: "neg",
    tri.Sin: "sin",
    tri.Sqrt: "sqrt",
}
"""Ops that are one function of `tile.unary`."""

FORMULAS: dict[type[Op], Callable[[Value], Value]] = {
    tri.Expm1: approximation.expm1,
    tri.Log1p: approximation.log1p,
    tri.Round: approximation.round_to_even,
    tri.Tanh: approximation.tanh,
    tri.Trunc: approximation.truncate,
    tri.Acos: trigonometry.acos,
    tri.Asin: trigonometry.asin,
    tri.Atan: trigonometry.atan,
    tri.Tan: trigonometry.tan,
    tri.Acosh: hyperbolic.acosh,
    tri.Asinh: hyperbolic.asinh,
    tri.Atanh: hyperbolic.atanh,
    tri.Cosh: hyperbolic.cosh,
    tri.Sinh: hyperbolic.sinh,
}
"""Ops that are made of several functions."""


@elementwise(*SAME)
def lower_function(op: Op, x: Value) -> Value:
    return x.apply(SAME[type(op)])


@elementwise(*FORMULAS)
def lower_formula(op: Op, x: Value) -> Value:
    return FORMULAS[type(op)](x)


@elementwise(tri.Rsqrt)
def lower_rsqrt(op: tri.Rsqrt, x: Value) -> Value:
    # The hardware's is good to half of the bits of an f64.
    return 1 / x.apply("sqrt") if x.dtype == "f64" else x.apply("rsqrt")


@elementwise(tri.Not, tri.BitwiseNot)
def lower_not(op: Op, x: Value) -> Value:
    return x.invert()


@elementwise(tri.IsInf)
def lower_is_inf(op: tri.IsInf, x: Value) -> Value:
    infinity = float("inf")
    if op.detect_negative and op.detect_positive:
        return x.abs().equal(infinity)
    if op.detect_negative:
        return x.equal(-infinity)
    return x.equal(infinity) if op.detect_positive else x.less(x)
