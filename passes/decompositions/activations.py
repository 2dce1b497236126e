"""Activation functions in terms of arithmetic, exp, erf, tanh and comparisons."""

import math

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import is_float
from ..building import (
    absolute,
    add,
    div,
    erf,
    exp,
    greater,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    mul,
    neg,
    sigmoid,
    sub,
    tanh,
    where,
)
from ..rewriting import NoMatch
from .registry import decomposes


@decomposes(tri.Gelu)
def gelu(op: tri.Gelu) -> ir.Value:
    x = op.x
    if op.approximate == "none":
        inner = erf(mul(x, math.sqrt(0.5)))
    else:
        cube = mul(mul(x, x), x)
        inner = tanh(mul(add(x, mul(cube, 0.044715)), math.sqrt(2 / math.pi)))
    return mul(mul(x, 0.5), add(inner, 1))


@decomposes(tri.Sigmoid)
def logistic(op: tri.Sigmoid) -> ir.Value:
    return div(1, add(exp(neg(op.x)), 1))


@decomposes(tri.Silu)
def silu(op: tri.Silu) -> ir.Value:
    return mul(op.x, sigmoid(op.x))


@decomposes(tri.Swish)
def swish(op: tri.Swish) -> ir.Value:
    return mul(op.x, sigmoid(mul(op.x, op.alpha)))


@decomposes(tri.HardSigmoid)
def hard_sigmoid(op: tri.HardSigmoid) -> ir.Value:
    return _limited(add(mul(op.x, op.alpha), op.beta), 0, 1)


@decomposes(tri.Hardswish)
def hardswish(op: tri.Hardswish) -> ir.Value:
    return mul(op.x, _limited(add(mul(op.x, 1 / 6), 0.5), 0, 1))


@decomposes(tri.Softplus)
def softplus(op: tri.Softplus) -> ir.Value:
    # log(1 + exp(x)) overflows; this does not.
    return add(maximum(op.x, 0), log(add(exp(neg(absolute(op.x))), 1)))


@decomposes(tri.Softsign)
def softsign(op: tri.Softsign) -> ir.Value:
    return div(op.x, add(absolute(op.x), 1))


@decomposes(tri.Mish)
def mish(op: tri.Mish) -> ir.Value:
    return mul(op.x, tanh(tri.Softplus.build(op.x).y))


@decomposes(tri.Relu)
def relu(op: tri.Relu) -> ir.Value:
    return maximum(op.x, 0)


@decomposes(tri.LeakyRelu)
def leaky_relu(op: tri.LeakyRelu) -> ir.Value:
    return where(less(op.x, 0), mul(op.x, op.alpha), op.x)


@decomposes(tri.Prelu)
def prelu(op: tri.Prelu) -> ir.Value:
    return where(less(op.x, 0), mul(op.x, op.slope), op.x)


@decomposes(tri.ThresholdedRelu)
def thresholded_relu(op: tri.ThresholdedRelu) -> ir.Value:
    return where(less_equal(op.x, op.alpha), 0, op.x)


@decomposes(tri.Elu)
def elu(op: tri.Elu) -> ir.Value:
    return where(greater(op.x, 0), op.x, mul(_exp_minus_one(op.x), op.alpha))


@decomposes(tri.Celu)
def celu(op: tri.Celu) -> ir.Value:
    below = mul(_exp_minus_one(mul(op.x, 1 / op.alpha)), op.alpha)
    return where(greater(op.x, 0), op.x, below)


@decomposes(tri.Selu)
def selu(op: tri.Selu) -> ir.Value:
    below = mul(_exp_minus_one(op.x), op.alpha)
    return mul(where(greater(op.x, 0), op.x, below), op.gamma)


@decomposes(tri.Shrink)
def shrink(op: tri.Shrink) -> ir.Value:
    if not is_float(tensor_of(op.x.type).dtype):
        raise NoMatch("moves integers by a fraction")
    inside = where(greater(op.x, op.threshold), sub(op.x, op.bias), 0)
    return where(less(op.x, -op.threshold), add(op.x, op.bias), inside)


@decomposes(tri.Clip)
def clip(op: tri.Clip) -> ir.Value:
    return _limited(op.x, op.min, op.max)


def _limited(x: ir.Value, low: float, high: float) -> ir.Value:
    return minimum(maximum(x, low), high)


def _exp_minus_one(x: ir.Value) -> ir.Value:
    """Build exp(x) - 1 below zero; above, where it is not looked at, it is kept from overflow."""
    return sub(exp(minimum(x, 0)), 1)
