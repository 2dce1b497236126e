"""The constants of packages on GPUs: equal ones of a process are there once."""

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ..contents import MemorySpace
from ..file.compression import SUFFIX, decompressed
from ..file.file_bytes import release_pages
from ..fork import ForkSafeLock
from ..loader import Loader
from ..memory import address_of, allocate
from .device import Device
from .handles import DeviceMemory, Stream

_CHUNK = 16 << 20


class DeviceWeights(DeviceMemory):
    """Own a copy of constants on a GPU."""

    def __init__(self, device: Device, data: memoryview) -> None:
        """Upload constants; raise RunError where memory is too small."""
        super().__init__(device, len(data), "the package for its weights")
        stream = Stream(device)
        with device:
            stream.upload(self.address, _address(data), len(data))
            stream.synchronize()
        stream.close()
        self._sources = [_Source(data)]

    def equals(self, data: memoryview) -> bool:
        """Return whether the copy has some bytes; those that were seen before are not read."""
        if any(source.is_of(data) for source in self._sources):
            return True
        if len(data) != self.size_bytes or not self._compare(data):
            return False
        self._sources = [*(s for s in self._sources if s.is_alive), _Source(data)]
        return True

    def _compare(self, data: memoryview) -> bool:
        """Compare the copy with bytes of the same size, some at a time."""
        chunk = allocate(min(len(data), _CHUNK), "a part of what is on the GPU")
        given = np.frombuffer(data, np.uint8)
        stream = Stream(self.device)
        try:
            with self.device:
                for start in range(0, len(data), _CHUNK):
                    part = given[start : start + _CHUNK]
                    stream.download(address_of(chunk), self.address + start, part.size)
                    stream.synchronize()
                    if not np.array_equal(chunk[: part.size], part):
                        return False
        finally:
            stream.close()
        return True


class _Source:
    """Remember where bytes are that nobody changes, for as long as they are there."""

    def __init__(self, data: memoryview) -> None:
        self._address = _address(data)
        owner: Any = data.obj
        self._owner: Callable[[], Any] = lambda: None
        # Other types, such as bytes, do not tell when they are freed and others have their place.
        with suppress(TypeError):
            self._owner = weakref.ref(owner)

    @property
    def is_alive(self) -> bool:
        """Return whether the bytes are still there, and known to be."""
        return self._owner() is not None

    def is_of(self, data: memoryview) -> bool:
        """Return whether these are the bytes, in the same place."""
        return self.is_alive and self._owner() is data.obj and self._address == _address(data)


def load_weights(loader: Loader, space: MemorySpace, device: Device) -> DeviceMemory:
    """Return the constants of a package on a GPU; those of equal bytes are there once.

    What is mapped of its file for them is given back to the system: the GPU has it from now on.
    """
    entries = {entry.name: entry for entry in loader.contents.entries}
    name, size = space.weights_entry, space.weight_bytes
    entry = entries.get(name) or entries.get(name + SUFFIX)
    if entry is None:
        return DeviceMemory(device, 0, "a package without weights")
    key = (device, entry.checksum, size)
    data = decompressed(loader.entries, name, size)
    with _lock:
        found = _uploaded.get(key)
        # A checksum is no proof: it may keep no forger out.
        if found is None or not found.equals(data):
            made = DeviceWeights(device, data)
            found = _uploaded.setdefault(key, made) if found is None else made
    release_pages(loader.entries[entry.name])
    return found


def _address(data: memoryview) -> int:
    return np.frombuffer(data, np.uint8).ctypes.data


_uploaded: "weakref.WeakValueDictionary[tuple[Device, str, int], DeviceWeights]" = (
    weakref.WeakValueDictionary()
)
_lock = ForkSafeLock()
