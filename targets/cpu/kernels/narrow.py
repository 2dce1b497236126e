"""Casts of elements of fewer than 8 bits, and of floats of 8, by arithmetic on their bits."""

from dataclasses import dataclass

from ....dialects.core.tensor import DTYPES, is_narrow_integer
from ...kernels.conversion import convert
from .value import Value


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


FORMATS = {
    "f8E4M3FN": FloatFormat(8, 3, 7, nan=0x7F),
    "f8E4M3FNUZ": FloatFormat(8, 3, 8, only_zero=True),
    "f8E5M2": FloatFormat(8, 2, 15, nan=0x7D, infinity=0x7C),
    "f8E5M2FNUZ": FloatFormat(8, 2, 16, only_zero=True),
    "f4E2M1FN": FloatFormat(4, 1, 1),
}


def widened_bits(bits: Value, dtype: str) -> tuple[Value, str]:
    """Return the numbers that bits in ui8 stand for, and the type in which they are: i32 or f32."""
    if is_narrow_integer(dtype):
        return _integer(bits, dtype), "i32"
    wide = convert(bits, "i32")
    return (_power(wide) if dtype == "f8E8M0FNU" else _float(wide, FORMATS[dtype])), "f32"


def _integer(bits: Value, dtype: str) -> Value:
    wide = convert(bits, "i32")
    if DTYPES[dtype].numpy.startswith("u"):
        return wide
    sign = 1 << DTYPES[dtype].bits - 1
    return wide.logical_xor(wide.like(sign)) - sign


def _float(bits: Value, format: FloatFormat) -> Value:
    """Put exponent and fraction where f32 has them; the product corrects the bias."""
    sign = 1 << format.bits - 1
    magnitude = bits.logical_and(bits.like(sign - 1))
    near = magnitude.shift_left(23 - format.fraction).bits("f32")
    number = near * 2.0 ** (127 - format.bias)
    if format.infinity is not None:
        number = magnitude.equal(format.infinity).select(number.like(float("inf")), number)
    if format.nan is not None:
        number = magnitude.less(format.nan).select(number, number.like(float("nan")))
    if format.only_zero:
        number = bits.equal(sign).select(number.like(float("nan")), number)
    signs = bits.logical_and(bits.like(sign)).shift_left(32 - format.bits)
    return number.bits("i32").logical_or(signs).bits("f32")


def _power(bits: Value) -> Value:
    """Return powers of two, given their biased exponents: 0 is 2**-127, and 255 NaN."""
    power = bits.shift_left(23).bits("f32")
    power = bits.equal(0).select(power.like(2.0**-127), power)
    return bits.equal(255).select(power.like(float("nan")), power)


def low_bits(x: Value, dtype: str) -> Value:
    """Return the bits of integers of fewer than 8 bits, in ui8: others wrap around."""
    whole = convert(x, "i32") if x.is_float or x.kind == "bool" else x
    mask = (1 << DTYPES[dtype].bits) - 1
    return convert(whole.logical_and(whole.like(mask)), "ui8")
