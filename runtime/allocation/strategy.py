"""What a memory strategy is: it never touches the memory whose addresses it hands out.

These may be addresses in the process, or those of a simulation.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

from ..memory import ALIGNMENT


class Allocator(Protocol):
    """Allocate memory and free it, by address; an object of the user may be one."""

    def allocate(self, size: int, alignment: int, /) -> int:
        """Return the address of `size` bytes, a multiple of `alignment`."""
        ...

    def free(self, address: int, /) -> None:
        """Free what `allocate` has returned."""
        ...


Allocators: TypeAlias = Allocator | Mapping[str, Allocator]
"""An object for the memory of the process, or objects by memory space, `host` or `gpu`."""


class Memory(Allocator, Protocol):
    """Allocate memory, too, of which pages are mapped when they are first used.

    Where it `maps_lazily`, that is: memory of other kinds has all of a range at once.
    """

    maps_lazily: bool

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
    values, `system_allocations` the blocks that the system was asked for. `spaces` has the same for
    the memory of devices, by name.
    """

    strategy: str
    peak_bytes: int
    reserved_bytes: int
    most_reserved_bytes: int
    allocations: int
    system_allocations: int
    spaces: "Mapping[str, MemoryUse]" = MappingProxyType({})


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

    @property
    def maps_lazily(self) -> bool:
        """Return whether a range has pages only where it was used."""
        return self._memory.maps_lazily

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
