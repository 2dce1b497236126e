"""Lowerings of activation functions."""

import math as constants

from ....dialects import tri
from ..kernels import approximation
from ..kernels.conversion import convert
from ..kernels.value import Value
from ..registry import elementwise


@elementwise(tri.Elu)
def lower_elu(op: tri.Elu, x: Value) -> Value:
    return x.greater(0).select(x, approximation.expm1(x.minimum(0)) * op.alpha)


@elementwise(tri.Celu)
def lower_celu(op: tri.Celu, x: Value) -> Value:
    return x.maximum(0) + (approximation.expm1(x / op.alpha) * op.alpha).minimum(0)


@elementwise(tri.Selu)
def lower_selu(op: tri.Selu, x: Value) -> Value:
    below = approximation.expm1(x.minimum(0)) * op.alpha
    return x.greater(0).select(x, below) * op.gamma


@elementwise(tri.Gelu)
def lower_gelu(op: tri.Gelu, x: Value) -> Value:
    if op.approximate == "none":
        return x * 0.5 * ((x * constants.sqrt(0.5)).apply("erf") + 1)
    inner = (x * x * x * 0.044715 + x) * constants.sqrt(2 / constants.pi)
    return x * 0.5 * (approximation.tanh(inner) + 1)


@elementwise(tri.Sigmoid)
def lower_sigmoid(op: tri.Sigmoid, x: Value) -> Value:
    return approximation.sigmoid(x)


@elementwise(tri.HardSigmoid)
def lower_hard_sigmoid(op: tri.HardSigmoid, x: Value) -> Value:
    return (x * op.alpha + op.beta).maximum(0).minimum(1)


@elementwise(tri.Silu)
def lower_silu(op: tri.Silu, x: Value) -> Value:
    return x * approximation.sigmoid(x)


@elementwise(tri.Swish)
def lower_swish(op: tri.Swish, x: Value) -> Value:
    return x * approximation.sigmoid(x * op.alpha)


@elementwise(tri.Hardswish)
def lower_hardswish(op: tri.Hardswish, x: Value) -> Value:
    return x * (x * (1 / 6) + 0.5).maximum(0).minimum(1)


@elementwise(tri.Softplus)
def lower_softplus(op: tri.Softplus, x: Value) -> Value:
    return approximation.softplus(x)


@elementwise(tri.Mish)
def lower_mish(op: tri.Mish, x: Value) -> Value:
    # tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2), which is 1 from where n is large.
    e = x.minimum(30).apply("exp")
    n = e * (e + 2)
    return x * (n / (n + 2))


@elementwise(tri.Shrink)
def lower_shrink(op: tri.Shrink, x: Value) -> Value:
    wide = x if x.is_float else convert(x, "f64")
    above = wide.greater(op.threshold).select(wide - op.bias, 0)
    below = wide.less(-op.threshold).select(wide + op.bias, above)
    return convert(below, x.dtype)
