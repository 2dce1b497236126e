"""Hold the memory of a session, and tell native code where it is."""

import ctypes
import mmap
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .contents import ARENA, FIRST_PORT, PREPARED, PROCESS, WEIGHTS, Buffer, Contents
from .dtypes import stored
from .errors import RunError

ALIGNMENT = 64
_HUGE_PAGE = 2 << 20

# A forked process gets a copy of its own. Windows has no such flags, and no fork.
PRIVATE: dict[str, int] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)

_NOTHING = np.empty(0, np.uint8)

_THREADS = -1
"""Stands for a base where memory is kept for threads."""

_first_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


class Place(NamedTuple):
    """Hold an address in a memory space."""

    address: int
    space: str = PROCESS


class OnDevice(Protocol):
    """Stand for an array in another memory space."""

    @property
    def space(self) -> str:
        """Return the name of its memory space."""
        ...

    @property
    def address(self) -> int:
        """Return where it is."""
        ...

    @property
    def nbytes(self) -> int:
        """Return how many bytes it takes."""
        ...


Bound: TypeAlias = NDArray[Any] | OnDevice
"""The memory of an input or an output."""


class Buffers(Protocol):
    """List buffers by their numbers."""

    def __getitem__(self, index: int, /) -> Buffer:
        """Return the buffer of a number."""
        ...


