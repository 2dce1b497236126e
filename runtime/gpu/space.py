"""The memory of a package on a GPU, for all of its sessions: kernels and weights."""

import weakref
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from ..contents import Contents, MemorySpace
from ..errors import PackageError
from ..file.compression import SUFFIX, decompressed
from ..fork import ForkSafeLock
from ..loader import Loader
from ..memory_space import PackageMemory
from .array import SPACE
from .code import Launch
from .device import Device
from .handles import DeviceMemory, Stream
from .kernels import LoadedKernel, load_kernels
from .part import GpuPart
from .workspace import Workspace


class GpuMemory(PackageMemory):
    """Hold the weights of a package on a GPU, and its kernels, which are loaded when first used."""

    kind: ClassVar[str] = SPACE

    def __init__(self, loader: Loader, space: MemorySpace) -> None:
        codes = loader.contents.part(GpuPart).codes
        if not codes:
            raise PackageError(f"the package has memory '{space.name}', but no code for a GPU")
        self.device = Device.open(loader.options.get("device", 0))
        self.code = self.device.choose(codes)
        self.entries = loader.entries
        self.space = space
        self.weights = _weights(loader, space, self.device)
        self._kernels: dict[str, LoadedKernel] = {}

    def kernels(self, launches: Iterable[Launch]) -> dict[str, LoadedKernel]:
        """Return the kernels of launches."""
        new = [launch for launch in launches if launch.kernel not in self._kernels]
        self._kernels |= load_kernels(self.device, self.code, self.entries, new)
        return self._kernels

    def open(self, contents: Contents, in_process: frozenset[int]) -> Workspace:
        return Workspace(self, contents, in_process)


def _weights(loader: Loader, space: MemorySpace, device: Device) -> DeviceMemory:
    """Return the weights on a GPU; those of equal bytes are there once."""
    entries = {entry.name: entry for entry in loader.contents.entries}
    name, size = space.weights_entry, space.weight_bytes
    entry = entries.get(name) or entries.get(name + SUFFIX)
    if entry is None:
        return DeviceMemory(device, 0, "a package without weights")
    key = (device, entry.checksum, size)
    with _lock:
        found = _uploaded.get(key)
        if found is None:
            found = _uploaded[key] = _upload(device, decompressed(loader.entries, name, size))
        return found


def _upload(device: Device, data: memoryview) -> DeviceMemory:
    memory = DeviceMemory(device, len(data), "the package for its weights")
    stream = Stream(device)
    with device:
        stream.upload(memory.address, np.frombuffer(data, np.uint8).ctypes.data, len(data))
        stream.synchronize()
    stream.close()
    return memory


_uploaded: "weakref.WeakValueDictionary[tuple[Device, str, int], DeviceMemory]" = (
    weakref.WeakValueDictionary()
)
_lock = ForkSafeLock()
