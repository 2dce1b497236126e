"""Rules of ONNX Runtime for activations with a bias, and for Gelu as there was none in ONNX."""

from ......dialects import tri
from ....core.values import tensor
from ...registry import Value, onnx_op
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
