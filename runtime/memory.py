"""Hold the memory of a session, and tell native code where it is."""

import ctypes
import mmap
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .dtypes import resolve
from .errors import RunError
from .manifest import ARENA, FIRST_PORT, PREPARED, WEIGHTS, Manifest

ALIGNMENT = 64
_HUGE_PAGE = 2 << 20

# A forked process gets a copy of its own. Windows has no such flags, and no fork.
_PRIVATE: dict[str, int] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)

_NOTHING = np.empty(0, np.uint8)

_first_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


class Place(NamedTuple):
    """Say where something is: an address of the host, or of a GPU."""

    address: int
    on_device: bool


class OnDevice(Protocol):
    """Stand for an array in the memory of a GPU."""

    @property
    def address(self) -> int:
        """Return where it is."""
        ...

    @property
    def nbytes(self) -> int:
        """Return how many bytes it takes."""
        ...


Bound: TypeAlias = NDArray[Any] | OnDevice
"""What may be the memory of an input or an output."""


class Bases:
    """Hold what buffers lie in: the arena, the constants, and the arrays of the current run.

    `arrays` keeps them alive, `pointers` is the table of their addresses for native code.
    """

    def __init__(
        self,
        manifest: Manifest,
        weights: NDArray[np.uint8],
        prepared: NDArray[np.uint8],
        on_device: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        """Make room for a session; `on_device` says where the bases in a GPU are."""
        count = FIRST_PORT + len(manifest.inputs) + len(manifest.outputs)
        self._buffers = manifest.buffers
        self.arrays: list[NDArray[Any]] = [_NOTHING] * count
        self.pointers = (ctypes.c_void_p * count)()
        self._always_on_device = dict(on_device)
        self._on_device = dict(on_device)
        self._kept: list[OnDevice] = []
        self._ports = [_NOTHING] * (count - FIRST_PORT)
        self.bind(ARENA, allocate(manifest.memory.arena_bytes))
        self.bind(WEIGHTS, weights)
        self.bind(PREPARED, prepared)

    @property
    def address(self) -> int:
        """Return where native code finds its table of bases."""
        return ctypes.addressof(self.pointers)

    def bind(self, base: int, array: Bound) -> None:
        """Make `array` the memory of `base`; it must be contiguous."""
        if not isinstance(array, np.ndarray):
            self._on_device[base] = array.address
            self._kept.append(array)
            return
        self.arrays[base] = array
        self.pointers[base] = address_of(array)

    def release(self) -> None:
        """Forget the arrays of the last run."""
        self.arrays[FIRST_PORT:] = self._ports
        if len(self._on_device) != len(self._always_on_device):
            self._on_device = self._always_on_device.copy()
            self._kept = []

    def place(self, index: int) -> Place:
        """Return where a buffer is."""
        buffer = self._buffers[index]
        return self.place_in(buffer.base, buffer.offset)

    def place_in(self, base: int, offset: int = 0) -> Place:
        """Return where something in a base is."""
        address = self._on_device.get(base)
        if address is not None:
            return Place(address + offset, True)
        return Place(self.arrays[base].ctypes.data + offset, False)

    def size_bytes(self, index: int) -> int:
        """Return how many bytes a buffer takes."""
        return self._buffers[index].size_bytes

    def view(self, index: int) -> NDArray[Any]:
        """Return the tensor in a buffer, in place."""
        buffer = self._buffers[index]
        # As bytes, because types from ml_dtypes have no buffer protocol.
        base = self.arrays[buffer.base].reshape(-1).view(np.uint8)
        return np.ndarray(buffer.shape, resolve(buffer.dtype), base.data, buffer.offset)


def address_of(array: NDArray[Any]) -> int:
    """Return the address of a contiguous array."""
    try:
        # A third of the time that `array.ctypes` takes.
        return ctypes.addressof(_first_byte(array))
    except (TypeError, ValueError):  # read-only, empty, or of a type without a buffer
        return array.ctypes.data


def allocate(size: int, purpose: str = "its arena") -> NDArray[np.uint8]:
    """Return zeroed memory on a page boundary, in huge pages where it is large.

    Raises RunError, which names the purpose, where the system has less.
    """
    if not size:
        return _NOTHING
    large = size >= _HUGE_PAGE
    try:
        block = mmap.mmap(-1, size + _HUGE_PAGE * large, **_PRIVATE)
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
