"""Multiply and add fp16 as the MAC array does: one sum for each kernel and block of channels.

A product has its mantissas in steps of 2**4, so that products differ by whole digits of 16; those
with smaller exponents than the largest are shifted right. The multiplier has its product in two
parts, which are shifted each for itself: a product may be 1 less than the shift of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .floats import FP16, Bits

Words = npt.NDArray[np.uint32]
SUM_BIAS = 50
"""A sum's value is `mantissa` * 2**(`exponent` - 50)."""

NAN_EXPONENT = 63
_MANTISSA_BITS = 27
_DIGITS = 8
_SIZES = np.array([0, 1, 1, 2, 2, 1, 1, 0], np.uint32)
"""The sizes of digits, by their bits and the one before; from 4 on they are negative."""

_INVERTED, _LEADING = np.uint32(0x1FFFF), np.uint32(0x10000)
"""A partial product has 16 bits, which are inverted if it is negative; else one more is set."""

_OFFSET = np.uint32(0x5555_0000)
"""What the leading bits of the eight partial products add to a product."""

_GONE = 32
_KERNELS, _CHUNK = 16, 1 << 16
"""How many kernels, and how many products, are computed at once: they fit in a cache."""


@dataclass(frozen=True)
class Operand:
    """One operand of products: exponents in fours, aligned mantissas, signs; 0 is not used."""

    exponent: npt.NDArray[np.int32]
    mantissa: Words
    negative: npt.NDArray[np.bool_]
    used: npt.NDArray[np.bool_]

    def places(self, places: slice) -> "Operand":
        """Return the operand at some places, of data [C, P]."""
        return Operand(
            self.exponent[:, places],
            self.mantissa[:, places],
            self.negative[:, places],
            self.used[:, places],
        )

    @staticmethod
    def of(bits: Bits) -> "Operand":
        """Return the operand of fp16 numbers; infinity is 2**16 here."""
        sign, exponent, mantissa = FP16.split(bits)
        full = np.where(exponent > 0, mantissa | FP16.hidden, mantissa)
        aligned = full << np.where(exponent > 0, exponent & 3, 1)
        used = (exponent != 0) | (mantissa != 0)
        return Operand((exponent >> 2).astype(np.int32), aligned.astype(np.uint32), sign == 1, used)


class Digit(NamedTuple):
    """A digit of weights, [K, C, 1]: its size, and masks where it is negative, and not 0."""

    size: Words
    negative: Words
    nonzero: Words


@dataclass(frozen=True)
class Sums:
    """Sums of products; a NaN has the exponent 63, and its sign and mantissa at the top."""

    mantissa: Bits
    exponent: Bits


