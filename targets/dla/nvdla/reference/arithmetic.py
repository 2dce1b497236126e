"""Round, saturate and convert integers as the engines do; values are int64 of any shape."""

import numpy as np
import numpy.typing as npt

from ..format.operations import Converter

Integers = npt.NDArray[np.int64]

ACCUMULATOR_BITS = 32


def shift_right(values: Integers, shift: int) -> Integers:
    """Return values / 2**shift, rounded to nearest, halves away from zero."""
    if not shift:
        return values
    # Beyond 62 bits there is nothing left of 49-bit products.
    shift = min(shift, 62)
    return np.sign(values) * ((np.abs(values) + (1 << shift - 1)) >> shift)


def saturate(values: Integers, bits: int) -> Integers:
    """Return the values that are nearest in the range of a signed number of some bits."""
    return np.clip(values, -(1 << bits - 1), (1 << bits - 1) - 1)


def convert(values: Integers, converter: Converter) -> Integers:
    """Return (values - offset) * scale >> truncate, whether it is enabled or not."""
    return shift_right((values - converter.offset) * converter.scale, converter.truncate)
