"""Open a GPU, and choose the code of a package that it runs."""

import ctypes
import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from ..errors import RunError
from ..fork import ForkSafeLock
from .checks import ARCHITECTURE
from .code import GpuCode
from .driver import LIBRARY, Driver, DriverError, no_device, open_driver, spell_version

# CUdevice_attribute
_MAX_THREADS, _MAX_SHARED, _MAJOR, _MINOR = 1, 97, 75, 76

# Triton compiles for sm_90a and so on from here on, which runs on no other architecture.
_EXACT_FROM = 90


class Device:
    """Hold the primary context of a GPU, which all users in the process share.

    `with device:` makes it current; nests. It is made when it is needed first, and released when
    nobody refers to the device any more.
    """

    def __init__(self, ordinal: int, library: str = LIBRARY) -> None:
        """Open GPU number `ordinal`; the method `open` returns a device that is open already."""
        self.driver = open_driver(library, os.getpid())
        count = self.driver.number("cuDeviceGetCount")
        if not count:
            raise no_device()
        if not 0 <= ordinal < count:
            raise RunError(f"device is {ordinal}, must be below {count}, the number of GPUs")
        self.ordinal = ordinal
        self.process = os.getpid()
        self._number = self.driver.number("cuDeviceGet", ordinal)
        self.name = self._name()
        self.architecture = f"sm_{self._attribute(_MAJOR)}{self._attribute(_MINOR)}"
        self.shared_bytes = self._attribute(_MAX_SHARED)
        self.threads = self._attribute(_MAX_THREADS)
        self._context: ctypes.c_void_p | None = None

    @staticmethod
    def open(device: "int | Device" = 0, library: str = LIBRARY) -> "Device":
        """Return GPU number `device`, the same object while anybody uses it."""
        if isinstance(device, Device):
            return device
        if type(device) is not int:
            raise RunError(f"device is {device!r}, must be the number of a GPU")
        key = (library, device, os.getpid())
        with _lock:
            found = _open.get(key)
            if found is None:
                found = _open[key] = Device(device, library)
            return found

    @property
    def context(self) -> ctypes.c_void_p:
        """Return the handle of the context."""
        with _lock:
            if self._context is None:
                self._context = self.driver.handle("cuDevicePrimaryCtxRetain", self._number)
                weakref.finalize(self, _release, self.driver, self._number, self.process)
            return self._context

    def check_process(self) -> None:
        """Raise RunError in a process that was forked from the one that opened the GPU."""
        if os.getpid() != self.process:
            raise RunError(
                "this process was forked from one that uses the GPU: open the package in each "
                "process, or start processes by 'spawn'"
            )

    def __enter__(self) -> "Device":
        self.check_process()
        self.driver.call("cuCtxPushCurrent_v2", self.context)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(DriverError):
            self.driver.handle("cuCtxPopCurrent_v2")

    @property
    def free_bytes(self) -> tuple[int, int]:
        """Return how much memory is free, and how much there is."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        with self:
            self.driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def choose(self, codes: Sequence[GpuCode]) -> GpuCode:
        """Return the code that suits this GPU best; raise RunError where none does."""
        fitting = [code for code in codes if _runs(code.architecture, self.architecture)]
        if not fitting:
            raise RunError(f"the package {self._foreign([code.architecture for code in codes])}")
        best = max(fitting, key=lambda code: _capability(code.architecture))
        if lack := self.lacking(best):
            raise RunError(f"the package {lack}")
        return best

    def lacking(self, code: GpuCode) -> str:
        """Return what keeps code from running here, as the end of a sentence; empty for nothing."""
        if not _runs(code.architecture, self.architecture):
            return self._foreign([code.architecture])
        if self.driver.version < code.driver:
            return (
                f"needs a driver for CUDA {spell_version(code.driver)}, this one is for CUDA "
                f"{spell_version(self.driver.version)}: update the driver of the GPU"
            )
        return ""

    def _foreign(self, architectures: Sequence[str]) -> str:
        return (
            f"has code for {' and '.join(architectures)}, the GPU ({self.name}) is "
            f"{self.architecture}: compile the model again with --target gpu:{self.architecture}"
        )

    def _attribute(self, number: int) -> int:
        return self.driver.number("cuDeviceGetAttribute", number, self._number)

    def _name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.driver.call("cuDeviceGetName", text, len(text), self._number)
        return text.value.decode(errors="replace")


def lacking_here(code: GpuCode) -> str:
    """Return what keeps code from running on the first GPU of this machine; empty for nothing."""
    try:
        return Device.open().lacking(code)
    except RunError as error:
        return f"cannot run here: {error}"


def _capability(architecture: str) -> int:
    matched = ARCHITECTURE.fullmatch(architecture)
    return int(matched[1]) if matched else 0


def _runs(code: str, device: str) -> bool:
    made, here = _capability(code), _capability(device)
    if made >= _EXACT_FROM or here >= _EXACT_FROM:
        return made == here
    return made // 10 == here // 10 and made <= here


def _release(driver: Driver, number: int, process: int) -> None:
    # What a forked process has is not its own.
    if os.getpid() == process:
        with suppress(DriverError):
            driver.call("cuDevicePrimaryCtxRelease_v2", number)


_open: "weakref.WeakValueDictionary[tuple[str, int, int], Device]" = weakref.WeakValueDictionary()
_lock = ForkSafeLock()
