"""GELU of f32: a number times a distribution function F of it, where F(-a) is 1 - F(a).

By AVX-512, the tail F(-|x|) is a polynomial of degree 5 on each of 16 pieces: nothing cancels, and
nothing is divided. Without, it is x / 2 (1 + erf) or tanh.
"""

import math
from collections.abc import Sequence

from ....kernels import coefficients
from ....kernels.approximation import polynomial
from ..value import Value
from .approximation import ROUNDER, erf, tanh
from .by_avx512 import has_instructions, look_up

END = 6.0
"""Where the tail ends, in zero."""


def gelu(x: Value) -> Value:
    """Compute x Phi(x). f32: at most 3e-7 max(1, |x|) off."""
    if has_instructions(x):
        return _with_tail(x, coefficients.NORMAL_TAIL)
    half = x * 0.5
    return half.fma(erf(x * math.sqrt(0.5)), half)


def gelu_tanh(x: Value) -> Value:
    """Compute x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. f32: as for `gelu`."""
    if has_instructions(x):
        return _with_tail(x, coefficients.TANH_TAIL)
    half = x * 0.5
    inner = (x * x * x).fma(0.044715, x) * math.sqrt(2 / math.pi)
    return half.fma(tanh(inner), half)


def _with_tail(x: Value, pieces: Sequence[Sequence[float]]) -> Value:
    """Compute max(x, 0) - |x| F(-|x|), given pieces of F(-|x|) around whole numbers."""
    distance = x.abs().minimum(END)
    scale = (len(pieces[0]) - 1) / END
    numbers = distance.fma(scale, ROUNDER)  # the whole number is in the low bits
    rest = distance.fma(scale, -(numbers - ROUNDER))
    tail = polynomial(rest, [look_up(power, numbers.bits("i32")) for power in pieces])
    above = x - x.minimum(0)  # max(x, 0), but NaN of -inf, as the formula has it
    return (-distance).fma(tail, above)
