"""Real factors as integers: a multiplier and a shift to the right, and how the shift rounds."""

import math
from collections.abc import Sequence

import numpy as np

from ..errors import Invalid, Unsupported
from ..tensor import Array

ROUNDINGS = ("half_away", "half_even", "half_up")
"""The direction of a number halfway between two integers: from zero, to the even one, or up."""

MOST_BITS = 31
MOST_SHIFT = 62
"""Products of i32 and multipliers of 31 bits, and half a unit, shifted so far, fit in i64."""


def need_factors(multipliers: Sequence[int], shifts: Sequence[int]) -> None:
    """Raise Invalid unless multipliers and shifts are in range."""
    for multiplier in multipliers:
        if not 0 <= multiplier < 1 << MOST_BITS:
            raise Invalid(f"multiplier is {multiplier}, must be in [0, 2^{MOST_BITS})")
    for shift in shifts:
        if not 0 <= shift <= MOST_SHIFT:
            raise Invalid(f"shift is {shift}, must be 0 to {MOST_SHIFT}")


def fixed_point(factor: float, bits: int = MOST_BITS) -> tuple[int, int]:
    """Return the multiplier and the shift that are nearest to a factor: multiplier / 2^shift.

    The multiplier is in [2^(bits - 1), 2^bits), so it has all the bits that there are, unless the
    shift would be above 62: then it is smaller, 0 at last. Raises Unsupported for a factor so large
    that the shift would be negative, ValueError for one that is not positive and finite.
    """
    _check(factor, bits)
    fraction, exponent = math.frexp(factor)
    multiplier, shift = round(math.ldexp(fraction, bits)), bits - exponent
    if multiplier == 1 << bits:  # rounded up to the next power of two
        multiplier, shift = multiplier >> 1, shift - 1
    if shift < 0:
        raise Unsupported(f"factor {factor} is too large for a multiplier of {bits} bits")
    if shift > MOST_SHIFT:
        return round(math.ldexp(factor, MOST_SHIFT)), MOST_SHIFT
    return multiplier, shift


def common_shift(
    factors: Sequence[float], largest: Sequence[int], bits: int = MOST_BITS
) -> tuple[tuple[int, ...], int]:
    """Return multipliers for the terms of a sum, and the one shift that follows it.

    Each factor is about multiplier / 2^shift. The shift is the greatest at which multipliers have
    at most `bits` bits, and terms of integers up to `largest` add up to less than 2^31. Raises
    Unsupported where rounded multipliers may change the sum by half a unit or more, ValueError for
    factors that are not positive and finite.
    """
    for factor in factors:
        _check(factor, bits)
    for shift in range(MOST_SHIFT, -1, -1):
        multipliers = tuple(round(math.ldexp(factor, shift)) for factor in factors)
        reach = sum(most * m for most, m in zip(largest, multipliers, strict=True))
        if max(multipliers) < 1 << bits and reach < 1 << 31:
            break
    else:
        raise Unsupported(f"terms of factors {_listed(factors)} do not fit in 32 bits")
    if sum(largest) >= 1 << shift:
        raise Unsupported(f"factors {_listed(factors)} are too coarse with a shift of {shift}")
    return multipliers, shift


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


def _check(factor: float, bits: int) -> None:
    if not 2 <= bits <= MOST_BITS:
        raise ValueError(f"multiplier of {bits} bits, must have 2 to {MOST_BITS}")
    if not (factor > 0 and math.isfinite(factor)):
        raise ValueError(f"factor {factor} must be positive and finite")


def _listed(factors: Sequence[float]) -> str:
    return ", ".join(f"{factor:g}" for factor in factors)
