"""Arithmetic and transcendental functions of one tensor."""

import numpy as np

from ...core.numerics.functions import erf, lgamma
from ...core.tensor import Array, Tensor
from ..numeric import need_bool, need_float, need_integer, rounded
from .base import FloatUnary, Unary


class Abs(Unary):
    """Compute |x|; the least integer stays itself."""

    def reference(self, x: Array) -> Array:
        return np.abs(x)


class Neg(Unary):
    """Compute -x; integers wrap around."""

    def reference(self, x: Array) -> Array:
        return np.negative(x)


class Sign(Unary):
    """Compute -1, 0 or 1 by the sign of each element; NaN stays NaN."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.sign(x)


class Exp(FloatUnary):
    """Compute e to the power x."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.exp(x)


class Expm1(FloatUnary):
    """Compute exp(x) - 1, without cancellation near zero."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.expm1(x)


class Log(FloatUnary):
    """Compute the natural logarithm; -inf of zero, NaN below it."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.log(x)


class Log1p(FloatUnary):
    """Compute log(1 + x), without cancellation near zero; -inf of -1, NaN below it."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.log1p(x)


class Lgamma(FloatUnary):
    """Compute the logarithm of the size of the gamma function; inf at zero and below it where it
    is infinite.
    """

    @rounded
    def reference(self, x: Array) -> Array:
        return lgamma(x)


class Sqrt(FloatUnary):
    """Compute the square root of each element; NaN below zero."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.sqrt(x)


class Rsqrt(FloatUnary):
    """Compute 1 / sqrt(x); NaN below zero."""

    @rounded
    def reference(self, x: Array) -> Array:
        return 1 / np.sqrt(x)


class Reciprocal(FloatUnary):
    """Compute 1 / x."""

    @rounded
    def reference(self, x: Array) -> Array:
        return 1 / x


class Sin(FloatUnary):
    """Compute the sine of radians."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.sin(x)


class Cos(FloatUnary):
    """Compute the cosine of radians."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.cos(x)


class Tan(FloatUnary):
    """Compute the tangent of radians."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.tan(x)


class Asin(FloatUnary):
    """Compute the arc sine in radians; NaN outside [-1, 1]."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.arcsin(x)


class Acos(FloatUnary):
    """Compute the arc cosine in radians; NaN outside [-1, 1]."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.arccos(x)


class Atan(FloatUnary):
    """Compute the arc tangent in radians."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.arctan(x)


class Sinh(FloatUnary):
    """Compute the hyperbolic sine."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.sinh(x)


class Cosh(FloatUnary):
    """Compute the hyperbolic cosine."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.cosh(x)


class Tanh(FloatUnary):
    """Compute the hyperbolic tangent."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.tanh(x)


class Asinh(FloatUnary):
    """Compute the inverse hyperbolic sine."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.arcsinh(x)


class Acosh(FloatUnary):
    """Compute the inverse hyperbolic cosine; NaN below 1."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.arccosh(x)


class Atanh(FloatUnary):
    """Compute the inverse hyperbolic tangent; NaN outside [-1, 1]."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.arctanh(x)


class Erf(FloatUnary):
    """Compute the Gauss error function."""

    @rounded
    def reference(self, x: Array) -> Array:
        return erf(x).astype(x.dtype)


class Not(Unary):
    """Negate bools."""

    def infer(self, x: Tensor) -> Tensor:
        return need_bool(x)

    def reference(self, x: Array) -> Array:
        return np.logical_not(x)


class BitwiseNot(Unary):
    """Flip all bits of integers."""

    def infer(self, x: Tensor) -> Tensor:
        return need_integer(x)

    def reference(self, x: Array) -> Array:
        return np.invert(x)


class IsNan(Unary):
    """Report whether each float is NaN."""

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(need_float(x).shape, "i1")

    def reference(self, x: Array) -> Array:
        return np.isnan(x)


class IsInf(Unary):
    """Report whether each float is an infinity of a selected sign."""

    detect_negative: bool = True
    detect_positive: bool = True

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(need_float(x).shape, "i1")

    def reference(self, x: Array) -> Array:
        wanted = ((x < 0) & self.detect_negative) | ((x > 0) & self.detect_positive)
        return np.isinf(x) & wanted
