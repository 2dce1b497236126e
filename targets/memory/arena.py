"""Plan memory: give every value that lives for a while a place in one arena. Pure Python.

A linear scan comes first (Poletto and Sarkar, "Linear Scan Register Allocation", 1999): values
are placed as they begin to live, each in the lowest gap that fits. When it wastes memory, best fit
is tried: values are placed one after another, each in the smallest gap that fits between the values
already placed that live at the same time (Pisarchyk and Lee, "Efficient Memory Management for Deep
Neural Net Inference", 2020, section 5.2). Largest first is best most of the time; a few other
orders are tried when it wastes memory, and the best plan wins.

Where a memory is too small for that plan, values are placed as they begin to live at an end of a
gap, and where one does not fit, those before it are moved to other ends: what streams through
buffers of about a size leaves no holes that way. After that orders are searched for one that fits:
a value that lies too high is placed earlier, before values that live at the same time. Worse orders
are kept half of the time, to come out of dead ends. Vela, the compiler for Ethos-U, searches in a
similar way.
"""

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from ...dialects.core.sizes.atoms import Size

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


@dataclass(frozen=True)
class Interval:
    """Describe a value by its size and by the first and last step at which it must exist."""

    key: Hashable
    size_bytes: Size
    first: int
    last: int

    def overlaps(self, other: "Interval") -> bool:
        return self.first <= other.last and other.first <= self.last


By = Callable[[Interval], tuple[int, ...]]
"""What an order sorts values by."""


def _begin(interval: Interval) -> tuple[int, ...]:
    return (interval.first,)


_ORDERS: tuple[By, ...] = (
    lambda i: (-i.size_bytes, i.first),
    lambda i: (-i.size_bytes * (i.last - i.first + 1), i.first),
    lambda i: (-(i.last - i.first), -i.size_bytes, i.first),
    lambda i: (i.first, -i.size_bytes),
    lambda i: (i.last, -i.size_bytes),
)


@dataclass(frozen=True)
class Plan:
    """Hold the offsets found, the bytes they need, and the least that any plan would need."""

    offsets: dict[Hashable, Size]
    size_bytes: int
    lower_bound: int

    def __str__(self) -> str:
        return f"{self.size_bytes} bytes, no plan has less than {self.lower_bound}"


def plan_arena(
    intervals: Sequence[Interval], alignment: int = ALIGNMENT, limit: int | None = None
) -> Plan:
    """Place all intervals so that no two that live at once share a byte.

    Offsets are multiples of `alignment`. Keys must differ. A plan that exceeds the limit, where
    there is one, is what is left when a search for a smaller one was in vain.
    """
    arena = _Arena(intervals, alignment)
    plans = (arena.plan(offsets) for offsets in arena.strategies())
    best = next(plans)
    for plan in () if best.size_bytes == arena.bound else plans:
        if plan.size_bytes < best.size_bytes:
            best = plan
        if plan.size_bytes == arena.bound:
            break
    if limit is None or not arena.bound <= limit < best.size_bytes:
        return best
    found = arena.backtrack(limit)
    found = arena.search(limit) if found is None else found
    return best if found is None else arena.plan(found)


STEPS = 8
"""How often, for each value, one is placed before backtracking gives up."""

TRIES, PLACED = 400, 200_000
"""How many orders a search looks at, and how many values it places for that at the most.

Most of what it finds it finds in fewer.
"""

Offsets = dict[int, int]
"""Where values lie that are placed already, by their numbers."""


