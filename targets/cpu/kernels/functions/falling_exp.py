"""The exponential of numbers that are not positive, as softmax needs it: fewer multiplications.

A softmax divides by the sum of its exponentials, the largest of which is 1. So an error that grows
with the distance from zero does no harm: x / ln 2 is rounded, which `exp` takes care not to do.
"""

from ....kernels import coefficients
from ....kernels.approximation import LOG2_E, polynomial
from ..value import Value, is_strict
from .approximation import ROUNDER, exp, scale
from .by_avx512 import has_instructions, power_of_two

VANISHES = -160.0
"""A power of two that is zero in f32."""


def falls_by_powers(dtype: str) -> bool:
    """Return whether `falling_exp` of a type is `falling_power` of x / ln 2."""
    return dtype == "f32" and not is_strict()


def falling_exp(x: Value, dtype: str = "f32") -> Value:
    """Compute e to the power x for x <= 0.

    f32: at most 1.5 ULP and |x| / 2^23 of the result; 2^-13 of it where it will be rounded to
    `dtype` bf16. 0 gives 1, -inf gives 0. In strict kernels, and of f64, it is `exp`.
    """
    return falling_power(x * LOG2_E, dtype) if falls_by_powers(x.dtype) else exp(x)


def falling_power(x: Value, dtype: str = "f32") -> Value:
    """Compute 2 to the power x of f32 for x <= 0, as 2^n P(x - n).

    n is a whole number: the next one below for AVX-512, or else the nearest.
    """
    if has_instructions(x):
        short = dtype == "bf16"
        return power_of_two(x, coefficients.EXP2_SHORT if short else coefficients.EXP2_FRACTION)
    x = x.maximum(VANISHES)
    shifted = x + ROUNDER
    rest = x - (shifted - ROUNDER)
    return scale(polynomial(rest, (1.0, *coefficients.EXP2)), shifted)
