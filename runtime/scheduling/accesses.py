"""The memory that steps use, and which of them must be done before others because of it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..contents import ABSENT, FIRST_PORT, PROCESS, Contents
from ..memory import Bases
from ..observe.calls import CallScratch, CallTable
from ..step import Step

_END = 1 << 63


class Access(NamedTuple):
    """Use the bytes of a base from `begin` to `end`."""

    base: int
    begin: int
    end: int
    writes: bool

    def meets(self, other: "Access") -> bool:
        """Return whether the order of two accesses of one base matters."""
        overlap = self.begin < other.end and other.begin < self.end
        return overlap and (self.writes or other.writes)

    def hides(self, other: "Access") -> bool:
        """Return whether what meets the other access meets this one, too, for it writes as much."""
        return self.writes and self.begin <= other.begin and other.end <= self.end


class Order:
    """Find, for one step after the other, which of those before must be done."""

    def __init__(self) -> None:
        self._seen: dict[int, list[tuple[Access, int]]] = {}

    def add(self, number: int, accesses: Iterable[Access]) -> set[int]:
        """Add the accesses of a step; return the numbers of steps that must be done before."""
        after: set[int] = set()
        accesses = list(accesses)
        for access in accesses:
            for other, owner in self._seen.get(access.base, ()):
                if owner != number and access.meets(other):
                    after.add(owner)
        for access in accesses:
            seen = self._seen.get(access.base, [])
            kept = [each for each in seen if not access.hides(each[0])]
            self._seen[access.base] = [*kept, (access, number)]
        return after


def accesses_of(
    contents: Contents, calls: CallTable, bases: Bases, step: Step, in_process: frozenset[int]
) -> Iterator[Access]:
    """Yield what a step reads and writes, at the sizes of `bases`.

    A step whose kind lists its buffers uses these alone, and native code what its calls list. In
    the memory of a device, a step may use all that is there, and the ports that are not
    `in_process`. Any other step, such as a loop, may use everything.
    """
    if step.space != PROCESS:
        for base in range(FIRST_PORT, contents.base_count):
            is_port = base < contents.first_space
            is_there = contents.space_of(base) == step.space
            if is_there or (is_port and base not in in_process):
                yield Access(base, 0, _END, True)
    elif step.lists_buffers:
        yield from _buffers(bases, step.operands, False)
        yield from _buffers(bases, step.results, True)
    elif listed := calls.of(step):
        for call in listed:
            yield from _buffers(bases, call.reads, False)
            yield from _buffers(bases, call.writes, True)
            for span in call.scratch:
                yield Access(span.base, *_extent(span), True)
    else:
        for base in range(contents.base_count):
            yield Access(base, 0, _END, True)


def _extent(scratch: CallScratch) -> tuple[int, int]:
    """Return where memory begins and ends; anywhere in its base, if that depends on symbols."""
    offset: Any = scratch.offset
    size: Any = scratch.size
    is_known = isinstance(offset, int) and isinstance(size, int)
    return (offset, offset + size) if is_known else (0, _END)


def _buffers(bases: Bases, indices: Sequence[int], writes: bool) -> Iterator[Access]:
    for index in indices:
        if index != ABSENT:
            buffer = bases.buffer(index)
            yield Access(buffer.base, buffer.offset, buffer.offset + buffer.size_bytes, writes)
