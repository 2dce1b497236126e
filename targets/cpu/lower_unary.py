"""Lowerings of arithmetic and transcendental functions of one tensor."""

from collections.abc import Callable
from typing import Any

from ...dialects import tri
from ...dialects.core.op import Op
from . import approximation, trigonometry
from .conversion import widened
from .number import Number, math
from .registry import elementwise


@elementwise(tri.Neg)
def lower_neg(op: tri.Neg, x: Number) -> Number:
    return -x


@elementwise(tri.Exp)
def lower_exp(op: tri.Exp, x: Number) -> Number:
    return approximation.exp(x)


@elementwise(tri.Expm1)
def lower_expm1(op: tri.Expm1, x: Number) -> Number:
    return approximation.expm1(x)


@elementwise(tri.Log)
def lower_log(op: tri.Log, x: Number) -> Number:
    return approximation.log(x)


@elementwise(tri.Log1p)
def lower_log1p(op: tri.Log1p, x: Number) -> Number:
    return approximation.log1p(x)


@elementwise(tri.Tanh)
def lower_tanh(op: tri.Tanh, x: Number) -> Number:
    return approximation.tanh(x)


@elementwise(tri.Erf)
def lower_erf(op: tri.Erf, x: Number) -> Number:
    return approximation.erf(x)


@elementwise(tri.Sin)
def lower_sin(op: tri.Sin, x: Number) -> Number:
    return trigonometry.sin(x)


@elementwise(tri.Cos)
def lower_cos(op: tri.Cos, x: Number) -> Number:
    return trigonometry.cos(x)


@elementwise(tri.Sqrt)
def lower_sqrt(op: tri.Sqrt, x: Number) -> Number:
    return x.apply(math.sqrt)


@elementwise(tri.Rsqrt)
@widened
def lower_rsqrt(op: tri.Rsqrt, x: Number) -> Number:
    return 1 / x.apply(math.sqrt)


@elementwise(tri.Not)
def lower_not(op: tri.Not, x: Number) -> Number:
    return x.invert()


@elementwise(tri.BitwiseNot)
def lower_bitwise_not(op: tri.BitwiseNot, x: Number) -> Number:
    return x.invert()


@elementwise(tri.IsInf)
def lower_is_inf(op: tri.IsInf, x: Number) -> Number:
    infinity = float("inf")
    if op.detect_negative and op.detect_positive:
        return x.abs().equal(infinity)
    if op.detect_negative:
        return x.equal(-infinity)
    return x.equal(infinity) if op.detect_positive else x.not_equal(x).logical_and(x.equal(x))


def _by_math(cls: type[Op], function: Callable[[Any], Any]) -> None:
    """Lower an op to one of the `math` dialect: one instruction, or a call of the C library."""

    @widened
    def lower(op: Op, x: Number) -> Number:
        return x.apply(function)

    elementwise(cls)(lower)


_by_math(tri.Floor, math.floor)
_by_math(tri.Ceil, math.ceil)
_by_math(tri.Round, math.roundeven)
_by_math(tri.Trunc, math.trunc)
_by_math(tri.Tan, math.tan)
_by_math(tri.Asin, math.asin)
_by_math(tri.Acos, math.acos)
_by_math(tri.Atan, math.atan)
_by_math(tri.Sinh, math.sinh)
_by_math(tri.Cosh, math.cosh)
_by_math(tri.Asinh, math.asinh)
_by_math(tri.Acosh, math.acosh)
_by_math(tri.Atanh, math.atanh)
