"""Casts of elements of fewer than 8 bits, and of floats of 8, by arithmetic on their bits."""

from dataclasses import dataclass

import numpy as np

from ...dialects.core.tensor import DTYPES, is_narrow_integer
from .arithmetic import V
from .conversion import convert


@dataclass(frozen=True)
class FloatFormat:
    """Describe a narrow float: the bits of its fraction, and the bias of its exponent.

    Magnitudes from `nan` on are NaN, `infinity` is infinite; with `only_zero`, the sign alone is
    NaN. Source: OCP 8-bit Floating Point Specification (OFP8) v1.0; ONNX `Cast` for the others.
    """

    bits: int
    fraction: int
    bias: int
    nan: int | None = None
    infinity: int | None = None
    only_zero: bool = False

    @property
    def sign(self) -> int:
        """Return the bit of the sign."""
        return 1 << self.bits - 1

    @property
    def most(self) -> int:
        """Return the bits of the greatest finite number."""
        beyond = [code for code in (self.infinity, self.nan) if code is not None]
        return min(beyond, default=self.sign) - 1

    @property
    def quiet(self) -> int | None:
        """Return the bits of a NaN without a sign, None where there is no such NaN."""
        return self.nan if self.infinity is None else self.infinity | 1 << self.fraction - 1


FORMATS = {
    "f8E4M3FN": FloatFormat(8, 3, 7, nan=0x7F),
    "f8E4M3FNUZ": FloatFormat(8, 3, 8, only_zero=True),
    "f8E5M2": FloatFormat(8, 2, 15, nan=0x7D, infinity=0x7C),
    "f8E5M2FNUZ": FloatFormat(8, 2, 16, only_zero=True),
    "f4E2M1FN": FloatFormat(4, 1, 1),
}


@dataclass(frozen=True)
class _Wide:
    """Describe a type to widen to: integers of its width, its width, fraction and bias."""

    dtype: str
    integer: str
    bits: int
    fraction: int
    bias: int


_SINGLE, _HALF = _Wide("f32", "i32", 32, 23, 127), _Wide("f16", "i16", 16, 10, 15)


def widened_bits(bits: V, dtype: str) -> tuple[V, str]:
    """Return the numbers that bits in ui8 stand for, and the type in which they are: i32 or f32."""
    if is_narrow_integer(dtype):
        return _integer(bits, dtype), "i32"
    if dtype == "f8E8M0FNU":
        return _power(convert(bits, "i32")), "f32"
    return _float(bits, FORMATS[dtype], _SINGLE), "f32"


def half_of_bits(bits: V, dtype: str) -> V:
    """Return the numbers that bits of f8E4M3FN or f8E5M2 in ui8 stand for, all of which f16 has."""
    return _float(bits, FORMATS[dtype], _HALF)


def _integer(bits: V, dtype: str) -> V:
    wide = convert(bits, "i32")
    if DTYPES[dtype].numpy.startswith("u"):
        return wide
    sign = 1 << DTYPES[dtype].bits - 1
    return wide.logical_xor(wide.like(sign)) - sign


def _float(narrow: V, format: FloatFormat, wide: _Wide) -> V:
    """Put exponent and fraction where a wide type has them; the product corrects the bias.

    Of types with the same bias, infinity and NaN are the same, too.
    """
    bits, sign = convert(narrow, wide.integer), format.sign
    magnitude = bits.logical_and(bits.like(sign - 1))
    number = magnitude.shift_left(wide.fraction - format.fraction).bits(wide.dtype)
    differs = wide.bias != format.bias
    if differs:
        number = number * 2.0 ** (wide.bias - format.bias)
    if format.infinity is not None and differs:
        number = magnitude.equal(format.infinity).select(number.like(float("inf")), number)
    if format.nan is not None and differs:
        number = magnitude.less(format.nan).select(number, number.like(float("nan")))
    if format.only_zero:
        number = bits.equal(sign).select(number.like(float("nan")), number)
    signs = bits.logical_and(bits.like(sign)).shift_left(wide.bits - format.bits)
    return number.bits(wide.integer).logical_or(signs).bits(wide.dtype)


