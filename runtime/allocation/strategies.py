"""Memory strategies: which block of memory the next value of a run gets.

A strategy never touches the memory that it hands out: it works on addresses, be they those of the
process, of a GPU, or of a simulation.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple, Protocol

from ..errors import RunError
from ..memory import ALIGNMENT


class Allocator(Protocol):
    """Allocate memory and free it, by address; an object of the user may be one."""

    def allocate(self, size: int, alignment: int, /) -> int:
        """Return the address of `size` bytes, a multiple of `alignment`."""
        ...

    def free(self, address: int, /) -> None:
        """Free what `allocate` has returned."""
        ...


class Memory(Allocator, Protocol):
    """Allocate memory, too, of which pages are mapped when they are first used."""

    def reserve(self, size: int, /) -> int:
        """Return the address of a range of virtual memory; `free` frees all of it."""
        ...

    def discard(self, address: int, size: int, /) -> None:
        """Give the pages of a part of a range back to the system; the addresses stay reserved."""
        ...


class MemoryUse(NamedTuple):
    """Count what a strategy has done since it began.

    `peak_bytes` is the most that values took at a time, `reserved_bytes` what the strategy has of
    the system now, and `most_reserved_bytes` the most that it ever had. `allocations` counts the
    values, `system_allocations` the blocks that the system was asked for.
    """

    strategy: str
    peak_bytes: int
    reserved_bytes: int
    most_reserved_bytes: int
    allocations: int
    system_allocations: int


class Strategy:
    """Base of strategies: `allocate` and `free` by address, between `begin` and `end` of a run."""

    name: ClassVar[str]
    needs_ranges: ClassVar[bool] = False
    """Whether the strategy maps pages itself, in a range of virtual memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._used: dict[int, int] = {}
        self._in_use = self._peak = self._run_peak = 0
        self._reserved = self._most_reserved = 0
        self._allocations = self._system_allocations = 0

    def begin(self, total: int) -> None:
        """Begin a run whose values have `total` bytes together, each rounded up by `rounded`."""
        self._run_peak = 0

    def allocate(self, size: int) -> int:
        """Return the address of at least `size` bytes, aligned to a cache line."""
        size = rounded(size)
        address, block = self._take(size)
        self._used[address] = block
        self._allocations += 1
        self._in_use += block
        self._run_peak = max(self._run_peak, self._in_use)
        self._peak = max(self._peak, self._in_use)
        return address

    def free(self, address: int) -> None:
        """Free the value at an address; raise KeyError where there is none."""
        block = self._used.pop(address)
        self._in_use -= block
        self._give(address, block)

    def end(self) -> None:
        """End a run: free what it left, and give memory back if less than half was in use."""
        for address in [*self._used]:
            self.free(address)
        self._shrink(self._run_peak)

    def close(self) -> None:
        """Give all memory back."""
        self._run_peak = 0
        self.end()

    @property
    def use(self) -> MemoryUse:
        """Return the counts of what was done."""
        return MemoryUse(
            self.name,
            self._peak,
            self._reserved,
            self._most_reserved,
            self._allocations,
            self._system_allocations,
        )

    def _take(self, size: int) -> tuple[int, int]:
        """Return the address of a block, and how many of its bytes are in use."""
        raise NotImplementedError

    def _give(self, address: int, size: int) -> None:
        """Take a block back."""
        raise NotImplementedError

    def _shrink(self, peak: int) -> None:
        """Give memory back where a run of some peak left more than half of it unused."""

    def _obtain(self, size: int) -> int:
        address = self._memory.allocate(size, ALIGNMENT)
        self._system_allocations += 1
        self._reserve(size)
        return address

    def _release(self, address: int, size: int) -> None:
        self._memory.free(address)
        self._reserve(-size)

    def _reserve(self, size: int) -> None:
        self._reserved += size
        self._most_reserved = max(self._most_reserved, self._reserved)


def rounded(size: int) -> int:
    """Return the bytes of the block for a value: whole cache lines, at least one."""
    return max(1, -(-size // ALIGNMENT)) * ALIGNMENT


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
            capacity = 1 << (total - 1).bit_length()
            self._start, self._capacity = self._memory.reserve(capacity), capacity
            self._system_allocations += 1

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
        if self._reserved > 2 * peak:
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