class _Arena:
    def __init__(self, intervals: Sequence[Interval], alignment: int) -> None:
        self.intervals = intervals
        self.alignment = alignment
        self.sizes = [-(-i.size_bytes // alignment) * alignment for i in intervals]
        self.meets: list[list[int]] = [[] for _ in intervals]
        self.bound = 0
        self._sweep()

    def _sweep(self) -> None:
        """Find which values live at once, and the most bytes that live at any one step."""
        active: list[int] = []
        for number in self._ordered(_begin):
            interval = self.intervals[number]
            active = [other for other in active if self.intervals[other].last >= interval.first]
            for other in active:
                self.meets[other].append(number)
            self.meets[number] += active
            active.append(number)
            self.bound = max(self.bound, sum(self.sizes[other] for other in active))

    def strategies(self) -> Iterator[Offsets]:
        """Yield where values lie by one way of placing them after the other."""
        yield self._place(self._ordered(_begin), _lowest_gap)
        for order in _ORDERS:
            yield self._place(self._ordered(order), _smallest_gap)

    def backtrack(self, limit: int) -> Offsets | None:
        """Place values as they begin to live, and move earlier ones where one does not fit.

        Return None when that takes too many steps, or no ends of gaps are left.
        """
        order, top = self._ordered(_begin), limit // self.alignment * self.alignment
        offsets: Offsets = {}
        left: list[list[int]] = []
        for _ in range(STEPS * len(order)):
            depth = len(offsets)
            if depth == len(order):
                return offsets
            if depth == len(left):
                left.append(self._ends(order[depth], offsets, top))
            if left[depth]:
                offsets[order[depth]] = left[depth].pop(0)
                continue
            left.pop()
            if not depth:
                return None
            del offsets[order[depth - 1]]
        return None

    def _ends(self, number: int, offsets: Offsets, top: int) -> list[int]:
        """Return where a value may lie at an end of a gap, in the smallest gap first."""
        size, gaps = self.sizes[number], self._gaps(number, offsets)
        *inner, (_, end) = gaps
        if top - end >= size:
            inner.append((top - end, end))
        return list(
            dict.fromkeys(at for gap, low in sorted(inner) for at in (low, low + gap - size))
        )

    def search(self, limit: int) -> Offsets | None:
        """Change orders until one fits a limit; return None when none of those tried does.

        The same intervals always give the same plan.
        """
        draw = random.Random(len(self.intervals))
        tried = [self._first_fit(self._ordered(by), limit) for by in (_begin, *_ORDERS)]
        state = min(tried, key=lambda each: each.excess)
        for _ in range(min(TRIES, PLACED // len(self.intervals))):
            if not state.excess:
                return state.offsets
            high = [n for n in state.order if state.offsets[n] + self.sizes[n] > limit]
            moved = self._first_fit(self._moved(state.order, draw.choice(high), draw), limit)
            if moved.excess <= state.excess or draw.random() < 0.5:
                state = moved
        return None

    def _first_fit(self, order: list[int], limit: int) -> "_State":
        offsets = self._place(order, _lowest_gap)
        ends = (offset + self.sizes[number] for number, offset in offsets.items())
        return _State(order, offsets, sum(max(0, end - limit) for end in ends))

    def _moved(self, order: list[int], number: int, draw: random.Random) -> list[int]:
        """Return an order with a value before the first of those it meets, or another of them."""
        rest = [other for other in order if other != number]
        places = {other: place for place, other in enumerate(rest)}
        near = [places[other] for other in self.meets[number]]
        place = min(near) if draw.random() < 0.4 else draw.choice(near)
        return [*rest[:place], number, *rest[place:]]

    def plan(self, offsets: Offsets) -> Plan:
        end = max((offset + self.sizes[number] for number, offset in offsets.items()), default=0)
        keyed = {self.intervals[number].key: offset for number, offset in offsets.items()}
        return Plan(keyed, end, self.bound)

    def _place(self, order: Sequence[int], choose: "Choose") -> Offsets:
        """Place values in an order, each in the gap that is chosen, or after all neighbours."""
        offsets: Offsets = {}
        for number in order:
            *gaps, (_, end) = self._gaps(number, offsets)
            offsets[number] = choose(gaps) if gaps else end
        return offsets

    def _gaps(self, number: int, offsets: Offsets) -> "list[Gap]":
        """Return the gaps that a value fits in, from low to high; the last one has no end."""
        near = sorted((offsets[n], self.sizes[n]) for n in self.meets[number] if n in offsets)
        end, gaps = 0, list[tuple[int, int]]()
        for offset, size in near:
            if offset - end >= self.sizes[number]:
                gaps.append((offset - end, end))
            end = max(end, offset + size)
        return [*gaps, (0, end)]

    def _ordered(self, by: "By") -> list[int]:
        return sorted(range(len(self.intervals)), key=lambda n: by(self.intervals[n]))


@dataclass(frozen=True)
class _State:
    """An order, where it puts values, and by how many bytes these exceed a limit, all together."""

    order: list[int]
    offsets: Offsets
    excess: int


Gap = tuple[int, int]
"""The bytes between two neighbours, and where they begin."""

Choose = Callable[[list[Gap]], int]


def _lowest_gap(gaps: list[Gap]) -> int:
    """Return where the lowest gap begins: first fit."""
    return gaps[0][1]


def _smallest_gap(gaps: list[Gap]) -> int:
    """Return where the smallest gap begins; ties go to the lowest: best fit."""
    return min(gaps)[1]
