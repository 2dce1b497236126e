"""Functions whose results are rounded to bf16: shorter polynomials, by instructions of AVX-512.

Errors are far below half a step of bf16, which is 2^-9 of a number at least. Without the
instructions, and in strict kernels, the functions are those of f32. `gelu` needs none of them.
"""

import math

from ....kernels import coefficients
from ....kernels.approximation import LOG2_E, polynomial
from ..value import Value
from . import approximation
from .by_avx512 import has_instructions, power_of_two, reciprocal


def exp(x: Value) -> Value:
    """Compute e to the power x. f32: at most 2^-13 of the result, of denormals all."""
    if not has_instructions(x):
        return approximation.exp(x)
    return power_of_two(x * LOG2_E, coefficients.EXP2_SHORT)


def sigmoid(x: Value) -> Value:
    """Compute 1 / (1 + exp(-x)). f32: at most 2^-12 of the result, of denormals all."""
    if not has_instructions(x):
        return approximation.sigmoid(x)
    return reciprocal(power_of_two(x * -LOG2_E, coefficients.EXP2_SHORT) + 1)


GELU_END = 5.0
"""What lies further from zero is taken for this by the tail of `gelu`."""


def gelu(x: Value) -> Value:
    """Compute x Phi(x). f32: at most 2^-11.9 of the result and, below -5, 1.5e-6.

    That is max(x, 0) - a Phi(-a) with a = |x|, and Phi(-a) is the 16th power of a polynomial, for
    a root of it is nearly a line: errors are relative where Phi is small, without an exponential.
    """
    distance = x.abs().minimum(GELU_END)
    tail = polynomial(distance, coefficients.NORMAL_ROOT)
    for _ in range(4):
        tail = tail * tail
    return (-distance).fma(tail, x.maximum(0))


def gelu_tanh(x: Value) -> Value:
    """Compute x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. f32: 2^-12 of the result.

    Half of 1 + tanh(y) is sigmoid(2 y).
    """
    slope = math.sqrt(8 / math.pi)
    return x * sigmoid(x * (x * x).fma(0.044715 * slope, slope))
