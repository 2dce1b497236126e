"""Activation functions: elementwise functions that networks are made of."""

import math

import numpy as np

from ...core.errors import need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.functions import erf
from ...core.tensor import Array, Tensor, need_broadcast, same_dtype
from ..dialect import TriOp
from ..numeric import need_float, need_number, rounded, sigmoid, softplus
from .base import FloatUnary, Unary


class Relu(Unary):
    """Compute max(x, 0) of each element; NaN stays NaN."""

    def reference(self, x: Array) -> Array:
        return np.maximum(x, np.zeros((), x.dtype))


class LeakyRelu(FloatUnary):
    """Compute x, times `alpha` below zero."""

    alpha: float = 0.01

    @rounded
    def reference(self, x: Array) -> Array:
        return np.where(x < 0, x * self.alpha, x)


class Prelu(TriOp):
    """Compute x, times `slope` below zero; the slope broadcasts to `x`."""

    x: Operand
    slope: Operand
    y: Result

    elementwise = True

    def infer(self, x: Tensor, slope: Tensor) -> Tensor:
        dtype = same_dtype(need_number(x), slope)
        need_broadcast(slope.shape, x.shape, f"slope is {slope}, must broadcast to {x}")
        return Tensor(x.shape, dtype)

    @rounded
    def reference(self, x: Array, slope: Array) -> Array:
        return np.where(x < 0, x * slope, x)


class ThresholdedRelu(FloatUnary):
    """Compute x where it exceeds `alpha`, zero elsewhere."""

    alpha: float = 1.0

    @rounded
    def reference(self, x: Array) -> Array:
        return np.where(x <= self.alpha, np.zeros((), x.dtype), x)


class Elu(FloatUnary):
    """Compute x, and alpha * (exp(x) - 1) below zero."""

    alpha: float = 1.0

    @rounded
    def reference(self, x: Array) -> Array:
        return np.where(x > 0, x, self.alpha * np.expm1(np.minimum(x, 0)))


class Celu(FloatUnary):
    """Compute x, and alpha * (exp(x / alpha) - 1) below zero."""

    alpha: float = 1.0

    @rounded
    def reference(self, x: Array) -> Array:
        return np.maximum(x, 0) + np.minimum(self.alpha * np.expm1(x / self.alpha), 0)


class Selu(FloatUnary):
    """Compute gamma * x, and gamma * alpha * (exp(x) - 1) below zero."""

    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875

    @rounded
    def reference(self, x: Array) -> Array:
        return self.gamma * np.where(x > 0, x, self.alpha * np.expm1(np.minimum(x, 0)))


class Gelu(FloatUnary):
    """Compute x * Phi(x), Phi the normal distribution function: exact, or "tanh" near it.

    Source: Hendrycks and Gimpel, Gaussian error linear units, 2016.
    """

    approximate: str = "none"

    def infer(self, x: Tensor) -> Tensor:
        need_one_of("approximate", self.approximate, ("none", "tanh"))
        return need_float(x)

    @rounded
    def reference(self, x: Array) -> Array:
        if self.approximate == "none":
            return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1 + np.tanh(inner))


class Sigmoid(FloatUnary):
    """Compute 1 / (1 + exp(-x))."""

    @rounded
    def reference(self, x: Array) -> Array:
        return sigmoid(x)


class HardSigmoid(FloatUnary):
    """Compute alpha * x + beta, limited to [0, 1]."""

    alpha: float = 0.2
    beta: float = 0.5

    @rounded
    def reference(self, x: Array) -> Array:
        return np.clip(self.alpha * x + self.beta, 0, 1)


class Silu(FloatUnary):
    """Compute x * sigmoid(x)."""

    @rounded
    def reference(self, x: Array) -> Array:
        return x * sigmoid(x)


class Swish(FloatUnary):
    """Compute x * sigmoid(alpha * x)."""

    alpha: float = 1.0

    @rounded
    def reference(self, x: Array) -> Array:
        return x * sigmoid(self.alpha * x)


class Hardswish(FloatUnary):
    """Compute x * (x + 3) / 6, the factor of x limited to [0, 1]."""

    @rounded
    def reference(self, x: Array) -> Array:
        return x * np.clip(x / 6 + 0.5, 0, 1)


class Softplus(FloatUnary):
    """Compute log(1 + exp(x))."""

    @rounded
    def reference(self, x: Array) -> Array:
        return softplus(x)


class Softsign(FloatUnary):
    """Compute x / (1 + |x|)."""

    @rounded
    def reference(self, x: Array) -> Array:
        return x / (1 + np.abs(x))


class Mish(FloatUnary):
    """Compute x * tanh(softplus(x))."""

    @rounded
    def reference(self, x: Array) -> Array:
        return x * np.tanh(softplus(x))


class Shrink(Unary):
    """Move x toward zero by `bias` where |x| exceeds `threshold`; zero elsewhere.

    Integers are computed as floats and lose their fraction.
    """

    bias: float = 0.0
    threshold: float = 0.5

    @rounded
    def reference(self, x: Array) -> Array:
        zero = np.zeros((), x.dtype)
        return np.where(
            x < -self.threshold, x + self.bias, np.where(x > self.threshold, x - self.bias, zero)
        )


class Clip(FloatUnary):
    """Limit floats to [min, max]; `max` wins over a greater `min`, and NaN stays NaN.

    Limits round to the element type; a limit that is NaN makes all elements NaN. Integers are
    limited by `Minimum` and `Maximum`.
    """

    min: float = -math.inf
    max: float = math.inf

    @rounded
    def reference(self, x: Array) -> Array:
        return np.minimum(np.maximum(x, x.dtype.type(self.min)), x.dtype.type(self.max))
