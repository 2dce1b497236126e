"""The accumulator of fp16 convolutions: 48 bits, a mantissa of 40 and an exponent of 8.

Its value is `mantissa` * 2**(`exponent` - 101). The mantissa is in two's complement, and fills its
bits unless it is 0.
"""

from dataclasses import dataclass

import numpy as np

from .floats import FP32, Bits, bit_length
from .mac import NAN_EXPONENT, Sums

_BITS = 40
_TOP = 255
_SUM_BITS = 38
_REBIAS = 49
_NAN_BITS = 11
"""Sign and mantissa of a NaN of fp16, at the top of a mantissa."""


@dataclass(frozen=True)
class Accumulator:
    """Accumulators of any shape."""

    mantissa: Bits
    exponent: Bits

    @staticmethod
    def zeros(shape: tuple[int, ...]) -> "Accumulator":
        """Return accumulators that are 0."""
        return Accumulator(np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    def plus(self, sums: Sums) -> "Accumulator":
        """Return accumulators to which the sums of products are added."""
        added = self._added(sums)
        top = self.mantissa >> (_BITS - _NAN_BITS) << (_BITS - _NAN_BITS)
        own_nan, is_nan = self.exponent == _TOP, sums.exponent == NAN_EXPONENT
        value = sums.mantissa >> (_SUM_BITS - _NAN_BITS) << (_BITS - _NAN_BITS)
        nothing = sums.mantissa == 0
        keeps = nothing | own_nan
        mantissa = np.where(is_nan, value, added.mantissa)
        mantissa = np.where(own_nan & ~nothing, top, mantissa)
        exponent = np.where(is_nan, _TOP, added.exponent)
        return Accumulator(
            np.where(nothing, self.mantissa, mantissa), np.where(keeps, self.exponent, exponent)
        )

    def _added(self, sums: Sums) -> "Accumulator":
        zeros = _SUM_BITS - 1 - bit_length(_magnitude(sums.mantissa))
        theirs = sums.mantissa << (zeros + _BITS - _SUM_BITS)
        their_exponent = sums.exponent - zeros + _REBIAS
        own_exponent = np.where(self.mantissa == 0, 0, self.exponent)
        exponent = np.maximum(own_exponent, their_exponent)
        own, own_rest = _shifted(self.mantissa, exponent - own_exponent)
        theirs, their_rest = _shifted(theirs, exponent - their_exponent)
        # One of the two is not shifted, and has no rest.
        return _normalized(own + theirs, own_rest | their_rest, exponent)

    def to_fp32(self) -> Bits:
        """Return the numbers in 32 bits, halves away from zero; a NaN keeps its low bits."""
        negative = self.mantissa < 0
        sign = negative.astype(np.int64)
        magnitude = np.abs(self.mantissa)
        drop = _BITS - 2 - FP32.mantissa
        rounded = (magnitude + (1 << drop - 1)) >> drop
        grown = rounded >> (FP32.mantissa + 1) == 1
        mantissa = np.where(grown, rounded >> 1, rounded) & FP32.hidden - 1
        exponent = np.where(self.mantissa == 0, 0, self.exponent + 64 + grown)
        result = FP32.join(sign, exponent & _TOP, mantissa)
        payload = self.mantissa >> (_BITS - _NAN_BITS) & (1 << _NAN_BITS - 1) - 1
        nan = FP32.join(sign, np.full_like(sign, _TOP), payload)
        return np.where(self.exponent == _TOP, nan, result)


def _magnitude(values: Bits) -> Bits:
    """Return the bits that differ from the sign."""
    return values ^ values >> 63


def _shifted(mantissa: Bits, distance: Bits) -> tuple[Bits, Bits]:
    """Return mantissas shifted right, and at the top of 40 bits what is shifted out."""
    near = distance <= _BITS
    count = np.where(near, distance, 0)
    rest = (mantissa & (np.int64(1) << count) - 1) << (_BITS - count)
    return np.where(near, mantissa >> count, 0), np.where(near, rest, 0)


def _normalized(total: Bits, rest: Bits, exponent: Bits) -> Accumulator:
    """Return accumulators of sums of 41 bits, rounded to nearest, halves up."""
    length = bit_length(_magnitude(total))
    overflows = length == _BITS
    left = np.where(overflows, 0, _BITS - 1 - length)
    rising = rest >> (_BITS - left)
    mantissa = np.where(overflows, total >> 1, total << left | rising)
    rest_left = rest << left & (1 << _BITS) - 1
    guard = np.where(overflows, total & 1, rest_left >> (_BITS - 1)) == 1
    sticky = np.where(overflows, rest, rest_left & (1 << _BITS - 1) - 1) != 0
    rounded = mantissa + (guard & ((mantissa >= 0) | sticky))
    # 2**39 does not fit, and a negative number that is rounded up to 0 is taken for one as large.
    grown = rounded == 1 << _BITS - 1
    wraps = (mantissa < 0) & (rounded == 0)
    moved = exponent + np.where(overflows, 1, -left) + (grown | wraps)
    result = np.where(grown, 1 << _BITS - 2, np.where(wraps, -(1 << _BITS - 1), rounded))
    return Accumulator(result, np.where(result == 0, 0, moved & _TOP))