def _power(bits: V) -> V:
    """Return powers of two, given their biased exponents: 0 is 2**-127, and 255 NaN."""
    power = bits.shift_left(23).bits("f32")
    power = bits.equal(0).select(power.like(2.0**-127), power)
    return bits.equal(255).select(power.like(float("nan")), power)


def narrowed_bits(x: V, dtype: str, saturate: bool) -> V:
    """Return the bits of a narrow type, in ui8, that are nearest to numbers, ties to even.

    Integers wrap around. What no float of the type holds becomes the greatest with `saturate`, or
    if the type has neither infinity nor NaN; else it becomes infinite, or NaN. Numbers of 64 bits
    are rounded to f32 first, as `ml_dtypes` does.
    """
    if is_narrow_integer(dtype):
        return low_bits(x, dtype)
    wide = convert(x, "f64") if x.dtype in ("i64", "ui64") else x
    return convert(_rounded(convert(wide, "f32"), FORMATS[dtype], saturate), "ui8")


def _rounded(x: V, format: FloatFormat, saturate: bool) -> V:
    """Round f32: the fraction of normal numbers as integers, the others by a sum with a float.

    The last digit of that float is the least number of the format.
    """
    bits = x.bits("i32")
    magnitude = bits.logical_and(bits.like(0x7FFFFFFF))
    dropped = 23 - format.fraction
    odd = magnitude.shift_right(dropped).logical_and(bits.like(1))
    half = (1 << dropped - 1) - 1
    normal = (magnitude + odd + half).shift_right(dropped)
    normal = normal - ((127 - format.bias) << format.fraction)
    step = np.float32(2.0 ** (24 - format.bias - format.fraction))
    small = (x.abs() + float(step)).bits("i32") - int(step.view(np.int32))
    code = magnitude.less((128 - format.bias) << 23).select(small, normal)
    return _signed(code, magnitude, bits.less(0), format, saturate)


def _signed(code: V, magnitude: V, negative: V, format: FloatFormat, saturate: bool) -> V:
    """Give the bits of a magnitude their sign, and those that are none of the format their bits."""
    sign = negative.select(code.like(format.sign), 0)
    is_nan = magnitude.greater(0x7F800000)
    beyond = format.infinity if format.infinity is not None else format.quiet
    if saturate or (beyond is None and not format.only_zero):
        beyond = format.most
    inside = code.less_equal(format.most)
    if format.only_zero:
        signed = code.equal(0).select(code, code.logical_or(sign))
        outside = code.like(format.sign) if beyond is None else sign.logical_or(code.like(beyond))
        return is_nan.select(code.like(format.sign), inside.select(signed, outside))
    assert beyond is not None
    finite = inside.select(code, code.like(beyond)).logical_or(sign)
    if format.quiet is None:  # NaN becomes a zero
        return is_nan.select(sign.logical_xor(code.like(format.sign)), finite)
    return is_nan.select(sign.logical_or(code.like(format.quiet)), finite)


def power_bits(x: V, saturate: bool, round_mode: str) -> V:
    """Return the biased exponents, in ui8, of the powers of two that stand for magnitudes of f32.

    Source: the specification of ONNX `Cast` to f8E8M0FNU.
    """
    bits = x.bits("i32")
    magnitude = bits.logical_and(bits.like(0x7FFFFFFF))
    exponent = magnitude.shift_right(23)
    fraction = magnitude.logical_and(bits.like(0x7FFFFF))
    one = bits.like(1)
    if round_mode == "up":
        # Below the least normal number, what is at most half of it is the least power.
        rounds = exponent.greater(0).select(fraction.greater(0), fraction.greater(1 << 22))
        exponent = exponent + rounds.select(one, 0)
    elif round_mode == "nearest":
        exponent = exponent + fraction.greater_equal(1 << 22).select(one, 0)
    limit = 254 if saturate else 255
    made = exponent.minimum(limit)
    made = magnitude.equal(0x7F800000).select(made.like(limit), made)
    return convert(magnitude.greater(0x7F800000).select(made.like(255), made), "ui8")


def low_bits(x: V, dtype: str) -> V:
    """Return the bits of integers of fewer than 8 bits, in ui8: others wrap around."""
    whole = convert(x, "i32") if x.is_float or x.kind == "bool" else x
    mask = (1 << DTYPES[dtype].bits) - 1
    return convert(whole.logical_and(whole.like(mask)), "ui8")
