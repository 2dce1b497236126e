"""Multiply and add fp16 as the MAC array does: one sum for each kernel and block of channels.

A product has its mantissas in steps of 2**4, so that products differ by whole digits of 16; those
with smaller exponents than the largest are shifted right. The multiplier has its product in two
parts, which are shifted each for itself: a product may be 1 less than the shift of the whole.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .floats import FP16, Bits

Words = npt.NDArray[np.uint32]
SUM_BIAS = 50
"""A sum's value is `mantissa` * 2**(`exponent` - 50)."""

NAN_EXPONENT = 63
_MANTISSA_BITS = 27
_DIGITS = 8
_ONES, _LEADING = np.uint32(0xFFFF), np.uint32(0x10000)
_OFFSET = 0x5555_0000
"""What the leading bits of the eight partial products add to a product."""

_GONE = 32
_CHUNK = 1 << 15


@dataclass(frozen=True)
class Operand:
    """One operand of products: exponents in fours, aligned mantissas, signs; 0 is not used."""

    exponent: npt.NDArray[np.int32]
    mantissa: Words
    negative: npt.NDArray[np.bool_]
    used: npt.NDArray[np.bool_]

    @staticmethod
    def of(bits: Bits) -> "Operand":
        """Return the operand of fp16 numbers; infinity is 2**16 here."""
        sign, exponent, mantissa = FP16.split(bits)
        full = np.where(exponent > 0, mantissa | FP16.hidden, mantissa)
        aligned = full << np.where(exponent > 0, exponent & 3, 1)
        used = (exponent != 0) | (mantissa != 0)
        return Operand((exponent >> 2).astype(np.int32), aligned.astype(np.uint32), sign == 1, used)


@dataclass(frozen=True)
class Sums:
    """Sums of products; a NaN has the exponent 63, and its sign and mantissa at the top."""

    mantissa: Bits
    exponent: Bits


def sums_of_products(weights: Bits, data: Bits) -> Sums:
    """Return the sums [K, P] over C of the products of fp16 weights [K, C] and data [C, P]."""
    kernels, channels = weights.shape
    width = max(1, _CHUNK // max(1, kernels * channels))
    parts = [
        _sums(Operand.of(weights), Operand.of(data[:, start : start + width]))
        for start in range(0, data.shape[1], width)
    ]
    mantissa = np.concatenate([each.mantissa for each in parts], 1)
    exponent = np.concatenate([each.exponent for each in parts], 1)
    return _with_nans(Sums(mantissa, exponent), weights, data)


def _sums(weights: Operand, data: Operand) -> Sums:
    used = weights.used[:, :, None] & data.used
    exponents = np.where(used, weights.exponent[:, :, None] + data.exponent, 0)
    largest = exponents.max(1, keepdims=True)
    shifts = 4 * (largest - exponents)
    negative = weights.negative[:, :, None] ^ data.negative
    product = (weights.mantissa[:, :, None] * data.mantissa).astype(np.int64)
    total = np.where(negative, -product, product) + _OFFSET
    terms = (total >> shifts) - (_OFFSET >> shifts)
    shifted = used & (shifts > 0) & (shifts < _GONE)
    if shifted.any():
        terms -= _carries(weights, data, np.minimum(shifts, _GONE - 1)) & shifted
    terms[~used | (shifts >= _GONE)] = 0
    return Sums(terms.sum(1), 4 * largest[:, 0].astype(np.int64))


def _carries(weights: Operand, data: Operand, shifts: npt.NDArray[np.int32]) -> Words:
    """Return 1 where the parts of a product that are shifted out add up to a whole."""
    first, second = _product_parts(weights, data)
    mask = (np.uint32(1) << shifts.astype(np.uint32)) - np.uint32(1)
    low = (first & mask) + (second & mask)
    return low >> shifts.astype(np.uint32) & np.uint32(1)


def _product_parts(weights: Operand, data: Operand) -> tuple[Words, Words]:
    """Return two numbers whose sum is the product and `_OFFSET`.

    Digits of the weight of 2 bits, in the range -2 to 2 (Booth's encoding), select multiples of the
    data; a negative one is inverted, and its 1 is added with the next. Carry-save adders then
    reduce the ten numbers to two.
    """
    rows: list[Words] = []
    ones: list[Words] = []
    flip = np.where(data.negative, np.uint32(0xFFFFFFFF), np.uint32(0))
    double = data.mantissa << np.uint32(1)
    for single, twice, negative, nonzero in _digits(weights):
        multiple = (data.mantissa & single) | (double & twice)
        inverted = (negative ^ flip) & nonzero
        rows.append((multiple ^ (inverted & _ONES)) | (~inverted & _LEADING))
        ones.append(inverted & np.uint32(1))
    terms = [rows[0]]
    for digit in (1, 2, 3):
        terms.append(_placed(rows[digit], ones[digit - 1], digit))
    terms.append(ones[3] << np.uint32(6))
    left = _add_all(terms)
    terms = [rows[4] << np.uint32(8)]
    for digit in (5, 6, 7):
        terms.append(_placed(rows[digit], ones[digit - 1], digit))
    terms.append(ones[7] << np.uint32(14))
    return _add_all([*left, *_add_all(terms)])


def _placed(row: Words, one: Words, digit: int) -> Words:
    """Return a multiple in its place, with the 1 of the digit before."""
    return row << np.uint32(2 * digit) | one << np.uint32(2 * digit - 2)


def _digits(weights: Operand) -> list[tuple[Words, Words, Words, Words]]:
    """Return masks [K, C, 1] for each digit: it is 1, it is 2, it is negative, it is not 0."""
    everything, nothing = np.uint32(0xFFFFFFFF), np.uint32(0)
    mantissa = weights.mantissa << np.uint32(1)
    found: list[tuple[Words, Words, Words, Words]] = []
    for digit in range(_DIGITS):
        code = (mantissa >> np.uint32(2 * digit) & np.uint32(7)).astype(np.int64)
        single, twice = np.isin(code, (1, 2, 5, 6)), np.isin(code, (3, 4))
        negative = (code >= 4) ^ weights.negative
        masks = [
            np.where(each, everything, nothing)[:, :, None]
            for each in (single, twice, negative, single | twice)
        ]
        found.append((masks[0], masks[1], masks[2], masks[3]))
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
    chosen = np.broadcast_to(first, sums.mantissa.shape)
    own = np.take_along_axis(weights, nan_weights.argmax(1)[:, None], 1)
    has_own = nan_weights.any(1, keepdims=True)
    chosen = np.where(has_own, own, chosen)
    is_nan = has_own | nan_data.any(0, keepdims=True)
    sign, _, mantissa = FP16.split(chosen)
    value = (mantissa - (sign << FP16.mantissa)) << _MANTISSA_BITS
    return Sums(
        np.where(is_nan, value, sums.mantissa), np.where(is_nan, NAN_EXPONENT, sums.exponent)
    )
