"""Rules of ONNX Runtime for activations with a bias, and for Gelu as there was none in ONNX."""

import math

from ......dialects import tri
from ......dialects.core.op import Op
from ......dialects.core.tensor import Array, normalize_axis
from ....core.values import tensor
from ...registry import Node, Value, onnx_op
from ..random_numbers import dropout
from . import DOMAIN


@onnx_op("Gelu", since=1, domain=DOMAIN)
def gelu(x: Value) -> tri.Gelu:
    return tri.Gelu.build(x, approximate="none")


@onnx_op("BiasGelu", since=1, domain=DOMAIN)
def bias_gelu(x: Value, bias: Value) -> tri.Gelu:
    return tri.Gelu.build(tri.Add.build(x, bias).y, approximate="none")


@onnx_op("FastGelu", since=1, domain=DOMAIN)
def fast_gelu(x: Value, bias: Value | None = None) -> tri.Gelu:
    biased = x if bias is None else tri.Add.build(x, bias).y
    return tri.Gelu.build(biased, approximate="tanh")


@onnx_op("QuickGelu", since=1, domain=DOMAIN)
def quick_gelu(x: Value, *, alpha: float = 1.702) -> tri.Swish:
    return tri.Swish.build(x, alpha=alpha)


@onnx_op("BiasAdd", since=1, domain=DOMAIN)
def bias_add(x: Value, bias: Value, skip: Value) -> tri.Add:
    return tri.Add.build(tri.Add.build(x, bias).y, skip)


@onnx_op("BiasSplitGelu", since=1, domain=DOMAIN)
def bias_split_gelu(x: Value, bias: Value) -> tri.Mul:
    """Multiply the first half of the channels by the Gelu of the second one."""
    biased = tri.Add.build(x, bias).y
    last = tensor(biased).rank - 1
    half = tensor(biased).shape[last] // 2
    left, right = tri.Split.build(biased, axis=last, sizes=(half, half)).results
    return tri.Mul.build(left, tri.Gelu.build(right, approximate="none").y)


@onnx_op("GemmFastGelu", since=1, domain=DOMAIN)
def gemm_fast_gelu(x: Value, w: Value, bias: Value | None = None) -> tri.Gelu:
    return fast_gelu(tri.MatMul.build(x, w).y, bias)


@onnx_op("BiasSoftmax", since=1, domain=DOMAIN)
def bias_softmax(x: Value, bias: Value, *, axis: int = 1, is_inner_broadcast: int) -> Value:
    """Compute the softmax of a sum over an axis and all behind it; the bias broadcasts.

    `is_inner_broadcast` says along which axes the bias is of size 1, as its shape does.
    """
    total = tri.Add.build(x, bias).y
    shape = tensor(total).shape
    axis = normalize_axis(axis, len(shape))
    flat = (*shape[:axis], math.prod(shape[axis:]))
    y = tri.Softmax.build(tri.Reshape.build(total, shape=flat).y, axis=axis).y
    return tri.Reshape.build(y, shape=shape).y


@onnx_op("BiasDropout", since=1, domain=DOMAIN)
def bias_dropout(
    x: Value,
    bias: Value,
    residual: Value | None = None,
    ratio: Value | None = None,
    training_mode: Array | None = None,
    *,
    seed: int | None = None,
    node: Node,
) -> tuple[Value, Value | Array | Op]:
    """Add a bias, drop elements in training, and add the residual."""
    total = tri.Add.build(x, bias).y
    y, mask = dropout(total, ratio, training_mode, seed=seed, node=node)
    return (y if residual is None else tri.Add.build(y, residual).y), mask
