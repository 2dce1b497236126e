"""Own what lives in a driver: memory, streams, events, modules and graphs.

All of it is freed by `close`, or when nobody refers to it any more.
"""

import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..errors import RunError
from .device import Device
from .driver import OUT_OF_MEMORY, DriverError

_NON_BLOCKING, _NO_TIMING, _RELAXED = 1, 2, 2


class Handle:
    """Own one thing, which the function `free` of the driver frees."""

    def __init__(self, device: Device, value: Any, free: str) -> None:
        self.device = device
        self.value = value
        self._free = weakref.finalize(self, _release, device, free, value)

    def close(self) -> None:
        """Free it now; once more does nothing."""
        self._free()


def _release(device: Device, free: str, value: Any) -> None:
    # A driver that has failed refuses to free, too; a forked process owns nothing.
    if os.getpid() == device.process:
        with suppress(DriverError), device:
            device.driver.call(free, value)


class DeviceMemory(Handle):
    """Own `size_bytes` of memory at `address`."""

    def __init__(self, device: Device, size_bytes: int, what: str) -> None:
        """Allocate memory; `what` names its use in the error where memory is too small."""
        address = ctypes.c_uint64()
        self.size_bytes = size_bytes
        try:
            with device:
                # The driver has no allocations of nothing.
                device.driver.call("cuMemAlloc_v2", ctypes.byref(address), max(1, size_bytes))
        except DriverError as error:
            if error.code != OUT_OF_MEMORY:
                raise
            free, total = device.free_bytes
            raise RunError(
                f"the GPU has too little memory: {what} needs {size_bytes} bytes, {free} of "
                f"{total} are free"
            ) from None
        super().__init__(device, address, "cuMemFree_v2")

    @property
    def address(self) -> int:
        return self.value.value


class Event(Handle):
    """Mark a place in a stream; with `timed`, remember when it was reached."""

    def __init__(self, device: Device, timed: bool = False) -> None:
        with device:
            value = device.driver.handle("cuEventCreate", 0 if timed else _NO_TIMING)
        super().__init__(device, value, "cuEventDestroy_v2")

    def record(self, stream: "Stream") -> None:
        """Put the mark behind all that a stream has been given so far."""
        self.device.driver.call("cuEventRecord", self.value, stream.value)

    def microseconds_since(self, earlier: "Event") -> float:
        """Return how long after another event this one was reached; both must have been."""
        elapsed = ctypes.c_float()
        arguments = (ctypes.byref(elapsed), earlier.value, self.value)
        self.device.driver.call("cuEventElapsedTime", *arguments)
        return elapsed.value * 1e3


class Graph(Handle):
    """Hold work that was captured, ready to run again."""

    def __init__(self, device: Device, captured: ctypes.c_void_p) -> None:
        """Make a captured graph ready; it is destroyed."""
        with device:
            try:
                value = device.driver.handle("cuGraphInstantiateWithFlags", captured, 0)
            finally:
                device.driver.call("cuGraphDestroy", captured)
        super().__init__(device, value, "cuGraphExecDestroy")


class Stream(Handle):
    """Do things on a GPU one after another; every method but `synchronize` returns at once.

    Its device must be current.
    """

    def __init__(self, device: Device) -> None:
        with device:
            value = device.driver.handle("cuStreamCreate", _NON_BLOCKING)
        super().__init__(device, value, "cuStreamDestroy_v2")
        self._event = Event(device)
        self._event_lock = threading.Lock()

    def upload(self, target: int, source: int, size: int) -> None:
        """Copy from the host to the device."""
        self.device.driver.call("cuMemcpyHtoDAsync_v2", target, source, size, self.value)

    def download(self, target: int, source: int, size: int) -> None:
        """Copy from the device to the host."""
        self.device.driver.call("cuMemcpyDtoHAsync_v2", target, source, size, self.value)

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy on the device."""
        self.device.driver.call("cuMemcpyDtoDAsync_v2", target, source, size, self.value)

    def clear(self, target: int, size: int) -> None:
        """Fill memory with zeros."""
        self.device.driver.call("cuMemsetD8Async", target, 0, size, self.value)

    def wait_for(self, other: int) -> None:
        """Let what follows wait for all that another stream has been given so far."""
        self._order(other, self.value)

    def hold_up(self, other: int) -> None:
        """Let what another stream is given next wait for all that this one has been given."""
        self._order(self.value, other)

    def _order(self, first: Any, second: Any) -> None:
        with self._event_lock:
            self.device.driver.call("cuEventRecord", self._event.value, first)
            self.device.driver.call("cuStreamWaitEvent", second, self._event.value, 0)

    def launch(self, graph: Graph) -> None:
        """Run a graph."""
        self.device.driver.call("cuGraphLaunch", graph.value, self.value)

    def synchronize(self) -> None:
        """Wait until all is done; raise what went wrong meanwhile."""
        self.device.driver.call("cuStreamSynchronize", self.value)

    def capture(self, work: Callable[[], None]) -> Graph:
        """Return what `work` gives to the stream, as a graph; none of it is done."""
        # Relaxed, for memory of others may be freed meanwhile, by the collector of garbage.
        self.device.driver.call("cuStreamBeginCapture_v2", self.value, _RELAXED)
        try:
            work()
        except BaseException:
            # Without this the stream would record for ever.
            with suppress(DriverError):
                self.device.driver.call("cuGraphDestroy", self._end_capture())
            raise
        return Graph(self.device, self._end_capture())

    def _end_capture(self) -> ctypes.c_void_p:
        graph = ctypes.c_void_p()
        self.device.driver.call("cuStreamEndCapture", self.value, ctypes.byref(graph))
        return graph
