"""Functions whose results are rounded to bf16: shorter polynomials, by instructions of AVX-512.

Errors are far below half a step of bf16, which is 2^-9 of a number at least. Without the
instructions, and in strict kernels, the functions are those of f32.
"""

from ....kernels import coefficients
from ..value import Value
from . import approximation
from .approximation import LOG2_E
from .by_avx512 import has_instructions, power_of_two, reciprocal


def exp(x: Value) -> Value:
    """Compute e to the power x. f32: at most 2^-13 of the result, of denormals all."""
    if not has_instructions(x):
        return approximation.exp(x)
    return power_of_two(x, LOG2_E, coefficients.EXP2_SHORT)


def sigmoid(x: Value) -> Value:
    """Compute 1 / (1 + exp(-x)). f32: at most 2^-12 of the result, of denormals all."""
    if not has_instructions(x):
        return approximation.sigmoid(x)
    return reciprocal(power_of_two(x, -LOG2_E, coefficients.EXP2_SHORT) + 1)
