"""Look-up tables of fp16: places by numbers of 32 bits, entries and results of 17.

Starts and ends of the tables are the bits of fp32 numbers, entries and slopes those of fp16.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..format.operations import Lut
from .floats import (
    FP16,
    FP17,
    FP32,
    Bits,
    add,
    bits_of,
    from_fraction,
    multiply,
    narrow,
    subtract,
    widen,
)
from .lookup import EXPONENTIAL, Place, choose, signed

FRACTION_BITS = 35
_MOST_INDEX = 511
_ONE = FP17.bias << FP17.mantissa


@dataclass(frozen=True)
class Fp16Table:
    """One table: the bits of its entries, start, end and slopes.

    Entries are 2**`step` apart, or, of an exponential table, 2**(`step` + i) behind the start.
    """

    entries: Bits
    start: int
    end: int
    exponential: bool
    step: int
    below: int
    above: int

    def distances(self, values: Bits) -> Bits:
        """Return how far fp32 values are from the start."""
        return subtract(values, np.full_like(values, self.start), FP32)

    def outside(self, values: Bits, place: Place) -> tuple[Bits, Bits]:
        """Return the entry at an end, and the distance from there times a slope, in 17 bits."""
        low = np.full_like(values, self.start)
        if self.exponential:
            low = add(low, np.full_like(values, _power_of_two(self.step)), FP32)
        end = np.where(place.below, low, self.end)
        distance = narrow(subtract(values, end, FP32), FP32, FP17)
        slope = widen(np.where(place.below, self.below, self.above), FP16, FP17)
        entry = widen(self.entries[np.where(place.below, 0, -1)], FP16, FP17)
        return entry, multiply(distance, slope, FP17)


@dataclass(frozen=True)
class Interpolation:
    """How an engine computes a result, in 17 bits.

    `inside` gets the entries before and after a value, and the fraction of the way in 35 bits;
    `outside` the entry at an end and what is added.
    """

    inside: Callable[[Bits, Bits, Bits], Bits]
    outside: Callable[[Bits, Bits], Bits]


def fp16_tables(lut: Lut) -> tuple[Fp16Table, Fp16Table]:
    """Return the two tables of a descriptor."""
    first = Fp16Table(
        np.asarray(lut.exponential, np.int64) & 0xFFFF,
        lut.exponential_start & 0xFFFFFFFF,
        lut.exponential_end & 0xFFFFFFFF,
        lut.method == EXPONENTIAL,
        signed(lut.exponential_offset, 8),
        lut.exponential_underflow_slope & 0xFFFF,
        lut.exponential_overflow_slope & 0xFFFF,
    )
    second = Fp16Table(
        np.asarray(lut.linear, np.int64) & 0xFFFF,
        lut.linear_start & 0xFFFFFFFF,
        lut.linear_end & 0xFFFFFFFF,
        False,
        signed(lut.linear_offset, 8),
        lut.linear_underflow_slope & 0xFFFF,
        lut.linear_overflow_slope & 0xFFFF,
    )
    return first, second


def look_up(values: Bits, lut: Lut) -> Bits:
    """Return the results of SDP's tables, in 32 bits, for values of 32 bits."""
    return widen(select(values, lut, _SDP), FP17, FP32)


def select(values: Bits, lut: Lut, interpolation: Interpolation) -> Bits:
    """Return the results, in 17 bits, of the table that is chosen for each value of 32 bits."""
    results: list[Bits] = []
    places: list[Place] = []
    for table in fp16_tables(lut):
        place = find_place(values, table)
        before = table.entries[place.index]
        after = table.entries[np.minimum(place.index + 1, len(table.entries) - 1)]
        inside = interpolation.inside(before, after, place.fraction)
        outside = interpolation.outside(*table.outside(values, place))
        places.append(place)
        results.append(np.where(place.hit, inside, outside))
    return np.where(choose(lut, (places[0], places[1])), results[1], results[0])


def find_place(values: Bits, table: Fp16Table) -> Place:
    """Return the places of fp32 values; fractions have 35 bits."""
    distance = table.distances(values)
    sign, exponent, mantissa = FP32.split(distance)
    below = (sign == 1) | ((exponent == 0) & (mantissa == 0)) | FP32.is_nan(distance)
    power = exponent - FP32.bias
    last = len(table.entries) - 1
    if table.exponential:
        index = power - table.step
        below |= index < 0
        fraction = mantissa << (FRACTION_BITS - FP32.mantissa)
    else:
        full = mantissa | FP32.hidden
        left = power - table.step - FP32.mantissa
        index = np.minimum(_shift(full, left), _MOST_INDEX)
        fraction = _shift(full, left + FRACTION_BITS) & (1 << FRACTION_BITS) - 1
        fraction = np.where(left >= 0, 0, fraction)
    return Place(np.clip(index, 0, last), fraction, below, ~below & (index >= last))


def _shift(values: Bits, left: Bits) -> Bits:
    """Return values of 24 bits shifted left, or right by a negative number, in 59 bits."""
    return np.where(left >= 0, values << np.clip(left, 0, 35), values >> np.clip(-left, 0, 62))


def _blend(before: Bits, after: Bits, fraction: Bits) -> Bits:
    rest = from_fraction((1 << FRACTION_BITS) - fraction, FRACTION_BITS, FP17)
    rest = np.where(fraction == 0, _ONE, rest)
    part = from_fraction(fraction, FRACTION_BITS, FP17)
    first = multiply(rest, widen(before, FP16, FP17), FP17)
    return add(first, multiply(part, widen(after, FP16, FP17), FP17), FP17)


def _sum(entry: Bits, rise: Bits) -> Bits:
    return add(entry, rise, FP17)


_SDP = Interpolation(_blend, _sum)


def _power_of_two(exponent: int) -> int:
    """Return the bits of 2**exponent in 32 bits."""
    return int(bits_of(np.exp2(np.asarray([exponent], np.float32)))[0])
