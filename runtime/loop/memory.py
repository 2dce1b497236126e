"""Where a loop finds what decides it and what it copies."""

import ctypes
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..contents import Contents
from ..memory import Bases, allocate
from ..nested import Move, Spans, locate

UNLIMITED = (1 << 63) - 1

UNKNOWN = -1
"""The number of iterations of a loop that decides it at run time."""


class LoopMemory(NamedTuple):
    """Record where a loop finds, in each run, what it begins with: it is outside of the body."""

    limit: Callable[[], int] | None
    going: Callable[[], int] | None
    number: Callable[[], int]
    first: Callable[[], Spans]
    elements: Callable[[], Spans]

    def begin(self, limit: int) -> tuple[int, bool, ctypes.c_int64]:
        """Return the most iterations, whether there is one, and where the number of each goes."""
        if limit == UNKNOWN:
            at = self.limit
            limit = UNLIMITED if at is None else ctypes.c_int64.from_address(at()).value
        return limit, _is_true(self.going), ctypes.c_int64.from_address(self.number())


class EndMemory(NamedTuple):
    """Record where a loop finds, at the end of a body, what decides on and what it copies."""

    again: Callable[[], int] | None
    outputs: Callable[[], Spans]
    ends: Callable[[], Spans]

    def goes_on(self) -> bool:
        """Return whether there is another iteration, unless there were as many as there may be."""
        return _is_true(self.again)


def _is_true(at: Callable[[], int] | None) -> bool:
    return at is None or ctypes.c_ubyte.from_address(at()).value != 0


def moves_at_once(
    moves: Sequence[Move], contents: Contents, sources: Bases, targets: Bases
) -> Callable[[], Spans]:
    """Return what says what is copied at the end of an iteration, all at once.

    What one move reads and another one writes is saved first.
    """
    crossing = _crossing(moves, contents)
    if not crossing:
        return locate(sources, moves, targets)
    sizes = [sources.size_bytes(move.source) for move in crossing]
    arrays = [allocate(size, "what a loop carries") for size in sizes]
    located = [(sources.locator(move.source), targets.locator(move.target)) for move in crossing]
    others = locate(sources, [move for move in moves if move not in crossing], targets)

    def spans() -> Spans:
        pairs = list(zip(arrays, located, strict=True))
        saved = [(array.ctypes.data, source(), array.size) for array, (source, _) in pairs]
        restored = [(target(), array.ctypes.data, array.size) for array, (_, target) in pairs]
        return [*saved, *others(), *restored]

    return spans


def _crossing(moves: Sequence[Move], contents: Contents) -> list[Move]:
    """Return the moves whose source is where another move puts something."""
    targets = {_place(contents, move.target): move for move in moves}
    found = ((move, targets.get(_place(contents, move.source))) for move in moves)
    return [move for move, other in found if other not in (None, move)]


def _place(contents: Contents, index: int) -> tuple[int, int]:
    buffer = contents.buffers[index]
    return buffer.base, buffer.offset
