"""Register tiles: how much of a contraction the vector registers of a machine hold."""

import math
from dataclasses import dataclass

from ....dialects.core.machine import Machine
from ....dialects.core.tensor import DTYPES


@dataclass(frozen=True)
class Tile:
    """Schedule a contraction: so many rows by so many vectors of columns in registers."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def fits_registers(machine: Machine, rows: int, vectors: int) -> bool:
    """Say whether accumulators, one row of a panel and one broadcast fit in the registers."""
    return rows * vectors + vectors + 1 <= machine.registers


def most_rows(machine: Machine, vectors: int) -> int:
    """Return how many rows of so many vectors fill the registers, with one to spare."""
    return max(1, (machine.registers - vectors - 2) // vectors)


def choose_tile(machine: Machine, dtype: str, rows: int, columns: int) -> Tile:
    """Fill the registers: accumulators, one row of the panel, one broadcast and one spare."""
    lanes = machine.lanes(DTYPES[dtype].bits)
    vectors = max(1, min(_most_vectors(machine, rows), -(-columns // lanes)))
    return Tile(min(rows, most_rows(machine, vectors)), vectors, lanes)


def block_tile(machine: Machine, dtype: str, block: int, columns: int, vectors: int = 0) -> Tile:
    """Take all rows that were packed together, by so many vectors if that is not left open.

    They may have been packed for another machine: where they do not fit in the registers, a tile
    takes as many of them as do.
    """
    best = choose_tile(machine, dtype, block, columns)
    wanted = vectors or best.vectors
    return Tile(block, wanted, best.lanes) if fits_registers(machine, block, wanted) else best


def fit_tile(
    machine: Machine, dtype: str, rows: int, width: int, most: int = 0, block: int = 0
) -> Tile:
    """Fill the registers of a machine from a panel that was packed `width` columns wide.

    It may have been packed for another machine: then a tile takes a part of it, and vectors may
    be shorter than the machine's. With `most` rows, if they are given, a tile takes all of the
    panel where the registers hold that. With `block`, no vector goes beyond so many columns.
    """
    lanes = math.gcd(width, block, machine.lanes(DTYPES[dtype].bits))
    count = width // lanes
    if most and fits_registers(machine, most, count):
        return Tile(most, count, lanes)
    widest = min(_most_vectors(machine, rows), count)
    vectors = next(v for v in range(widest, 0, -1) if count % v == 0)
    return Tile(min(rows, most_rows(machine, vectors)), vectors, lanes)


def _most_vectors(machine: Machine, rows: int) -> int:
    if rows == 1:
        return machine.registers // 4
    return 4 if rows <= 4 and machine.registers == 32 else 2
