"""Plan memory: give every value that lives for a while a place in one arena. Pure Python.

A linear scan comes first (Poletto and Sarkar, "Linear Scan Register Allocation", 1999): values
are placed as they begin to live, each in the lowest gap that fits. When it wastes memory, best fit
is tried: values are placed one after another, each in the smallest gap that fits between the values
already placed that live at the same time (Pisarchyk and Lee, "Efficient Memory Management for Deep
Neural Net Inference", 2020, section 5.2). Largest first is best most of the time; a few other
orders are tried when it wastes memory, and the best plan wins.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
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

    def __str__(self) -> str:
        return f"{self.size_bytes} bytes, no plan has less than {self.lower_bound}"


def plan_memory(intervals: Sequence[Interval], alignment: int = ALIGNMENT) -> Plan:
    """Place all intervals so that no two that live at once share a byte.

    Offsets are multiples of `alignment`. Keys must differ.
    """
    arena = _Arena(intervals, alignment)
    plans = (arena.plan(offsets) for offsets in arena.strategies())
    best = next(plans)
    for plan in () if best.size_bytes == best.lower_bound else plans:
        if plan.size_bytes < best.size_bytes:
            best = plan
        if plan.size_bytes == plan.lower_bound:
            break
    return best


Offsets = dict[int, int]
"""Where values lie that are placed already, by their numbers."""


class _Arena:
    def __init__(self, intervals: Sequence[Interval], alignment: int) -> None:
        self.intervals = intervals
        self.sizes = [-(-i.size_bytes // alignment) * alignment for i in intervals]
        self.meets: list[list[int]] = [[] for _ in intervals]
        self.bound = 0
        self._sweep()

    def _sweep(self) -> None:
        """Find which values live at once, and the most bytes that live at any one step."""
        active: list[int] = []
        for number in self._ordered(lambda i: (i.first,)):
            interval = self.intervals[number]
            active = [other for other in active if self.intervals[other].last >= interval.first]
            for other in active:
                self.meets[other].append(number)
            self.meets[number] += active
            active.append(number)
            self.bound = max(self.bound, sum(self.sizes[other] for other in active))

    def strategies(self) -> Iterator[Offsets]:
        """Yield where values lie by one way of placing them after the other."""
        yield self._place(lambda i: (i.first,), _lowest_gap)
        for order in _ORDERS:
            yield self._place(order, _smallest_gap)

    def plan(self, offsets: Offsets) -> Plan:
        end = max((offset + self.sizes[number] for number, offset in offsets.items()), default=0)
        keyed = {self.intervals[number].key: offset for number, offset in offsets.items()}
        return Plan(keyed, end, self.bound)

    def _place(self, order: Callable[[Interval], tuple[int, ...]], choose: "Choose") -> Offsets:
        """Place values in an order, each in the gap that is chosen, or after all neighbours."""
        offsets: Offsets = {}
        for number in self._ordered(order):
            near = sorted((offsets[n], self.sizes[n]) for n in self.meets[number] if n in offsets)
            end, gaps = 0, list[tuple[int, int]]()
            for offset, size in near:
                if offset - end >= self.sizes[number]:
                    gaps.append((offset - end, end))
                end = max(end, offset + size)
            offsets[number] = choose(gaps) if gaps else end
        return offsets

    def _ordered(self, order: Callable[[Interval], tuple[int, ...]]) -> list[int]:
        return sorted(range(len(self.intervals)), key=lambda n: order(self.intervals[n]))


Gap = tuple[int, int]
"""The bytes between two neighbours, and where they begin."""

Choose = Callable[[list[Gap]], int]


def _lowest_gap(gaps: list[Gap]) -> int:
    """Return where the lowest gap begins: first fit."""
    return gaps[0][1]


def _smallest_gap(gaps: list[Gap]) -> int:
    """Return where the smallest gap begins; ties go to the lowest: best fit."""
    return min(gaps)[1]
