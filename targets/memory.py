"""Plan memory: give every value that lives for a while a place in one arena. Pure Python.

Values are placed one after another, each in the smallest gap that fits between the values already
placed that live at the same time (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural
Net Inference", 2020, section 5.2). Largest first is best most of the time; a few other orders are
tried when it wastes memory, and the best plan wins.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


@dataclass(frozen=True)
class Interval:
    """Describe a value by its size and by the first and last step at which it must exist."""

    key: Hashable
    size_bytes: int
    first: int
    last: int

    def overlaps(self, other: "Interval") -> bool:
        return self.first <= other.last and other.first <= self.last


_ORDERS: tuple[Callable[[Interval], tuple[int, ...]], ...] = (
    lambda i: (-i.size_bytes, i.first),
    lambda i: (-i.size_bytes * (i.last - i.first + 1), i.first),
    lambda i: (-(i.last - i.first), -i.size_bytes, i.first),
    lambda i: (i.first, -i.size_bytes),
    lambda i: (i.last, -i.size_bytes),
)


@dataclass(frozen=True)
class Plan:
    """Hold the offsets found, the bytes they need, and the least that any plan would need."""

    offsets: dict[Hashable, int]
    size_bytes: int
    lower_bound: int


def plan_memory(intervals: Sequence[Interval]) -> Plan:
    """Place all intervals so that no two that live at once share a byte."""
    bound = _lower_bound(intervals)
    best: Plan | None = None
    for order in _ORDERS:
        offsets, size = _place(sorted(intervals, key=order))
        if best is None or size < best.size_bytes:
            best = Plan(offsets, size, bound)
        if size == bound:
            break
    assert best is not None
    return best


def _place(intervals: Sequence[Interval]) -> tuple[dict[Hashable, int], int]:
    """Place intervals in the order given; return their offsets and the bytes they span."""
    placed: list[tuple[Interval, int]] = []
    offsets: dict[Hashable, int] = {}
    for interval in intervals:
        size = _align(interval.size_bytes)
        offset = _lowest_gap(size, [(o, i) for i, o in placed if i.overlaps(interval)])
        placed.append((interval, offset))
        offsets[interval.key] = offset
    return offsets, max((o + _align(i.size_bytes) for i, o in placed), default=0)


def _lowest_gap(size: int, neighbours: list[tuple[int, Interval]]) -> int:
    """Return the offset of the smallest gap that fits; ties go to the lowest."""
    best: tuple[int, int] | None = None
    end = 0
    for offset, other in sorted(neighbours, key=lambda n: n[0]):
        if (gap := offset - end) >= size and (best is None or gap < best[0]):
            best = (gap, end)
        end = max(end, offset + _align(other.size_bytes))
    return end if best is None else best[1]


def _lower_bound(intervals: Sequence[Interval]) -> int:
    """Return the most bytes that live at any one step."""
    changes: dict[int, int] = {}
    for i in intervals:
        changes[i.first] = changes.get(i.first, 0) + _align(i.size_bytes)
        changes[i.last + 1] = changes.get(i.last + 1, 0) - _align(i.size_bytes)
    live = peak = 0
    for step in sorted(changes):
        live += changes[step]
        peak = max(peak, live)
    return peak


def _align(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
