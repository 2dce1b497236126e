"""Look-up tables: two of them, with linear interpolation inside and slopes outside.

The first table has 65 entries, at powers of two or at equal distances, the second 257 at equal
distances. Where both have a value, or neither has, a priority chooses.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..format.operations import Lut
from .arithmetic import ACCUMULATOR_BITS, Integers, saturate, shift_right

EXPONENTIAL = 0
_SHIFT_BITS = 5
_PRODUCT_BITS = 46
_MOST_BITS = 31
_CLOSEST_BITS = 128
_BEHIND = 20
"""A shift to the left that leads behind any table."""


def signed(value: int, bits: int) -> int:
    """Return the low bits of a number as a signed number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@dataclass(frozen=True)
class Slope:
    """What is added outside of a table: a distance * scale >> shift, to the left if negative."""

    scale: int
    shift: int

    @staticmethod
    def of(stored: int) -> "Slope":
        """Return the slope that a field of `Lut` contains."""
        return Slope(signed(stored, 16), signed(stored >> 16, _SHIFT_BITS))

    def rise(self, distances: Integers) -> Integers:
        """Return what is added at some distances from an end."""
        products = distances * self.scale
        if self.shift >= 0:
            return shift_right(products, self.shift)
        # Larger products are far out of the range of any result.
        return saturate(products, _PRODUCT_BITS) << -self.shift


@dataclass(frozen=True)
class Table:
    """One table: its entries, and where it starts and ends.

    Entries are 2**`bits` apart, or, of an exponential table, 2**(`bits` + i) behind the start.
    """

    entries: tuple[int, ...]
    start: int
    end: int
    exponential: bool
    bits: int
    below: Slope
    above: Slope


def table_fault(lut: Lut) -> str | None:
    """Explain why a table is not computed here, None if it is.

    Entries at equal distances may be as close as they can: with 2**-128 all that is behind the
    start is behind the end, too, as the vendor's compiler makes a table that has no part.
    """
    for value, exponential in (
        (lut.exponential_offset, lut.method == EXPONENTIAL),
        (lut.linear_offset, False),
    ):
        bits = signed(value, 8)
        least = -_MOST_BITS if exponential else -_CLOSEST_BITS
        if not least <= bits <= _MOST_BITS:
            return f"entries 2**{bits} apart, must be 2**{least} to 2**{_MOST_BITS}"
    return None


def tables(lut: Lut, value_bits: int) -> tuple[Table, Table]:
    """Return the two tables of a descriptor, for values of some bits."""
    first = Table(
        lut.exponential,
        signed(lut.exponential_start, value_bits),
        signed(lut.exponential_end, value_bits),
        lut.method == EXPONENTIAL,
        signed(lut.exponential_offset, 8),
        Slope.of(lut.exponential_underflow_slope),
        Slope.of(lut.exponential_overflow_slope),
    )
    second = Table(
        lut.linear,
        signed(lut.linear_start, value_bits),
        signed(lut.linear_end, value_bits),
        False,
        signed(lut.linear_offset, 8),
        Slope.of(lut.linear_underflow_slope),
        Slope.of(lut.linear_overflow_slope),
    )
    return first, second


@dataclass(frozen=True)
class Place:
    """Where values are in a table: the entry before, and the fraction of the way to the next."""

    index: Integers
    fraction: Integers
    below: npt.NDArray[np.bool_]
    above: npt.NDArray[np.bool_]

    @property
    def hit(self) -> npt.NDArray[np.bool_]:
        """Report which values are inside."""
        return ~(self.below | self.above)


def find(values: Integers, table: Table, fraction_bits: int) -> Place:
    """Return the places of values; fractions are cut to some bits."""
    distance = values - table.start
    inside = np.maximum(distance, 1)
    last = len(table.entries) - 1
    if table.exponential:
        # Of values below 2**53, so that the exponent of a float64 is exact.
        log = np.frexp(inside.astype(np.float64))[1].astype(np.int64) - 1
        index = log - table.bits
        rest, width = inside - (np.int64(1) << log), log
    elif table.bits < 0:
        index = np.minimum(inside, 1 << 10) << min(-table.bits, _BEHIND)
        rest, width = np.zeros_like(inside), np.zeros_like(inside)
    else:
        index = inside >> table.bits
        rest, width = inside & ((1 << table.bits) - 1), np.full_like(inside, table.bits)
    left = np.maximum(fraction_bits - width, 0)
    fraction = (rest << left) >> np.maximum(width - fraction_bits, 0)
    below = (distance <= 0) | (index < 0)
    return Place(np.clip(index, 0, last), fraction, below, ~below & (index >= last))


def outside(values: Integers, table: Table, place: Place, bias: int) -> Integers:
    """Return the entry at an end, and the slope there; `bias` moves the start."""
    entries = np.asarray(table.entries, np.int64)
    low = table.below.rise(values - table.start - bias)
    high = table.above.rise(values - table.end)
    ends = entries[np.where(place.below, 0, -1)]
    return ends + saturate(np.where(place.below, low, high), ACCUMULATOR_BITS)


def choose(lut: Lut, places: tuple[Place, Place]) -> npt.NDArray[np.bool_]:
    """Return for which values the second table is used."""
    first, second = places
    chosen = np.where(first.hit == second.hit, bool(lut.hybrid_priority), second.hit)
    chosen[first.above & second.above] = bool(lut.overflow_priority)
    chosen[first.below & second.below] = bool(lut.underflow_priority)
    return chosen
