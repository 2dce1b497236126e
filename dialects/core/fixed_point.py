"""Real factors as integers: a multiplier and a shift to the right, and how the shift rounds."""

import math

import numpy as np

from .errors import Unsupported
from .tensor import Array

ROUNDINGS = ("half_away", "half_even", "half_up")
"""Where a number in the middle of two integers goes: from zero, to the even one, or up."""

MOST_BITS = 31
MOST_SHIFT = 62
"""Products of i32 and multipliers of 31 bits, and half a unit, shifted so far, fit in i64."""


def fixed_point(factor: float, bits: int = MOST_BITS) -> tuple[int, int]:
    """Return the multiplier and the shift that are nearest to a factor: multiplier / 2^shift.

    The multiplier is in [2^(bits - 1), 2^bits), so it has all the bits that there are, unless the
    shift would be above 62: then it is smaller, 0 at last. Raises Unsupported for a factor so large
    that the shift would be negative, ValueError for one that is not positive and finite.
    """
    if not 2 <= bits <= MOST_BITS:
        raise ValueError(f"multiplier of {bits} bits, must have 2 to {MOST_BITS}")
    if not (factor > 0 and math.isfinite(factor)):
        raise ValueError(f"factor {factor} must be positive and finite")
    fraction, exponent = math.frexp(factor)
    multiplier, shift = round(math.ldexp(fraction, bits)), bits - exponent
    if multiplier == 1 << bits:  # rounded up to the next power of two
        multiplier, shift = multiplier >> 1, shift - 1
    if shift < 0:
        raise Unsupported(f"factor {factor} is too large for a multiplier of {bits} bits")
    if shift > MOST_SHIFT:
        return round(math.ldexp(factor, MOST_SHIFT)), MOST_SHIFT
    return multiplier, shift


def multiply_shift(x: Array, multiplier: Array, shift: Array, rounding: str) -> Array:
    """Compute x * multiplier / 2^shift in i64, rounded to an integer; all broadcast.

    Exact while |x| is at most 2^31 and multipliers have 31 bits.
    """
    product = x.astype(np.int64) * multiplier.astype(np.int64)
    amount = shift.astype(np.int64)
    half = np.where(amount > 0, np.left_shift(np.int64(1), np.maximum(amount - 1, 0)), 0)
    if rounding == "half_up":
        return (product + half) >> amount
    if rounding == "half_away":
        return np.sign(product) * ((np.abs(product) + half) >> amount)
    below = product >> amount
    rest = product - (below << amount)
    up = (rest > half) | ((rest == half) & (half > 0) & (below % 2 == 1))
    return below + up
