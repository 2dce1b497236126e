"""Register tiles: the part of a contraction that fills the vector registers of a machine."""

import math
from dataclasses import dataclass

from ....dialects.core.machine import Factors, Machine
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.limits import bounds
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import DTYPES


@dataclass(frozen=True)
class Tile:
    """Hold the rows and the vectors of columns of a contraction that are kept in registers."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def fits_registers(machine: Machine, rows: int, vectors: int) -> bool:
    """Return whether accumulators, a row of a panel and the factors fit in the registers."""
    if machine.core.factors is Factors.VECTORS:
        return rows * vectors + vectors + rows <= machine.registers
    return rows * vectors + vectors + 1 <= machine.registers


def most_rows(machine: Machine, vectors: int) -> int:
    """Return the number of rows of some vectors that fill the registers, with one to spare."""
    if machine.core.factors is Factors.VECTORS:
        return max(1, (machine.registers - vectors - 1) // (vectors + 1))
    return max(1, (machine.registers - vectors - 2) // vectors)


def choose_tile(machine: Machine, dtype: str, rows: Size, columns: Size) -> Tile:
    """Fill the registers: accumulators, one row of the panel, one broadcast and one spare.

    Of symbolic sizes, the likely ones count, but a tile has as many rows as any of them needs.
    """
    lanes = machine.lanes(DTYPES[dtype].bits)
    vectors = max(1, min(_most_vectors(machine, rows), -(-likely(columns) // lanes)))
    return Tile(filled(rows, most_rows(machine, vectors)), vectors, lanes)


WIDEST = 4
"""The most vectors of a tile of many rows, of machines that have registers for them."""


def choose_wide_tile(machine: Machine, dtype: str, rows: Size, columns: Size) -> Tile:
    """Fill the registers with all columns, if these are few: what makes rows is read once."""
    best = choose_tile(machine, dtype, rows, columns)
    vectors = -(-likely(columns) // best.lanes)
    if machine.registers < 32 or not best.vectors < vectors <= WIDEST:
        return best
    return Tile(filled(rows, most_rows(machine, vectors)), vectors, best.lanes)


def filled(rows: Size, most: int) -> int:
    """Return the number of rows of a tile that has at most some, and none too many."""
    high = bounds(rows)[1]
    return most if high is None else min(high, most)


def block_tile(machine: Machine, dtype: str, block: int, columns: Size, vectors: int = 0) -> Tile:
    """Return a tile of all rows that were packed together, by `vectors` vectors unless that is 0.

    If rows packed for another machine do not fit in the registers, the tile has those that do.
    """
    best = choose_tile(machine, dtype, block, columns)
    wanted = vectors or best.vectors
    return Tile(block, wanted, best.lanes) if fits_registers(machine, block, wanted) else best


def fit_tile(
    machine: Machine, dtype: str, rows: Size, width: int, most: int = 0, block: int = 0
) -> Tile:
    """Fill the registers of a machine from a panel that was packed `width` columns wide.

    If it was packed for another machine, the tile is a part of the panel, and its vectors may be
    shorter than the machine's. With `most` rows, the tile has all of the panel if that fits in the
    registers. With `block`, no vector crosses a multiple of that number of columns.
    """
    lanes = math.gcd(width, block, machine.lanes(DTYPES[dtype].bits))
    count = width // lanes
    if most and fits_registers(machine, most, count):
        return Tile(most, count, lanes)
    widest = min(_most_vectors(machine, rows), count)
    vectors = next(v for v in range(widest, 0, -1) if count % v == 0)
    return Tile(filled(rows, most_rows(machine, vectors)), vectors, lanes)


PAGE, WAYS = 4096, 8
"""Lines a page apart share a set of a first-level cache, which holds so many of them, or more."""


def evict_each_other(rows: int, apart: int) -> bool:
    """Return whether a set loses lines of rows, some bytes apart, that are read together.

    One way is for the line of a panel that is read beside them.
    """
    return -(-rows * math.gcd(apart, PAGE) // PAGE) >= WAYS


SHARE = 4 << 20
"""Bytes that a product may count on in the last cache, which other cores use too."""

LEAST_NEAR = 128
"""The fewest rows for which panels are read from distant memory: about 60 operations a byte."""


def rows_near(rows: Size, row_bytes: Size) -> int:
    """Return how many rows are to be multiplied by all panels before others, or 0 for all."""
    if is_symbolic(rows) or is_symbolic(row_bytes) or rows * row_bytes <= SHARE:
        return 0
    return max(SHARE // row_bytes, LEAST_NEAR)


SPARE_IN_BLOCKS = 4
"""Registers of a product of blocks of bytes that hold no sums: words of columns, and numbers."""


BLOCK_VECTORS = 2
"""Vectors of columns of a panel of bytes, for any number of rows: one packing serves them all."""


def block_dot_tile(machine: Machine, rows: Size, width: int) -> Tile:
    """Fill the registers with sums of blocks, and of all blocks.

    A panel is `width` columns wide; the tile is a part of it.
    """
    lanes = math.gcd(width, machine.lanes(32))
    vectors = math.gcd(width // lanes, BLOCK_VECTORS)
    most = (machine.registers - SPARE_IN_BLOCKS) // (2 * vectors)
    return Tile(filled(rows, most), vectors, lanes)


def _most_vectors(machine: Machine, rows: Size) -> int:
    if rows == 1:
        return machine.registers // 4
    return 4 if likely(rows) <= 4 and machine.registers == 32 else 2
