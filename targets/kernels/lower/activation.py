"""Lowerings of activation functions."""

from ....dialects import tri
from ..conversion import convert
from .shared import Functions, Value, arithmetic, formula


@arithmetic(tri.Relu)
def lower_relu(op: tri.Relu, x: Value) -> Value:
    return x.maximum(0)


@arithmetic(tri.LeakyRelu)
def lower_leaky_relu(op: tri.LeakyRelu, x: Value) -> Value:
    return x.less(0).select(x * op.alpha, x)


@arithmetic(tri.Prelu)
def lower_prelu(op: tri.Prelu, x: Value, slope: Value) -> Value:
    return x.less(0).select(x * slope, x)


@arithmetic(tri.ThresholdedRelu)
def lower_thresholded_relu(op: tri.ThresholdedRelu, x: Value) -> Value:
    return x.less_equal(op.alpha).select(x.like(0), x)


@arithmetic(tri.Softsign)
def lower_softsign(op: tri.Softsign, x: Value) -> Value:
    return x / (x.abs() + 1)


@arithmetic(tri.Shrink)
def lower_shrink(op: tri.Shrink, x: Value) -> Value:
    wide = x if x.is_float else convert(x, "f64")
    above = wide.greater(op.threshold).select(wide - op.bias, 0)
    below = wide.less(-op.threshold).select(wide + op.bias, above)
    return convert(below, x.dtype)


@formula(tri.HardSigmoid)
def lower_hard_sigmoid(functions: Functions, op: tri.HardSigmoid, x: Value) -> Value:
    return x.fma(op.alpha, op.beta).maximum(0).minimum(1)


@formula(tri.Hardswish)
def lower_hardswish(functions: Functions, op: tri.Hardswish, x: Value) -> Value:
    return x * x.fma(1 / 6, 0.5).maximum(0).minimum(1)


@formula(tri.Elu)
def lower_elu(functions: Functions, op: tri.Elu, x: Value) -> Value:
    return x.greater(0).select(x, functions[tri.Expm1](x.minimum(0)) * op.alpha)


@formula(tri.Celu)
def lower_celu(functions: Functions, op: tri.Celu, x: Value) -> Value:
    return x.maximum(0) + (functions[tri.Expm1](x / op.alpha) * op.alpha).minimum(0)


@formula(tri.Selu)
def lower_selu(functions: Functions, op: tri.Selu, x: Value) -> Value:
    below = functions[tri.Expm1](x.minimum(0)) * op.alpha
    return x.greater(0).select(x, below) * op.gamma


@formula(tri.Silu)
def lower_silu(functions: Functions, op: tri.Silu, x: Value) -> Value:
    return x * functions[tri.Sigmoid](x)


@formula(tri.Swish)
def lower_swish(functions: Functions, op: tri.Swish, x: Value) -> Value:
    return x * functions[tri.Sigmoid](x * op.alpha)


@formula(tri.Mish)
def lower_mish(functions: Functions, op: tri.Mish, x: Value) -> Value:
    # tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2), which is 1 for large n.
    e = functions[tri.Exp](x.minimum(30))
    n = e * (e + 2)
    return x * (n / (n + 2))
