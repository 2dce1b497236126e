"""Floating-point arithmetic of NVDLA, exact to the bit: formats of 16, 17 and 32 bits.

Numbers are int64 arrays of the bits of a format. Results are rounded to nearest even; what would be
infinite is the largest finite number, what would be denormal is 0 but for conversions to 16 bits,
and a NaN is handed on. The sign of a zero is that of the operand that is larger, or first.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_MOST_SHIFT = 62


@dataclass(frozen=True)
class Format:
    """The widths of a format: a sign, exponent bits, mantissa bits without the leading 1."""

    exponent: int
    mantissa: int

    @property
    def bias(self) -> int:
        """Return the exponent of 1."""
        return (1 << self.exponent - 1) - 1

    @property
    def top(self) -> int:
        """Return the exponent of infinity and NaN."""
        return (1 << self.exponent) - 1

    @property
    def hidden(self) -> int:
        """Return the leading 1, which is not stored."""
        return 1 << self.mantissa

    def split(self, bits: Bits) -> tuple[Bits, Bits, Bits]:
        """Return the signs, exponents and mantissas as they are stored."""
        return (
            bits >> (self.exponent + self.mantissa) & 1,
            bits >> self.mantissa & self.top,
            bits & self.hidden - 1,
        )

    def join(self, sign: Bits, exponent: Bits, mantissa: Bits) -> Bits:
        """Return the bits of numbers from their parts."""
        return sign << (self.exponent + self.mantissa) | exponent << self.mantissa | mantissa

    def is_nan(self, bits: Bits) -> Flags:
        """Report which numbers are NaN."""
        _, exponent, mantissa = self.split(bits)
        return (exponent == self.top) & (mantissa != 0)

    def largest(self, sign: Bits) -> Bits:
        """Return the largest finite number of each sign, which stands for infinity."""
        return self.join(
            sign, np.full_like(sign, self.top - 1), np.full_like(sign, self.hidden - 1)
        )

    def full(self, exponent: Bits, mantissa: Bits) -> Bits:
        """Return mantissas with their leading 1; every number but 0 has one, denormals too."""
        return np.where((exponent == 0) & (mantissa == 0), 0, mantissa | self.hidden)


FP16, FP17, FP32 = Format(5, 10), Format(6, 10), Format(8, 23)


def bits_of(values: npt.NDArray[np.generic]) -> Bits:
    """Return the bits of float16 or float32 values."""
    return np.ascontiguousarray(values).view(f"u{values.itemsize}").astype(np.int64)


def float16_of(bits: Bits) -> npt.NDArray[np.float16]:
    """Return the values of bits of 16."""
    return bits.astype(np.uint16).view(np.float16)


def float32_of(bits: Bits) -> npt.NDArray[np.float32]:
    """Return the values of bits of 32."""
    return bits.astype(np.uint32).view(np.float32)


def bit_length(values: Bits) -> Bits:
    """Return the number of bits of values below 2**53, 0 for 0."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def round_even(values: Bits, drop: Bits | int) -> Bits:
    """Return values / 2**drop, rounded to nearest, halves to even."""
    count = np.minimum(np.asarray(drop, np.int64), _MOST_SHIFT)
    whole = values >> count
    rest = values - (whole << count)
    half = np.where(count > 0, np.int64(1) << np.maximum(count - 1, 0), np.int64(1) << _MOST_SHIFT)
    return whole + ((rest > half) | ((rest == half) & (whole & 1 == 1)))


def add(a: Bits, b: Bits, form: Format) -> Bits:
    """Return a + b."""
    sign_a, exponent_a, mantissa_a = form.split(a)
    sign_b, exponent_b, mantissa_b = form.split(b)
    full_a, full_b = form.full(exponent_a, mantissa_a), form.full(exponent_b, mantissa_b)
    first = (exponent_a > exponent_b) | ((exponent_a == exponent_b) & (mantissa_a >= mantissa_b))
    sign = np.where(first, sign_a, sign_b)
    exponent = np.where(first, exponent_a, exponent_b)
    extra, width = form.mantissa + 2, 2 * form.mantissa + 3
    distance = np.minimum(np.abs(exponent_a - exponent_b), _MOST_SHIFT)
    larger = np.where(first, full_a, full_b) << extra
    smaller = np.where(first, full_b, full_a) << extra >> distance
    total = np.where(sign_a == sign_b, larger + smaller, larger - smaller)
    carry = total >> width == 1
    zeros = width - bit_length(total)
    vanishes = ~carry & ((exponent <= zeros) | (total == 0))
    shifted = np.where(carry, total >> 1, total << np.maximum(zeros, 0))
    exponent = np.where(carry, exponent + 1, exponent - zeros)
    rounded = round_even(shifted, width - form.mantissa - 1)
    grown = rounded >> (form.mantissa + 1) == 1
    exponent = np.where(vanishes, 0, exponent + grown)
    mantissa = np.where(vanishes | grown, 0, rounded & form.hidden - 1)
    result = form.join(sign, exponent, mantissa)
    result = np.where(~vanishes & (exponent >= form.top), form.largest(sign), result)
    return _hand_on_nan(result, a, b, form)


def subtract(a: Bits, b: Bits, form: Format) -> Bits:
    """Return a - b."""
    return add(a, b ^ 1 << (form.exponent + form.mantissa), form)


