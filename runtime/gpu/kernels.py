"""Load the kernels of a package into a GPU, and give them their arguments."""

import ctypes
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import PackageError, RunError
from ..frozen import Frozen
from ..sizes.fields import with_sizes
from ..sizes.values import Values
from .checks import GRID, extent_bytes
from .code import GpuCode, GpuKernel, GpuParameter, Launch
from .device import Device
from .driver import DriverError
from .handles import Handle, Stream
from .tensor_map import encode_map

# CUfunction_attribute
_MAX_THREADS, _MAX_DYNAMIC_SHARED = 0, 8

# A kernel may have so much shared memory without asking.
_SHARED_UNASKED = 48 << 10

_WARP = 32
_MOST_SIZE = 1 << 31
_ELF, _ELF_HEADER = b"\x7fELF\x02", 64


class LoadedKernel(Frozen):
    """Hold a kernel that is ready to be launched."""

    kernel: GpuKernel
    function: ctypes.c_void_p
    module: Handle


def load_kernels(
    device: Device, code: GpuCode, entries: Mapping[str, memoryview], launches: Iterable[Launch]
) -> dict[str, LoadedKernel]:
    """Load the kernels of launches; kernels of one entry share a module."""
    known = {kernel.symbol: kernel for kernel in code.kernels}
    modules: dict[str, Handle] = {}
    loaded: dict[str, LoadedKernel] = {}
    with device:
        for launch in launches:
            if launch.kernel in loaded:
                continue
            kernel = known[launch.kernel]
            _check_limits(device, kernel, launch)
            if kernel.entry not in modules:
                modules[kernel.entry] = _load(device, kernel.entry, entries[kernel.entry])
            loaded[kernel.symbol] = _find(device, kernel, modules[kernel.entry])
    return loaded


def _check_limits(device: Device, kernel: GpuKernel, launch: Launch) -> None:
    for what, needed, most in (
        ("bytes of shared memory", kernel.shared_bytes, device.shared_bytes),
        ("threads in a program", kernel.warps * _WARP, device.threads),
    ):
        if needed > most:
            raise RunError(
                f"{describe(launch)} needs {needed} {what}, the GPU ({device.name}) has {most}: "
                "compile the model again on a machine with this GPU"
            )


def _load(device: Device, name: str, data: memoryview) -> Handle:
    _check_elf(name, data)
    module = device.driver.handle("cuModuleLoadData", bytes(data))
    return Handle(device, module, "cuModuleUnload")


def _check_elf(name: str, data: memoryview) -> None:
    """Refuse code that the driver, which does not know its length, would read beyond its end."""
    if bytes(data[:5]) != _ELF or len(data) < _ELF_HEADER:
        raise PackageError(f"entry '{name}' is not code for a GPU")
    for start_at, size_at, count_at in ((32, 54, 56), (40, 58, 60)):
        start = int.from_bytes(data[start_at : start_at + 8], "little")
        size = int.from_bytes(data[size_at : size_at + 2], "little")
        count = int.from_bytes(data[count_at : count_at + 2], "little")
        if start + size * count > len(data):
            raise PackageError(f"entry '{name}' is truncated: it has {len(data)} bytes")


def _find(device: Device, kernel: GpuKernel, module: Handle) -> LoadedKernel:
    driver = device.driver
    function = driver.handle("cuModuleGetFunction", module.value, kernel.function.encode())
    most = driver.number("cuFuncGetAttribute", _MAX_THREADS, function)
    if kernel.warps * _WARP > most:
        raise PackageError(
            f"kernel '{kernel.symbol}' was compiled for {most} threads, must run on "
            f"{kernel.warps * _WARP}"
        )
    if kernel.shared_bytes > _SHARED_UNASKED:
        driver.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, kernel.shared_bytes)
    return LoadedKernel(kernel, function, module)


def describe(launch: Launch) -> str:
    """Name a launch in errors."""
    nodes = f" of {', '.join(launch.nodes)}" if launch.nodes else ""
    return f"kernel '{launch.kernel}'{nodes}"


class BoundLaunch(Frozen):
    """Hold a launch with all of its arguments; `table` points to `values`."""

    launch: Launch
    kernel: LoadedKernel
    grid: tuple[int, ...]
    table: ctypes.Array[ctypes.c_void_p]
    values: tuple[Any, ...]

    def enqueue(self, stream: Stream) -> None:
        """Give the launch to a stream; raise RunError where the driver refuses it."""
        if 0 in self.grid:
            return
        kernel = self.kernel.kernel
        sizes = (*self.grid, kernel.warps * _WARP, 1, 1, kernel.shared_bytes)
        arguments = (self.kernel.function, *sizes, stream.value, self.table, None)
        try:
            stream.device.driver.call("cuLaunchKernel", *arguments)
        except DriverError as error:
            raise RunError(f"{describe(self.launch)} cannot be launched: {error}") from None


def bind(
    device: Device, launch: Launch, loaded: LoadedKernel, address_of: Callable[[int], int]
) -> BoundLaunch:
    """Bind a launch to its buffers; `address_of` returns the address of a buffer."""
    values: list[Any] = []
    for parameter in loaded.kernel.parameters:
        values += _values(device, parameter, address_of(launch.buffers[parameter.buffer]))
    values += map(ctypes.c_int32, loaded.kernel.sizes)
    # Scratch memory and that of the profiler, which no kernel of ours uses.
    values += [ctypes.c_uint64(0), ctypes.c_uint64(0)]
    table = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    return BoundLaunch(launch, loaded, loaded.kernel.grid, table, tuple(values))


def at_sizes(
    launch: Launch, loaded: LoadedKernel, values: Values, size_bytes: Callable[[int], int]
) -> LoadedKernel:
    """Return a kernel with numbers for the sizes that depend on symbols.

    `size_bytes` returns the bytes of a buffer. Raises RunError where numbers are too large for a
    GPU, or the kernel would read or write beyond a buffer.
    """
    kernel = with_sizes(loaded.kernel, values)
    for parameter in kernel.parameters:
        room = size_bytes(launch.buffers[parameter.buffer])
        if (extent := extent_bytes(parameter)) > room:
            raise RunError(f"{describe(launch)} reads or writes {extent} bytes of {room}")
    if kernel is loaded.kernel:
        return loaded
    for count, most in zip(kernel.grid, GRID, strict=True):
        if not 0 <= count <= most:
            raise RunError(f"{describe(launch)} needs {count} programs, a GPU runs up to {most}")
    for size in kernel.sizes:
        if not -_MOST_SIZE <= size < _MOST_SIZE:
            raise RunError(f"{describe(launch)} needs size {size}, must be below {_MOST_SIZE}")
    return replace(loaded, kernel=kernel)


def _values(device: Device, parameter: GpuParameter, address: int) -> list[Any]:
    if parameter.kind == "pointer":
        return [ctypes.c_uint64(address)]
    # The driver has no maps of nothing, and no program reads one.
    shape = tuple(max(1, size) for size in parameter.shape)
    encoded = encode_map(device.driver, replace(parameter, shape=shape), address)
    sizes = map(ctypes.c_int32, parameter.shape)
    return [encoded, *sizes, *map(ctypes.c_int64, parameter.strides)]
