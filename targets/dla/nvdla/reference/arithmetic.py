"""Round, saturate and convert integers as the engines do; values are int64 of any shape."""

import numpy as np
import numpy.typing as npt

from ..format.operations import Converter

Integers = npt.NDArray[np.int64]

ACCUMULATOR_BITS = 32
_SHIFT_BITS = 6


def shift_right(values: Integers, shift: int) -> Integers:
    """Return values / 2**shift, rounded to nearest, halves away from zero."""
    if not shift:
        return values
    if shift > 62:
        # Products have 64 bits at most: a half is all that can be left.
        halves = np.abs(values) >> 62 if shift == 63 else 0
        return np.sign(values) * halves
    return np.sign(values) * ((np.abs(values) + (1 << shift - 1)) >> shift)


def saturate(values: Integers, bits: int) -> Integers:
    """Return the values that are nearest in the range of a signed number of some bits."""
    return np.clip(values, -(1 << bits - 1), (1 << bits - 1) - 1)


def low_bits(values: Integers, bits: int) -> Integers:
    """Return the low bits of the values as signed numbers."""
    half = np.int64(1) << bits - 1
    return (values + half & 2 * half - 1) - half


def convert(values: Integers, converter: Converter, shift_bits: int = _SHIFT_BITS) -> Integers:
    """Return (values - offset) * scale >> truncate, whether it is enabled or not.

    The register of `truncate` has some bits, of which there is no other value.
    """
    truncate = converter.truncate & (1 << shift_bits) - 1
    return shift_right((values - converter.offset) * converter.scale, truncate)