def multiply(a: Bits, b: Bits, form: Format) -> Bits:
    """Return a * b."""
    sign_a, exponent_a, mantissa_a = form.split(a)
    sign_b, exponent_b, mantissa_b = form.split(b)
    sign = sign_a ^ sign_b
    product = form.full(exponent_a, mantissa_a) * form.full(exponent_b, mantissa_b)
    exponent = exponent_a + exponent_b - form.bias
    vanishes = (product == 0) | (exponent < 0)
    wide = product >> (2 * form.mantissa + 1) == 1
    exponent = exponent + wide
    rounded = round_even(np.where(wide, product, product << 1), form.mantissa + 1)
    grown = rounded >> (form.mantissa + 1) == 1
    exponent = exponent + grown
    result = form.join(sign, exponent, np.where(grown, 0, rounded & form.hidden - 1))
    result = np.where(exponent >= form.top, form.largest(sign), result)
    zero = sign << (form.exponent + form.mantissa)
    return _hand_on_nan(np.where(vanishes | (exponent == 0), zero, result), a, b, form)


def maximum(a: Bits, b: Bits, form: Format) -> Bits:
    """Return the larger of a and b; +0 is larger than -0."""
    return _hand_on_nan(np.where(_is_greater(a, b, form), a, b), a, b, form)


def minimum(a: Bits, b: Bits, form: Format) -> Bits:
    """Return the smaller of a and b; -0 is smaller than +0."""
    return _hand_on_nan(np.where(_is_greater(a, b, form), b, a), a, b, form)


def relu(values: Bits, form: Format) -> Bits:
    """Return positive numbers and NaNs, +0 for the others."""
    sign, _, _ = form.split(values)
    return np.where((sign == 0) | form.is_nan(values), values, 0)


def widen(values: Bits, source: Format, target: Format) -> Bits:
    """Return the numbers in a format that has them all; infinity is the largest number there."""
    sign, exponent, mantissa = source.split(values)
    more = target.bias - source.bias
    zeros = source.mantissa - bit_length(mantissa)
    is_denormal = (exponent == 0) & (mantissa != 0)
    left = np.where(is_denormal, mantissa << (zeros + 1) & source.hidden - 1, mantissa)
    right = np.where(is_denormal, more - zeros, exponent + more)
    result = target.join(sign, right, left << (target.mantissa - source.mantissa))
    is_zero = (exponent == 0) & (mantissa == 0)
    nothing = sign << (target.exponent + target.mantissa)
    result = np.where(is_zero, nothing, result)
    is_infinite = (exponent == source.top) & (mantissa == 0)
    result = np.where(is_infinite, target.largest(sign), result)
    nan = target.join(sign, np.full_like(sign, target.top), mantissa)
    return np.where(source.is_nan(values), nan, result)


def narrow(values: Bits, source: Format, target: Format) -> Bits:
    """Return the nearest numbers in a smaller format, denormal ones only in that of 16 bits."""
    sign, exponent, mantissa = source.split(values)
    less, drop = source.bias - target.bias, source.mantissa - target.mantissa
    full = mantissa | source.hidden
    low = exponent <= less
    shift = np.where(low, less - exponent + 1, 0)
    rounded = round_even(full, drop + shift)
    top_bit = np.where(low, rounded >> target.mantissa, rounded >> (target.mantissa + 1)) == 1
    moved = np.where(low, 0, exponent - less) + top_bit
    left = np.where(top_bit, 0, rounded & target.hidden - 1)
    result = target.join(sign, moved, left)
    vanishes = exponent < less - target.mantissa
    if target != FP16:
        vanishes |= low & ~top_bit
    nothing = sign << (target.exponent + target.mantissa)
    result = np.where(vanishes, nothing, result)
    result = np.where(~low & (moved >= target.top), target.largest(sign), result)
    nan = target.join(sign, np.full_like(sign, target.top), mantissa & target.hidden - 1)
    return np.where(source.is_nan(values), nan, result)


def from_fraction(fractions: Bits, width: int, form: Format) -> Bits:
    """Return the numbers fractions / 2**width, which are below 1."""
    zeros = width - bit_length(fractions)
    rounded = round_even(fractions << (zeros + 1), width - form.mantissa)
    grown = rounded >> (form.mantissa + 1) == 1
    exponent = form.bias - zeros - np.where(grown, 0, 1)
    mantissa = np.where(grown, 0, rounded & form.hidden - 1)
    result = form.join(np.zeros_like(fractions), exponent, mantissa)
    return np.where((fractions == 0) | (exponent <= 0), 0, result)


def from_integers(values: Bits) -> Bits:
    """Return integers of 17 bits as numbers of 16 bits."""
    nearest = np.clip(values.astype(np.float64), -65504, 65504)
    return bits_of(nearest.astype(np.float16))


def to_integers(values: Bits) -> Bits:
    """Return numbers of 16 bits as integers of 16, halves away from zero; NaN is the least."""
    sign, exponent, mantissa = FP16.split(values)
    shift = FP16.mantissa + FP16.bias - exponent
    full = mantissa | FP16.hidden
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    whole = np.where(shift > 0, full + half >> np.maximum(shift, 0), full << np.maximum(-shift, 0))
    signed = np.where(sign == 1, -whole, whole)
    limited = np.where(whole > 32767, np.where(sign == 1, -32768, 32767), signed)
    return np.where(FP16.is_nan(values), -32768, limited)


def _is_greater(a: Bits, b: Bits, form: Format) -> Flags:
    size = form.exponent + form.mantissa
    sign_a, sign_b = a >> size & 1, b >> size & 1
    mask = (1 << size) - 1
    larger = (a & mask) > (b & mask)
    same = np.where(sign_a == 1, ~larger, larger)
    return np.where(sign_a == sign_b, same, sign_a == 0)


def _hand_on_nan(result: Bits, a: Bits, b: Bits, form: Format) -> Bits:
    return np.where(form.is_nan(a), a, np.where(form.is_nan(b), b, result))
