"""Plan memory: give every value that lives for a while a place in one arena. Pure Python.

Values are placed largest first, each at the lowest gap that fits between the values already
placed that live at the same time (best-fit by decreasing size; Pisarchyk and Lee, "Efficient
Memory Management for Deep Neural Net Inference", 2020, section 5.2).
"""

from collections.abc import Hashable, Sequence
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


@dataclass(frozen=True)
class Plan:
    """Hold the offsets found, the bytes they need, and the least that any plan would need."""

    offsets: dict[Hashable, int]
    size_bytes: int
    lower_bound: int


def plan_memory(intervals: Sequence[Interval]) -> Plan:
    """Place all intervals so that no two that live at once share a byte."""
    placed: list[tuple[Interval, int]] = []
    offsets: dict[Hashable, int] = {}
    for interval in sorted(intervals, key=lambda i: (-i.size_bytes, i.first)):
        size = _align(interval.size_bytes)
        offset = _lowest_gap(size, [(o, i) for i, o in placed if i.overlaps(interval)])
        placed.append((interval, offset))
        offsets[interval.key] = offset
    peak = max((o + _align(i.size_bytes) for i, o in placed), default=0)
    return Plan(offsets, peak, _lower_bound(intervals))


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
