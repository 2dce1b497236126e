"""The exponential of numbers that are not positive, as softmax needs it: fewer multiplications.

A softmax divides by the sum of its exponentials, the largest of which is 1. So an error that grows
with the distance from zero does no harm: x / ln 2 is rounded, which `exp` takes care not to do.
"""

from collections.abc import Sequence

from ....kernels import coefficients
from ....kernels.approximation import polynomial
from ..value import Value, is_strict
from .approximation import LOG2_E, ROUNDER, exp, scale
from .by_avx512 import has_instructions, power_of_two

VANISHES = -160.0
"""A power of two that is zero in f32."""


def falling_exp(x: Value, dtype: str = "f32") -> Value:
    """Compute e to the power x for x <= 0.

    f32: at most 1.5 ULP and |x| / 2^23 of the result; 2^-13 of it where it will be rounded to
    `dtype` bf16. 0 gives 1, -inf gives 0. 2^t with t = x / ln 2 is 2^n P(t - n), where n is the
    whole number next to t. In strict kernels, and of f64, it is `exp`.
    """
    if x.dtype != "f32" or is_strict():
        return exp(x)
    rest = coefficients.EXP2_SHORT if dtype == "bf16" else coefficients.EXP2
    return (power_of_two if has_instructions(x) else _by_arithmetic)(x, LOG2_E, rest)


def _by_arithmetic(x: Value, factor: float, power: Sequence[float]) -> Value:
    """Compute what `power_of_two` does, for x <= 0."""
    t = (x * factor).maximum(VANISHES)
    shifted = t + ROUNDER
    rest = t - (shifted - ROUNDER)
    return scale(polynomial(rest, (1.0, *power)), shifted)
