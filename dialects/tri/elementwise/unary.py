"""Arithmetic and transcendental functions of one tensor."""

from typing import Any

import numpy as np

from ...core.numerics.functions import erf, lgamma
from ...core.tensor import Array, Tensor
from ..numeric import need_bool, need_float, need_integer, rounded
from .base import FloatUnary, Unary


class Abs(Unary):
    """Compute |x|; the least integer stays itself."""

    @staticmethod
    def reference(x: Array) -> Array:
        return np.abs(x)


class Neg(Unary):
    """Compute -x; integers wrap around."""

    @staticmethod
    def reference(x: Array) -> Array:
        return np.negative(x)


class Sign(Unary):
    """Compute -1, 0 or 1 by the sign of each element; NaN stays NaN."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.sign(x)


class Exp(FloatUnary):
    """Compute e to the power x."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.exp(x)


class Expm1(FloatUnary):
    """Compute exp(x) - 1, without cancellation near zero."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.expm1(x)


class Log(FloatUnary):
    """Compute the natural logarithm; -inf of zero, NaN below it."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.log(x)


class Log1p(FloatUnary):
    """Compute log(1 + x), without cancellation near zero; -inf of -1, NaN below it."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.log1p(x)


class Lgamma(FloatUnary):
    """Compute the logarithm of the size of the gamma function; inf at zero and below it where it
    is infinite.
    """

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return lgamma(x)


class Sqrt(FloatUnary):
    """Compute the square root of each element; NaN below zero."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.sqrt(x)


class Rsqrt(FloatUnary):
    """Compute 1 / sqrt(x); NaN below zero."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return 1 / np.sqrt(x)


class Reciprocal(FloatUnary):
    """Compute 1 / x."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return 1 / x


class Sin(FloatUnary):
    """Compute the sine of radians."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.sin(x)


class Cos(FloatUnary):
    """Compute the cosine of radians."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.cos(x)


class Tan(FloatUnary):
    """Compute the tangent of radians."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.tan(x)


class Asin(FloatUnary):
    """Compute the arc sine in radians; NaN outside [-1, 1]."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.arcsin(x)


class Acos(FloatUnary):
    """Compute the arc cosine in radians; NaN outside [-1, 1]."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.arccos(x)


class Atan(FloatUnary):
    """Compute the arc tangent in radians."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.arctan(x)


class Sinh(FloatUnary):
    """Compute the hyperbolic sine."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.sinh(x)


class Cosh(FloatUnary):
    """Compute the hyperbolic cosine."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.cosh(x)


class Tanh(FloatUnary):
    """Compute the hyperbolic tangent."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.tanh(x)


class Asinh(FloatUnary):
    """Compute the inverse hyperbolic sine."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.arcsinh(x)


class Acosh(FloatUnary):
    """Compute the inverse hyperbolic cosine; NaN below 1."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.arccosh(x)


class Atanh(FloatUnary):
    """Compute the inverse hyperbolic tangent; NaN outside [-1, 1]."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return np.arctanh(x)


class Erf(FloatUnary):
    """Compute the Gauss error function."""

    @staticmethod
    @rounded
    def reference(x: Array) -> Array:
        return erf(x).astype(x.dtype)


class Not(Unary):
    """Negate bools."""

    @staticmethod
    def infer(x: Tensor, **attributes: Any) -> Tensor:
        return need_bool(x)

    @staticmethod
    def reference(x: Array) -> Array:
        return np.logical_not(x)


class BitwiseNot(Unary):
    """Flip all bits of integers."""

    @staticmethod
    def infer(x: Tensor, **attributes: Any) -> Tensor:
        return need_integer(x)

    @staticmethod
    def reference(x: Array) -> Array:
        return np.invert(x)


class IsNan(Unary):
    """Say of each float whether it is NaN."""

    @staticmethod
    def infer(x: Tensor, **attributes: Any) -> Tensor:
        return Tensor(need_float(x).shape, "i1")

    @staticmethod
    def reference(x: Array) -> Array:
        return np.isnan(x)


class IsInf(Unary):
    """Say of each float whether it is an infinity of a sign that is asked for."""

    detect_negative: bool = True
    detect_positive: bool = True

    @staticmethod
    def infer(x: Tensor, **attributes: Any) -> Tensor:
        return Tensor(need_float(x).shape, "i1")

    @staticmethod
    def reference(x: Array, *, detect_negative: bool, detect_positive: bool) -> Array:
        wanted = ((x < 0) & detect_negative) | ((x > 0) & detect_positive)
        return np.isinf(x) & wanted