class Bases:
    """Hold the memory of buffers: the arena, the constants, and the arrays of the current run.

    `arrays` keeps them alive, `pointers` is the table of their addresses for native code.
    """

    def __init__(
        self,
        contents: Contents,
        weights: NDArray[np.uint8],
        prepared: NDArray[np.uint8],
        devices: Mapping[int, Place] = MappingProxyType({}),
        values: int = 0,
        has_arena: bool = True,
    ) -> None:
        """Allocate the arena of a session; `devices` has the bases in other memory spaces.

        Behind these are bases of `values` that a memory strategy allocates, from
        `contents.base_count` on. Without an arena, all values are among them.
        """
        staged = contents.arenas_of_stages
        count = contents.base_count + values if staged or values else contents.first_space
        self.has_arena = has_arena
        self._buffers: Buffers = contents.buffers
        self.arrays: list[NDArray[Any]] = [_NOTHING] * count
        self.pointers = (ctypes.c_void_p * count)()
        self._fixed = dict(devices)
        self._devices = dict(devices)
        self._kept: list[OnDevice] = []
        self._ports = [_NOTHING] * (count - FIRST_PORT)
        self._grown: dict[int, NDArray[np.uint8]] = {}
        is_planned = has_arena and not contents.regions
        self.bind(ARENA, allocate(contents.memory.arena_bytes if is_planned else 0))
        self.bind(WEIGHTS, weights)
        self.bind(PREPARED, prepared)

    @property
    def address(self) -> int:
        """Return where native code finds its table of bases."""
        return ctypes.addressof(self.pointers)

    def bind(self, base: int, array: Bound) -> None:
        """Make `array` the memory of `base`; it must be contiguous."""
        if not isinstance(array, np.ndarray):
            self._devices[base] = Place(array.address, array.space)
            self._kept.append(array)
            return
        self.arrays[base] = array
        self.pointers[base] = address_of(array)

    def bind_address(self, base: int, address: int, size: int, space: str = PROCESS) -> None:
        """Make some bytes at an address in a memory space that of `base`; others own them."""
        if space != PROCESS:
            self._devices[base] = Place(address, space)
            return
        block = (ctypes.c_uint8 * size).from_address(address)
        self.arrays[base] = np.ctypeslib.as_array(block)
        self.pointers[base] = address

    def unbind(self, base: int) -> None:
        """Forget the memory of `base`: what reads it from now on fails."""
        if self._devices.pop(base, None) is not None:
            return
        self.arrays[base] = _NOTHING
        self.pointers[base] = 0

    def release(self) -> None:
        """Forget the arrays of the last run."""
        self.arrays[FIRST_PORT:] = self._ports
        if len(self._devices) != len(self._fixed):
            self._devices.clear()
            self._devices.update(self._fixed)
            self._kept.clear()

    @property
    def buffers(self) -> "Buffers":
        """Return the buffers that are in this memory."""
        return self._buffers

    def at(self, buffers: "Buffers") -> "Bases":
        """Return the same memory with other shapes and offsets of the buffers in it."""
        bases = Bases.__new__(Bases)
        vars(bases).update(vars(self), _buffers=buffers)
        return bases

    def move(self, base: int, place: Place) -> None:
        """Record where a base in another memory space is from now on."""
        self._fixed[base] = self._devices[base] = place

    def grow(self, size: int) -> None:
        """Make the arena at least as large, by a power of two; what was in it is lost."""
        if self.has_arena and size > self.arrays[ARENA].size:
            self.trim()
            self.bind(ARENA, allocate(1 << (size - 1).bit_length()))

    def grow_stage(self, base: int, size: int) -> None:
        """Give a run the arena of a stage, of at least some bytes; later runs may use it again."""
        kept = self._grown_to(base, size)
        if self.arrays[base] is not kept:
            self.bind(base, kept)

    def grow_carried(self, base: int, size: int) -> None:
        """Give a carried arena capacity for some bytes, by a power of two; it keeps its content."""
        kept = self._grown.get(base, _NOTHING)
        grown = self._grown_to(base, size)
        if grown is not kept:
            grown[: kept.size] = kept
        if self.arrays[base] is not grown:
            self.bind(base, grown)

    def exchange(self, base: int, other: int) -> None:
        """Exchange the memory of two carried arenas."""
        kept = self._grown
        kept[base], kept[other] = kept.get(other, _NOTHING), kept.get(base, _NOTHING)
        self.bind(base, kept[base])
        self.bind(other, kept[other])

    def spare(self, base: int, size: int) -> int:
        """Return the address of some bytes that replace a carried arena by `use_spare`."""
        return address_of(self._grown_to(~base, size))

    def use_spare(self, base: int) -> None:
        """Exchange the memory of a carried arena and that of its spare."""
        kept = self._grown
        kept[base], kept[~base] = kept.get(~base, _NOTHING), kept.get(base, _NOTHING)
        self.bind(base, kept[base])

    def memory_of_threads(self, size: int) -> NDArray[np.uint8]:
        """Return memory for what threads alone use in a step: other steps may get it, too."""
        return self._grown_to(_THREADS, size) if size else _NOTHING

    def _grown_to(self, key: int, size: int) -> NDArray[np.uint8]:
        """Return what is kept at a key, or in its place larger memory, if that is too small."""
        kept = self._grown.get(key, _NOTHING)
        if size > kept.size:
            self._grown.pop(key, None)
            kept = self._grown[key] = allocate(1 << (size - 1).bit_length())
        return kept

    def trim(self) -> None:
        """Free the arenas, which must grow before the next run."""
        self._grown.clear()
        self.bind(ARENA, _NOTHING)

    def place(self, index: int) -> Place:
        """Return where a buffer is."""
        buffer = self._buffers[index]
        return self.place_in(buffer.base, buffer.offset)

    def locator(self, index: int) -> Callable[[], int]:
        """Return a function that says where a buffer of the process is in the current run."""
        buffer, pointers = self._buffers[index], self.pointers
        base, offset = buffer.base, buffer.offset
        return lambda: (pointers[base] or 0) + offset

    def place_in(self, base: int, offset: int = 0) -> Place:
        """Return where something in a base is."""
        device = self._devices.get(base)
        if device is not None:
            return Place(device.address + offset, device.space)
        return Place(self.arrays[base].ctypes.data + offset)

    def buffer(self, index: int) -> Buffer:
        """Return the description of a buffer."""
        return self._buffers[index]

    def size_bytes(self, index: int) -> int:
        """Return how many bytes a buffer takes."""
        return self._buffers[index].size_bytes

    def shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of the tensor in a buffer."""
        return self._buffers[index].shape  # type: ignore[return-value]

    def dtype(self, index: int) -> str:
        """Return the name of the element type of the tensor in a buffer."""
        return self._buffers[index].dtype

    def view(self, index: int) -> NDArray[Any]:
        """Return the tensor in a buffer, in place."""
        buffer = self._buffers[index]
        # As bytes, because types from ml_dtypes have no buffer protocol.
        base = self.arrays[buffer.base].reshape(-1).view(np.uint8)
        return np.ndarray(buffer.shape, stored(buffer.dtype), base.data, buffer.offset)


def address_of(array: NDArray[Any]) -> int:
    """Return the address of a contiguous array."""
    try:
        # A third of the time that `array.ctypes` takes.
        return ctypes.addressof(_first_byte(array))
    except (TypeError, ValueError):  # read-only, empty, or of a type without a buffer
        return array.ctypes.data


def place_of(array: Bound) -> Place:
    """Return where a contiguous array is."""
    if isinstance(array, np.ndarray):
        return Place(address_of(array))
    return Place(array.address, array.space)


def allocate(size: int, purpose: str = "its arena") -> NDArray[np.uint8]:
    """Return zeroed memory on a page boundary, in huge pages where it is large.

    Raises RunError, which names the purpose, where the system has less.
    """
    if not size:
        return _NOTHING
    large = size >= _HUGE_PAGE
    try:
        block = mmap.mmap(-1, size + _HUGE_PAGE * large, **PRIVATE)
    except (OSError, OverflowError, MemoryError):
        raise RunError(
            f"the package needs {size} bytes for {purpose}, the system has less"
        ) from None
    whole = np.frombuffer(block, np.uint8)
    if not large:
        return whole[:size]
    start = -whole.ctypes.data % _HUGE_PAGE
    if hasattr(mmap, "MADV_HUGEPAGE"):
        # A kernel without huge pages is merely slower.
        with suppress(OSError):
            block.madvise(mmap.MADV_HUGEPAGE)
    return whole[start : start + size]


def aligned(data: memoryview) -> NDArray[np.uint8]:
    """Return the bytes of `data`, in place when they are on a cache line, else copied to one."""
    array = np.frombuffer(data, np.uint8)
    if array.ctypes.data % ALIGNMENT == 0 or not array.size:
        return array
    copy = allocate(array.size)
    copy[:] = array
    copy.flags.writeable = False
    return copy
