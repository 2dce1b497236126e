"""Memory strategies: which block of memory the next value of a run gets."""

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple

from ..errors import RunError
from .strategy import Memory, Strategy


class Plain(Strategy):
    """Ask the system for each value, and free it there: to find wrong accesses."""

    name: ClassVar[str] = "plain"

    def _take(self, size: int) -> tuple[int, int]:
        return self._obtain(size), size

    def _give(self, address: int, size: int) -> None:
        self._release(address, size)


class Block(NamedTuple):
    """Hold a free block."""

    address: int
    size: int


class Pool(Strategy):
    """Base of strategies that keep blocks which were freed, in this order, for later values.

    Where none is large enough, one is given back for a larger one, so that blocks grow. A value
    counts as large as its request, though its block may be larger.
    """

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._free: list[Block] = []
        self._sizes: dict[int, int] = {}

    def _choose(self, size: int) -> int | None:
        """Return the number of the free block for a value, None if all are too small."""
        raise NotImplementedError

    def _grown(self) -> int:
        """Return the number of the free block that a larger one replaces."""
        raise NotImplementedError

    def _take(self, size: int) -> tuple[int, int]:
        chosen = self._choose(size)
        if chosen is not None:
            return self._free.pop(chosen).address, size
        if self._free:
            self._drop(self._grown())
        address = self._obtain(size)
        self._sizes[address] = size
        return address, size

    def _give(self, address: int, size: int) -> None:
        self._free.append(Block(address, self._sizes[address]))

    def _drop(self, number: int) -> None:
        block = self._free.pop(number)
        del self._sizes[block.address]
        self._release(*block)

    def _shrink(self, peak: int) -> None:
        while self._free and self._reserved > 2 * peak:
            self._drop(_largest(self._free))


def _largest(blocks: list[Block]) -> int:
    return max(range(len(blocks)), key=lambda number: blocks[number].size)


class MostRecentlyUsed(Pool):
    """Use the block again that was freed last, of those that are large enough: caches have it."""

    name: ClassVar[str] = "mru"

    def _choose(self, size: int) -> int | None:
        numbers = reversed(range(len(self._free)))
        return next((number for number in numbers if self._free[number].size >= size), None)

    def _grown(self) -> int:
        return len(self._free) - 1


class BestFit(Pool):
    """Use the smallest block again that is large enough; of equal ones, that freed last."""

    name: ClassVar[str] = "bestfit"

    def _choose(self, size: int) -> int | None:
        fitting = [(b.size, -n) for n, b in enumerate(self._free) if b.size >= size]
        return -min(fitting)[1] if fitting else None

    def _grown(self) -> int:
        return _largest(self._free)


class Compact(Strategy):
    """Place values in one range of virtual memory, of which pages are mapped when first used.

    A value gets the smallest gap that it fits in, the lowest of equal ones, or else the end of what
    is in use. Gaps that touch are one.
    """

    name: ClassVar[str] = "compact"
    needs_ranges: ClassVar[bool] = True

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._start = self._capacity = 0
        self._end = self._run_end = 0
        self._gaps: list[tuple[int, int]] = []
        """Where gaps below the end of what is in use begin, and their sizes."""

    def begin(self, total: int) -> None:
        super().begin(total)
        self._run_end = 0
        if total > self._capacity:
            self._unreserve()
            capacity = 1 << (total - 1).bit_length() if self.maps_lazily else total
            self._start, self._capacity = self._memory.reserve(capacity), capacity
            self._system_allocations += 1
            if not self.maps_lazily:
                self._reserve(capacity)

    def _take(self, size: int) -> tuple[int, int]:
        fitting = [(gap, at) for at, gap in self._gaps if gap >= size]
        if fitting:
            gap, at = min(fitting)
            self._gaps.remove((at, gap))
            if gap > size:
                insort(self._gaps, (at + size, gap - size))
            return self._start + at, size
        at, self._end = self._end, self._end + size
        if self._end > self._capacity:
            raise AssertionError(f"values take {self._end} bytes of {self._capacity}")
        self._run_end = max(self._run_end, self._end)
        self._reserve(max(0, self._end - self._reserved))
        return self._start + at, size

    def _give(self, address: int, size: int) -> None:
        at = address - self._start
        number = bisect_left(self._gaps, (at, 0))
        if number < len(self._gaps) and self._gaps[number][0] == at + size:
            size += self._gaps.pop(number)[1]
        if number and sum(self._gaps[number - 1]) == at:
            at, before = self._gaps.pop(number - 1)
            size += before
        if at + size == self._end:
            self._end = at
        else:
            insort(self._gaps, (at, size))

    def _shrink(self, peak: int) -> None:
        if self._reserved > 2 * peak and not self.maps_lazily:
            self._unreserve()
        elif self._reserved > 2 * peak:
            kept = self._run_end if peak else 0
            self._memory.discard(self._start + kept, self._reserved - kept)
            self._reserve(kept - self._reserved)

    def close(self) -> None:
        super().close()
        self._unreserve()

    def _unreserve(self) -> None:
        if self._capacity:
            self._memory.free(self._start)
            self._reserve(-self._reserved)
        self._start = self._capacity = 0


STATIC = "static"
"""The strategy of the compiler: one arena, in which each value has its place before any run."""

_EVERY: tuple[type[Strategy], ...] = (Plain, MostRecentlyUsed, BestFit, Compact)
STRATEGIES: Mapping[str, Callable[[Memory], Strategy]] = {each.name: each for each in _EVERY}


def check_strategy(name: object) -> None:
    """Raise RunError for what is not the name of a strategy."""
    names = (STATIC, *STRATEGIES)
    if name not in names:
        raise RunError(f"memory is {name!r}, must be one of {', '.join(names)}")


def check_ranges(name: str) -> None:
    """Raise RunError for a strategy that maps pages itself, so that no allocator can serve it."""
    served = [each.name for each in _EVERY if not each.needs_ranges]
    if name not in served:
        raise RunError(
            f"memory is '{name}', with an allocator it must be one of {', '.join(served)}"
        )
