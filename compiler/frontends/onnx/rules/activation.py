"""ONNX rules for activation functions."""

from .....dialects import tri
from ..registry import Value, onnx_op


@onnx_op("LeakyRelu", since=6)
def leaky_relu(x: Value, *, alpha: float = 0.01) -> tri.LeakyRelu:
    return tri.LeakyRelu.build(x, alpha=alpha)


@onnx_op("PRelu", since=7)
def prelu(x: Value, slope: Value) -> tri.Prelu:
    return tri.Prelu.build(x, slope)


@onnx_op("ThresholdedRelu", since=10)
def thresholded_relu(x: Value, *, alpha: float = 1.0) -> tri.ThresholdedRelu:
    return tri.ThresholdedRelu.build(x, alpha=alpha)


@onnx_op("Elu", since=6)
def elu(x: Value, *, alpha: float = 1.0) -> tri.Elu:
    return tri.Elu.build(x, alpha=alpha)


@onnx_op("Celu", since=12)
def celu(x: Value, *, alpha: float = 1.0) -> tri.Celu:
    return tri.Celu.build(x, alpha=alpha)


@onnx_op("Selu", since=6)
def selu(
    x: Value, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875
) -> tri.Selu:
    return tri.Selu.build(x, alpha=alpha, gamma=gamma)


@onnx_op("Gelu", since=20)
def gelu(x: Value, *, approximate: str = "none") -> tri.Gelu:
    return tri.Gelu.build(x, approximate=approximate)


@onnx_op("HardSigmoid", since=6)
def hard_sigmoid(x: Value, *, alpha: float = 0.2, beta: float = 0.5) -> tri.HardSigmoid:
    return tri.HardSigmoid.build(x, alpha=alpha, beta=beta)


@onnx_op("Swish", since=24)
def swish(x: Value, *, alpha: float = 1.0) -> tri.Silu | tri.Swish:
    return tri.Silu.build(x) if alpha == 1.0 else tri.Swish.build(x, alpha=alpha)


@onnx_op("Shrink", since=9)
def shrink(x: Value, *, bias: float = 0.0, lambd: float = 0.5) -> tri.Shrink:
    return tri.Shrink.build(x, bias=bias, threshold=lambd)
