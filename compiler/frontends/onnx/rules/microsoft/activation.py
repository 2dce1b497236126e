"""Rules of ONNX Runtime for activations with a bias or a scale, for gates, and for Gelu."""

import math

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.op import Op
from ......dialects.core.sizes.checks import need, need_same_shape
from ......dialects.core.tensor import Array, normalize_axis
from ....core.values import cast, constant, tensor
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


@onnx_op("ScaledSiLU", since=1, domain=DOMAIN)
def scaled_silu(x: Value, scale: Value | None = None, *, alpha: float = 1.0) -> tri.Silu:
    """Scale in f32, by the input or else by `alpha`, and compute the SiLU of that."""
    factor = constant(np.array(alpha, np.float32)) if scale is None else cast(scale, "f32")
    if tensor(factor).rank:
        raise Invalid(f"has scale {tensor(factor)}, must be a scalar")
    scaled = tri.Mul.build(cast(x, "f32"), factor).y
    return tri.Silu.build(cast(scaled, tensor(x).dtype))


@onnx_op("GatedAdd", since=1, domain=DOMAIN)
def gated_add(x: Value, y: Value, gate: Value, weight: Value | None = None) -> tri.Add:
    """Add `y`, each of its rows times its gate."""
    if weight is not None:
        raise Unsupported("has a gate_weight, must have none: ONNX Runtime has that on GPUs alone")
    rows, others, gates = tensor(x), tensor(y), tensor(gate)
    fault = f"has inputs {rows} and {others} with gates {gates}, must have one gate for each row"
    need(rows.rank, 1, fault)
    need_same_shape(others.shape, rows.shape, fault)
    need_same_shape(gates.shape, (*rows.shape[:-1], 1), fault)
    return tri.Add.build(x, tri.Mul.build(y, gate).y)


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
    training_mode: Value | None = None,
    *,
    seed: int | None = None,
    node: Node,
) -> tuple[Value, Value | Array | Op]:
    """Add a bias, drop elements in training, and add the residual."""
    total = tri.Add.build(x, bias).y
    y, mask = dropout(total, ratio, training_mode, seed=seed, node=node)
    return (y if residual is None else tri.Add.build(y, residual).y), mask
