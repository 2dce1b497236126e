"""Lowerings of elementwise ops that are the same on every target whose numbers have operators."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op, view
from ...dialects.core.tensor import numpy_dtype
from .arithmetic import Arithmetic

Function = TypeVar("Function", bound=Callable[..., Any])
Number = Arithmetic[Any]

SHARED: dict[type[Op], Callable[..., Any]] = {}
"""The lowerings by op: `f(op, *numbers) -> number`."""


def shared(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register the decorated function as the lowering of ops on every such target."""

    def register(function: Function) -> Function:
        SHARED.update(dict.fromkeys(classes, function))
        return function

    return register


@shared(tri.Add)
def lower_add(op: tri.Add, a: Number, b: Number) -> Number:
    return a + b


@shared(tri.Sub)
def lower_sub(op: tri.Sub, a: Number, b: Number) -> Number:
    return a - b


@shared(tri.Mul)
def lower_mul(op: tri.Mul, a: Number, b: Number) -> Number:
    return a * b


@shared(tri.Minimum)
def lower_minimum(op: tri.Minimum, a: Number, b: Number) -> Number:
    return a.minimum(b)


@shared(tri.Maximum)
def lower_maximum(op: tri.Maximum, a: Number, b: Number) -> Number:
    return a.maximum(b)


@shared(tri.BitwiseAnd, tri.And)
def lower_and(op: Op, a: Number, b: Number) -> Number:
    return a.logical_and(b)


@shared(tri.BitwiseOr, tri.Or)
def lower_or(op: Op, a: Number, b: Number) -> Number:
    return a.logical_or(b)


@shared(tri.BitwiseXor, tri.Xor)
def lower_xor(op: Op, a: Number, b: Number) -> Number:
    return a.logical_xor(b)


@shared(tri.Equal)
def lower_equal(op: tri.Equal, a: Number, b: Number) -> Number:
    return a.equal(b)


@shared(tri.Less)
def lower_less(op: tri.Less, a: Number, b: Number) -> Number:
    return a.less(b)


@shared(tri.Greater)
def lower_greater(op: tri.Greater, a: Number, b: Number) -> Number:
    return a.greater(b)


@shared(tri.LessEqual)
def lower_less_equal(op: tri.LessEqual, a: Number, b: Number) -> Number:
    return a.less_equal(b)


@shared(tri.GreaterEqual)
def lower_greater_equal(op: tri.GreaterEqual, a: Number, b: Number) -> Number:
    return a.greater_equal(b)


@shared(tri.Where)
def lower_where(op: tri.Where, condition: Number, a: Number, b: Number) -> Number:
    return condition.select(a, b)


@shared(tri.Abs)
def lower_abs(op: tri.Abs, x: Number) -> Number:
    return x.abs()


@shared(tri.Sign)
def lower_sign(op: tri.Sign, x: Number) -> Number:
    one = x.greater(0).select(x.like(1), 0)
    if x.kind == "uint":
        return one
    signed = x.less(0).select(x.like(-1), one)
    return x.is_nan().select(x, signed) if x.is_float else signed


@shared(tri.Reciprocal)
def lower_reciprocal(op: tri.Reciprocal, x: Number) -> Number:
    return 1 / x


@shared(tri.IsNan)
def lower_is_nan(op: tri.IsNan, x: Number) -> Number:
    return x.is_nan()


@shared(tri.Relu)
def lower_relu(op: tri.Relu, x: Number) -> Number:
    return x.maximum(0)


@shared(tri.LeakyRelu)
def lower_leaky_relu(op: tri.LeakyRelu, x: Number) -> Number:
    return x.less(0).select(x * op.alpha, x)


@shared(tri.Prelu)
def lower_prelu(op: tri.Prelu, x: Number, slope: Number) -> Number:
    return x.less(0).select(x * slope, x)


@shared(tri.ThresholdedRelu)
def lower_thresholded_relu(op: tri.ThresholdedRelu, x: Number) -> Number:
    return x.less_equal(op.alpha).select(x.like(0), x)


@shared(tri.Softsign)
def lower_softsign(op: tri.Softsign, x: Number) -> Number:
    return x / (x.abs() + 1)


@shared(tri.Clip)
def lower_clip(op: tri.Clip, x: Number) -> Number:
    limits = np.array([op.min, op.max])
    with np.errstate(over="ignore"):  # a limit beyond the range of the element type is infinite
        low, high = map(float, limits.astype(numpy_dtype(tensor_of(op.x.type).dtype)))
    x = x if low == -math.inf else x.maximum(low)
    return x if high == math.inf else x.minimum(high)


def constant_exponent(op: tri.Pow) -> float | None:
    """Return the power that an op raises to, where that is one number of the kernel."""
    made = view(op.b.owner) if isinstance(op.b, ir.OpResult) else None
    if isinstance(made, tri.Constant) and made.value.size == 1:
        return float(made.value.reshape(-1)[0])
    return None