def sums_of_products(weights: Bits, data: Bits, signs: Bits | None = None) -> Sums:
    """Return the sums [K, P] over C of the products of fp16 weights [K, C] and data [C, P].

    With signs [R, C], each 1, -1 or 0, they are [K, R, P]: the products are added with these.
    """
    rows = () if signs is None else (len(signs),)
    shape = len(weights), *rows, data.shape[1]
    sums = Sums(np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    operand = Operand.of(data)
    width = max(1, _CHUNK // (_KERNELS * len(data)))
    for start in range(0, len(weights), _KERNELS):
        kernels = slice(start, start + _KERNELS)
        part = Operand.of(weights[kernels])
        digits = _digits(part)
        for first in range(0, data.shape[1], width):
            places = slice(first, first + width)
            one = _sums(part, digits, operand.places(places), signs)
            sums.mantissa[kernels, ..., places] = one.mantissa
            sums.exponent[kernels, ..., places] = one.exponent
    return _with_nans(sums, weights, data)


def _sums(weights: Operand, digits: Sequence[Digit], data: Operand, signs: Bits | None) -> Sums:
    used = weights.used[:, :, None] & data.used
    exponents = np.where(used, weights.exponent[:, :, None] + data.exponent, 0)
    largest = exponents.max(1, keepdims=True)
    shifts = 4 * (largest - exponents)
    first, second = _product_parts(digits, data)
    count = np.minimum(shifts, _GONE - 1).astype(np.uint32)
    terms = (first >> count) + (second >> count) - (_OFFSET >> count)
    terms[~used | (shifts >= _GONE)] = 0
    exponent = 4 * largest.astype(np.int64)
    if signs is None:
        return Sums(terms.view(np.int32).sum(1, dtype=np.int64), exponent[:, 0])
    return Sums(signs @ terms.view(np.int32).astype(np.int64), exponent)


def _product_parts(digits: Sequence[Digit], data: Operand) -> tuple[Words, Words]:
    """Return two numbers whose sum is the product and `_OFFSET`.

    Digits of the weight of 2 bits, in the range -2 to 2 (Booth's encoding), select multiples of the
    data; a negative one is inverted, and its 1 is added with the next. Carry-save adders then
    reduce the ten numbers to two.
    """
    rows: list[Words] = []
    ones: list[Words] = []
    flip = np.where(data.negative, _INVERTED, np.uint32(0))
    for digit in digits:
        inverted = (digit.negative ^ flip) & digit.nonzero
        rows.append(data.mantissa * digit.size ^ inverted ^ _LEADING)
        ones.append(inverted & np.uint32(1))
    terms = [rows[0]]
    terms += [_placed(rows[i], ones[i - 1], i) for i in (1, 2, 3)]
    terms.append(ones[3] << np.uint32(6))
    left = _add_all(terms)
    terms = [rows[4] << np.uint32(8)]
    terms += [_placed(rows[i], ones[i - 1], i) for i in (5, 6, 7)]
    terms.append(ones[7] << np.uint32(14))
    return _add_all([*left, *_add_all(terms)])


def _placed(row: Words, one: Words, digit: int) -> Words:
    """Return a multiple in its place, with the 1 of the digit before."""
    return row << np.uint32(2 * digit) | one << np.uint32(2 * digit - 2)


def _digits(weights: Operand) -> list[Digit]:
    """Return the digits of weights [K, C], from the lowest."""
    mantissa = weights.mantissa << np.uint32(1)
    found: list[Digit] = []
    for place in range(_DIGITS):
        code = mantissa >> np.uint32(2 * place) & np.uint32(7)
        size = _SIZES[code]
        negative = np.where((code >= 4) ^ weights.negative, _INVERTED, np.uint32(0))
        nonzero = np.where(size > 0, _INVERTED, np.uint32(0))
        found.append(Digit(size[:, :, None], negative[:, :, None], nonzero[:, :, None]))
    return found


def _add_all(terms: list[Words]) -> tuple[Words, Words]:
    """Reduce numbers to two by carry-save adders, the first three at a time."""
    while len(terms) > 2:
        a, b, c = terms[:3]
        half = a ^ b
        terms = [half ^ c, ((a & b) | (half & c)) << np.uint32(1), *terms[3:]]
    return terms[0], terms[1]


def _with_nans(sums: Sums, weights: Bits, data: Bits) -> Sums:
    """Replace sums in which a NaN has a part: that of the first weight, or the first datum."""
    nan_weights, nan_data = FP16.is_nan(weights), FP16.is_nan(data)
    if not (nan_weights.any() or nan_data.any()):
        return sums
    first = np.take_along_axis(data, nan_data.argmax(0)[None], 0)[0]
    chosen = np.broadcast_to(first, (len(weights), len(first)))
    own = np.take_along_axis(weights, nan_weights.argmax(1)[:, None], 1)
    has_own = nan_weights.any(1, keepdims=True)
    chosen = np.where(has_own, own, chosen)
    is_nan = has_own | nan_data.any(0, keepdims=True)
    sign, _, mantissa = FP16.split(chosen)
    value = (mantissa - (sign << FP16.mantissa)) << _MANTISSA_BITS
    if sums.mantissa.ndim > 2:
        value, is_nan = np.expand_dims(value, 1), np.expand_dims(is_nan, 1)
    return Sums(
        np.where(is_nan, value, sums.mantissa), np.where(is_nan, NAN_EXPONENT, sums.exponent)
    )
