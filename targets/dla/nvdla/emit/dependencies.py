"""What operations wait for: a notification for each order that the queues do not give.

Operations are in the order in which they may run one after another, so that all queues are, too.
Then an operation needs to be notified by the last one of each other engine that uses the same
bytes; and where that one notifies an earlier operation of the queue, its order is given already.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..format.network import ENGINES, Consumer, Dependency, Event
from ..format.operations import CONV, SDP
from .memory_map import Spot


@dataclass(frozen=True)
class Entry:
    """An operation: its engine, the bytes it uses, and whether the one before feeds it."""

    engine: int
    reads: tuple[Spot, ...]
    writes: tuple[Spot, ...]
    is_fed: bool = False


def heads_of(entries: Sequence[Entry]) -> tuple[int, ...]:
    """Return the first operation of each engine, -1 where there is none."""
    engines = [each.engine for each in entries]
    return tuple(engines.index(e) if e in engines else -1 for e in range(ENGINES))


def dependencies(entries: Sequence[Entry]) -> list[Dependency]:
    """Return what each operation waits for, and what it notifies."""
    slots: list[dict[int, Consumer]] = [{} for _ in entries]
    parents = [Consumer() for _ in entries]
    counts = [0] * len(entries)
    last: dict[int, int] = {}

    def notify(source: int, number: int, event: Event) -> None:
        slots[source][entries[number].engine] = Consumer(number, event)
        counts[number] += 1

    waits = _Waits(entries)
    for number, entry in enumerate(entries):
        if entry.engine in last:
            notify(last[entry.engine], number, Event.PROGRAMMED)
        last[entry.engine] = number
        if entry.is_fed:
            notify(number - 1, number, Event.PROGRAMMED)
            parents[number] = Consumer(number - 1, Event.ENABLED)
            counts[number - 1] += 1
        for source in waits.of(number):
            if entry.engine not in slots[source]:
                notify(source, number, Event.COMPLETED)
    return [
        Dependency(
            index=number,
            engine=entry.engine,
            dependency_count=counts[number],
            consumers=tuple(slots[number].get(e, Consumer()) for e in range(ENGINES)),
            fused_parent=parents[number],
        )
        for number, entry in enumerate(entries)
    ]


class _Waits:
    """Find the operations of other engines that one has to wait for."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.queues: list[list[int]] = [[] for _ in range(ENGINES)]
        self.covered: dict[tuple[int, int], int] = {}

    def of(self, number: int) -> Iterator[int]:
        """Yield the operations to wait for; numbers must be asked for in order."""
        entry = self.entries[number]
        for engine, queue in enumerate(self.queues):
            # A convolution has ended when the SDP that it feeds has, which is in SDP's queue.
            if engine == entry.engine or (engine, entry.engine) == (CONV, SDP):
                continue
            done = self.covered.get((entry.engine, engine), -1)
            for other in reversed(queue):
                if other <= done:
                    break
                if _meet(entry, self.entries[other]):
                    self.covered[entry.engine, engine] = other
                    yield other
                    break
        self.queues[entry.engine].append(number)


def _meet(one: Entry, other: Entry) -> bool:
    """Report whether two operations use the same bytes, and one of them writes."""
    return (
        _overlap(one.writes, other.writes)
        or _overlap(one.reads, other.writes)
        or _overlap(one.writes, other.reads)
    )


def _overlap(some: Sequence[Spot], others: Sequence[Spot]) -> bool:
    return any(
        a.memory == b.memory and a.offset < b.offset + b.size and b.offset < a.offset + a.size
        for a in some
        for b in others
    )
