"""Where strategies get memory: from the system, from an object of the user, or from nowhere."""

import mmap
from contextlib import suppress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..memory import PRIVATE, address_of, allocate
from .strategy import Allocator

_PURPOSE = "its values"


class ProcessMemory:
    """Allocate memory of the process in pages of its own, which freed ones leave at once."""

    maps_lazily = True

    def __init__(self) -> None:
        self._blocks: dict[int, NDArray[np.uint8]] = {}
        self._ranges: dict[int, mmap.mmap] = {}

    def allocate(self, size: int, alignment: int) -> int:
        """Return the address of zeroed memory on a page boundary; raise RunError without any."""
        block = allocate(size, _PURPOSE)
        address = address_of(block)
        self._blocks[address] = block
        return address

    def free(self, address: int) -> None:
        """Free a block or a range."""
        self._ranges.pop(address, None)
        del self._blocks[address]

    def reserve(self, size: int) -> int:
        """Return the address of a range; the system gives it pages as they are written."""
        flags = dict(PRIVATE)
        if flags:  # Linux alone has the flag, and needs it where memory is not overcommitted.
            flags["flags"] |= getattr(mmap, "MAP_NORESERVE", 0)
        try:
            block = mmap.mmap(-1, size, **flags)
        except (OSError, OverflowError, MemoryError):
            raise RunError(
                f"the package needs {size} bytes for {_PURPOSE}, the system has less"
            ) from None
        whole = np.frombuffer(block, np.uint8)
        address = address_of(whole)
        self._blocks[address], self._ranges[address] = whole, block
        return address

    def discard(self, address: int, size: int) -> None:
        """Give whole pages of a range back; they are zero when they are used again."""
        start, block = next(
            (start, block)
            for start, block in self._ranges.items()
            if start <= address < start + len(block)
        )
        first = -(-(address - start) // mmap.PAGESIZE) * mmap.PAGESIZE
        length = address + size - start - first
        if length > 0 and hasattr(mmap, "MADV_DONTNEED"):
            with suppress(OSError):  # the pages stay, which is no error
                block.madvise(mmap.MADV_DONTNEED, first, length)


class CheckedAllocator:
    """Allocate memory by an object of the user, and check what it returns."""

    maps_lazily = False

    def __init__(self, allocator: Allocator) -> None:
        for name in ("allocate", "free"):
            if not callable(getattr(allocator, name, None)):
                kind = type(allocator).__name__
                raise RunError(f"allocator is of type {kind}, must have a method '{name}'")
        self._allocator = allocator
        self._live: dict[int, int] = {}

    def allocate(self, size: int, alignment: int) -> int:
        """Return the address that the object returns; raise RunError where that cannot be one."""
        address = cast("Any", self._allocator.allocate(size, alignment))
        what = f"the allocator returned {address!r} for {size} bytes, must return"
        if type(address) is not int or address <= 0:
            raise RunError(f"{what} the address as a positive int")
        if address % alignment:
            raise RunError(f"{what} a multiple of {alignment}")
        for start, length in self._live.items():
            if start < address + size and address < start + length:
                raise RunError(f"{what} memory that is not in use: {length} bytes at {start} are")
        self._live[address] = size
        return address

    def free(self, address: int) -> None:
        """Free what `allocate` has returned."""
        del self._live[address]
        self._allocator.free(address)

    def reserve(self, size: int) -> int:
        """Raise RunError: an object of the user has no ranges."""
        raise RunError("an allocator reserves no range of virtual memory")

    def discard(self, address: int, size: int) -> None:
        """Do nothing: there are no ranges."""


class SimulatedMemory:
    """Hand out addresses that nobody uses, to find what a strategy would do."""

    def __init__(self, maps_lazily: bool = True) -> None:
        self.maps_lazily = maps_lazily
        self._next = 1 << 20

    def allocate(self, size: int, alignment: int) -> int:
        """Return an address that was never handed out before."""
        address = -(-self._next // alignment) * alignment
        self._next = address + size
        return address

    def reserve(self, size: int) -> int:
        """Return the begin of a range."""
        return self.allocate(size, mmap.PAGESIZE)

    def free(self, address: int) -> None:
        """Do nothing."""

    def discard(self, address: int, size: int) -> None:
        """Do nothing."""
