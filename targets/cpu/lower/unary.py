"""Lowerings of arithmetic and transcendental functions of one tensor."""

from collections.abc import Callable
from typing import Any

from ....dialects import tri
from ....dialects.core.op import Op
from ..kernels import approximation, trigonometry
from ..kernels.conversion import widened
from ..kernels.value import Value, math
from ..registry import elementwise


@elementwise(tri.Neg)
def lower_neg(op: tri.Neg, x: Value) -> Value:
    return -x


@elementwise(tri.Exp)
def lower_exp(op: tri.Exp, x: Value) -> Value:
    return approximation.exp(x)


@elementwise(tri.Expm1)
def lower_expm1(op: tri.Expm1, x: Value) -> Value:
    return approximation.expm1(x)


@elementwise(tri.Log)
def lower_log(op: tri.Log, x: Value) -> Value:
    return approximation.log(x)


@elementwise(tri.Log1p)
def lower_log1p(op: tri.Log1p, x: Value) -> Value:
    return approximation.log1p(x)


@elementwise(tri.Tanh)
def lower_tanh(op: tri.Tanh, x: Value) -> Value:
    return approximation.tanh(x)


@elementwise(tri.Erf)
def lower_erf(op: tri.Erf, x: Value) -> Value:
    return approximation.erf(x)


@elementwise(tri.Sin)
def lower_sin(op: tri.Sin, x: Value) -> Value:
    return trigonometry.sin(x)


@elementwise(tri.Cos)
def lower_cos(op: tri.Cos, x: Value) -> Value:
    return trigonometry.cos(x)


@elementwise(tri.Sqrt)
def lower_sqrt(op: tri.Sqrt, x: Value) -> Value:
    return x.apply(math.sqrt)


@elementwise(tri.Rsqrt)
@widened
def lower_rsqrt(op: tri.Rsqrt, x: Value) -> Value:
    return 1 / x.apply(math.sqrt)


@elementwise(tri.Not)
def lower_not(op: tri.Not, x: Value) -> Value:
    return x.invert()


@elementwise(tri.BitwiseNot)
def lower_bitwise_not(op: tri.BitwiseNot, x: Value) -> Value:
    return x.invert()


@elementwise(tri.IsInf)
def lower_is_inf(op: tri.IsInf, x: Value) -> Value:
    infinity = float("inf")
    if op.detect_negative and op.detect_positive:
        return x.abs().equal(infinity)
    if op.detect_negative:
        return x.equal(-infinity)
    return x.equal(infinity) if op.detect_positive else x.not_equal(x).logical_and(x.equal(x))


def _by_math(cls: type[Op], function: Callable[[Any], Any]) -> None:
    """Lower an op to one of the `math` dialect: one instruction, or a call of the C library."""

    @widened
    def lower(op: Op, x: Value) -> Value:
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
