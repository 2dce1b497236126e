"""Bring a package to a GPU: its kernels and its weights, for all sessions that run it there."""

import weakref
from dataclasses import dataclass

import numpy as np

from ..checks import DEVICE_WEIGHTS_ENTRY
from ..fork import ForkSafeLock
from ..manifest import GpuCode
from ..package import Package
from .device import Device
from .handles import DeviceMemory, Stream
from .kernels import LoadedKernel, load_kernels


@dataclass(frozen=True)
class GpuProgram:
    """Hold the kernels and the weights of a package on a GPU."""

    device: Device
    code: GpuCode
    kernels: dict[str, LoadedKernel]
    weights: DeviceMemory


def prepare(package: Package, device: Device) -> GpuProgram:
    """Load the code that suits a GPU, and upload the weights unless they are there already."""
    manifest = package.manifest
    code = device.choose(manifest.gpu)
    launches = [launch for step in manifest.steps for launch in step.launches]
    kernels = load_kernels(device, code, package.entries, launches)
    return GpuProgram(device, code, kernels, _weights(package, device))


def _weights(package: Package, device: Device) -> DeviceMemory:
    """Return the weights on a GPU; those of equal bytes are there once."""
    entries = {entry.name: entry for entry in package.manifest.entries}
    entry = entries.get(DEVICE_WEIGHTS_ENTRY)
    if entry is None:
        return DeviceMemory(device, 0, "a package without weights")
    key = (device, entry.checksum, entry.size)
    with _lock:
        found = _uploaded.get(key)
        if found is None:
            found = _uploaded[key] = _upload(device, package.entries[entry.name])
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
