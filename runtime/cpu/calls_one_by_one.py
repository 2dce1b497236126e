"""Make the calls of native code one by one, with values that have memory of their own.

`targets/cpu/emit/call_table.py` describes the table of calls that is read here.
"""

import ctypes
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..contents import ARENA
from ..step import CallRuns, Locate, Run

HEADER, ARGUMENT, PHASE = 4, 3, 3
"""The words of a row in a table of calls: its first ones, those of an argument and of a phase."""

CallAt = Callable[[int, int, int], Run]
"""Return what makes one call: by its row, its first phase and the number of its phases."""


def words_of(symbol: str) -> str:
    """Return the symbol of the table of calls of a native function, where that is constant."""
    return f"{symbol}_words"


def constant_table(address: int, calls: int) -> NDArray[np.int64]:
    """Return a copy of the table at an address, in which the phases of a call are in its row."""
    end = 0
    for _ in range(calls):
        _, _, arguments, phases = (ctypes.c_int64 * HEADER).from_address(address + 8 * end)
        end += HEADER + ARGUMENT * arguments + PHASE * phases
    return np.array((ctypes.c_int64 * end).from_address(address))


def divide(
    table: NDArray[np.int64], calls: int, has_phases: bool, locate: Locate, call_at: CallAt
) -> CallRuns:
    """Return the calls of a table, whose arguments in the arena are moved in place.

    `has_phases` is whether those of a call are in its row.
    """
    runs: list[Run] = []
    phase = 0
    for number, row in enumerate(_rows(table, calls, has_phases)):
        arguments, phases = int(table[row + 2]), int(table[row + 3])
        first = row + HEADER
        for at in range(first, first + ARGUMENT * arguments, ARGUMENT):
            if table[at] == ARENA:
                table[at : at + 2] = locate(number, int(table[at + 1]))
        runs.append(call_at(row, phase, phases))
        phase += phases
    return CallRuns(runs)


def _rows(table: NDArray[np.int64], calls: int, has_phases: bool) -> Iterator[int]:
    row = 0
    for _ in range(calls):
        yield row
        arguments, phases = int(table[row + 2]), int(table[row + 3])
        row += HEADER + ARGUMENT * arguments + has_phases * PHASE * phases
