"""Hold the memory of a session, and tell native code where it is."""

import ctypes
import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dtypes import resolve
from .errors import RunError
from .manifest import ARENA, FIRST_PORT, WEIGHTS, Manifest

ALIGNMENT = 64
_HUGE_PAGE = 2 << 20

_NOTHING = np.empty(0, np.uint8)


class Bases:
    """Hold what buffers lie in: the arena, the weights, and the arrays of the current run."""

    def __init__(self, manifest: Manifest, weights: NDArray[np.uint8]) -> None:
        count = FIRST_PORT + len(manifest.inputs) + len(manifest.outputs)
        self._buffers = manifest.buffers
        self._arrays: list[NDArray[Any]] = [_NOTHING] * count
        self._pointers = (ctypes.c_void_p * count)()
        self._ports = [_NOTHING] * (count - FIRST_PORT)
        self.bind(ARENA, allocate(manifest.memory.arena_bytes))
        self.bind(WEIGHTS, weights)

    @property
    def address(self) -> int:
        """Return where native code finds its table of bases."""
        return ctypes.addressof(self._pointers)

    def bind(self, base: int, array: NDArray[Any]) -> None:
        """Make `array` the memory of `base`; it must be contiguous."""
        self._arrays[base] = array
        self._pointers[base] = array.ctypes.data

    def release(self) -> None:
        """Forget the arrays of the last run."""
        self._arrays[FIRST_PORT:] = self._ports

    def view(self, index: int) -> NDArray[Any]:
        """Return the tensor in a buffer, in place."""
        buffer = self._buffers[index]
        # As bytes, because types from ml_dtypes have no buffer protocol.
        base = self._arrays[buffer.base].reshape(-1).view(np.uint8)
        return np.ndarray(buffer.shape, resolve(buffer.dtype), base.data, buffer.offset)


def allocate(size: int) -> NDArray[np.uint8]:
    """Return zeroed memory on a page boundary, in huge pages where it is large."""
    if not size:
        return _NOTHING
    large = size >= _HUGE_PAGE
    try:
        block = mmap.mmap(-1, size + _HUGE_PAGE * large, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, MemoryError):
        raise RunError(
            f"the package needs {size} bytes for its arena, the system has less"
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
