"""Approximations that CPU and GPU kernels share; each target has more of its own."""

import math
from collections.abc import Callable, Sequence
from typing import cast

from . import coefficients
from .arithmetic import Arithmetic, V

LOG2_E = 1 / math.log(2)


def polynomial(x: V, factors: Sequence[V | float]) -> V:
    """Evaluate a polynomial whose constant term is the first factor, by Horner's rule."""
    *lower, top = factors
    result = cast("V", top) if isinstance(top, Arithmetic) else x.like(top)
    for factor in reversed(lower):
        result = result.fma(x, factor)
    return result


def log1p(x: V, log: Callable[[V], V]) -> V:
    """Compute log(1 + x), without cancellation near zero."""
    rounded = x + 1
    lost = x - (rounded - 1)
    result = log(rounded) + lost / rounded.maximum(2.0**-60)  # zero too divides zero
    return x.equal(math.inf).select(x, x.equal(0).select(x, result))


def tanh_f32(x: V) -> V:
    """Compute the hyperbolic tangent of f32, never beyond 1: x P(x^2) / Q(x^2).

    x is clamped to a bound from which on the result is 1.
    """
    x = x.maximum(-9.02).minimum(9.02)
    square = x * x
    above = polynomial(square, coefficients.TANH_ABOVE)
    y = x * above / polynomial(square, coefficients.TANH_BELOW)
    return y.maximum(-1).minimum(1)
