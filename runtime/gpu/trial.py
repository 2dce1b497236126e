"""Try a kernel out, apart from its package: in buffers of its own, with any of its settings."""

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contents import Buffer
from ..dtypes import resolve
from ..errors import RunError
from ..frozen import Frozen
from ..package import Package
from ..sizes.fields import with_sizes
from .code import GpuCode, GpuKernel, Launch
from .device import Device
from .driver import DriverError
from .handles import DeviceMemory, Event, Graph, Stream
from .kernels import BoundLaunch, at_sizes, bind, describe, load_kernels

Array = NDArray[Any]

ROUNDS = 11
"""The number of turns of each setting, of which the median counts."""

TURN_US = 2000.0
"""About how long a turn takes: a kernel runs as often as fits."""

MOST_RUNS = 200
"""The most runs of a kernel in a turn."""

TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-4, "float64": 1e-9}
"""How far results may be apart, as a part of the largest one; all other types must be equal.

Settings add up in other orders: f16 and bf16 may be rounded to the next number but one; sums of
matrix units lose a little of f32.
"""

_DISTINCT = 1 << 20
"""The number of random numbers; larger buffers repeat them."""


class _Held(Frozen):
    """Hold a buffer on the GPU and its initial contents."""

    memory: DeviceMemory
    first: Array


class Trial:
    """Run a launch of a package in buffers of its own, full of random numbers.

    Sizes that change from run to run are the likely ones. `with trial:` frees them at its end; the
    device must be current meanwhile.
    """

    def __init__(self, package: Package, launch: Launch, device: Device, stream: Stream) -> None:
        self.launch, self.device, self.stream = launch, device, stream
        self._entries = package.entries
        self._values = package.manifest.likely_values
        random = np.random.default_rng(0)
        self._held: dict[int, _Held] = {}
        for index in launch.buffers:
            if index not in self._held:
                buffer = with_sizes(package.manifest.buffers[index], self._values)
                first = _drawn(buffer, random)
                what = f"tuning, for the buffers of kernel '{launch.kernel}',"
                self._held[index] = _Held(DeviceMemory(device, first.nbytes, what), first)

    def __enter__(self) -> "Trial":
        return self

    def __exit__(self, *_: object) -> None:
        for held in self._held.values():
            held.memory.close()

    def prepare(self, kernel: GpuKernel) -> BoundLaunch:
        """Load a kernel and bind it to the buffers; raise RunError where that cannot be."""
        code = GpuCode(self.device.architecture, (kernel,))
        loaded = load_kernels(self.device, code, self._entries, [self.launch])
        known = at_sizes(self.launch, loaded[kernel.symbol], self._values, self._size_bytes)
        return bind(self.device, self.launch, known, self._address)

    def results(self, bound: BoundLaunch) -> list[Array]:
        """Run a kernel on the initial contents of the buffers; return the contents afterwards."""
        for held in self._held.values():
            if held.first.nbytes:
                self.stream.upload(held.memory.address, held.first.ctypes.data, held.first.nbytes)
        bound.enqueue(self.stream)
        self._wait(bound)
        found: list[Array] = []
        for held in self._held.values():
            found.append(np.empty_like(held.first))
            if found[-1].nbytes:
                self.stream.download(found[-1].ctypes.data, held.memory.address, found[-1].nbytes)
        self.stream.synchronize()
        return found

    def times(self, launches: Sequence[BoundLaunch]) -> list[float]:
        """Return how many microseconds each takes: the median of its turns, in a graph of runs."""
        start, end = Event(self.device, timed=True), Event(self.device, timed=True)
        runs = [self._runs(bound, start, end) for bound in launches]
        graphs = [self._graph(b, count) for b, count in zip(launches, runs, strict=True)]
        taken: list[list[float]] = [[] for _ in launches]
        for _ in range(ROUNDS):
            for graph, count, times in zip(graphs, runs, taken, strict=True):
                times.append(self._time(lambda g=graph: self.stream.launch(g), start, end) / count)
        for handle in (*graphs, start, end):
            handle.close()
        return [median(times) for times in taken]

    def _runs(self, bound: BoundLaunch, start: Event, end: Event) -> int:
        """Return how often a kernel runs in a turn."""
        once = self._time(lambda: bound.enqueue(self.stream), start, end)
        return min(MOST_RUNS, max(1, round(TURN_US / max(once, 1e-3))))

    def _graph(self, bound: BoundLaunch, count: int) -> Graph:
        def enqueue() -> None:
            for _ in range(count):
                bound.enqueue(self.stream)

        return self.stream.capture(enqueue)

    def _time(self, work: Callable[[], None], start: Event, end: Event) -> float:
        start.record(self.stream)
        work()
        end.record(self.stream)
        self.stream.synchronize()
        return end.microseconds_since(start)

    def _wait(self, bound: BoundLaunch) -> None:
        try:
            self.stream.synchronize()
        except DriverError as error:
            raise RunError(
                f"{describe(self.launch)} failed with {bound.kernel.kernel.setting}: {error}"
            ) from None

    def _size_bytes(self, index: int) -> int:
        return self._held[index].first.nbytes

    def _address(self, index: int) -> int:
        return self._held[index].memory.address


def difference(found: Sequence[Array], wanted: Sequence[Array]) -> str:
    """Return in which respect results differ by more than they may; empty where they do not."""
    for index, (a, b) in enumerate(zip(found, wanted, strict=True)):
        allowed = TOLERANCES.get(b.dtype.name, 0.0)
        apart = _apart(a, b, exact=not allowed)
        if not apart <= allowed:
            return f"buffer {index} differs by {apart:.1e}, may differ by {allowed:.1e}"
    return ""


def _apart(a: Array, b: Array, exact: bool) -> float:
    """Return how far apart arrays are, relative to the largest number; inf where NaN differ."""
    if exact:
        return 0.0 if np.array_equal(a, b) else math.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    usual = np.isfinite(b)
    special = ~usual | ~np.isfinite(a)
    if not np.array_equal(a[special], b[special], equal_nan=True):
        return math.inf
    a, b = a[usual], b[usual]
    if not a.size:
        return 0.0
    return float(np.abs(a - b).max() / max(np.abs(b).max(), np.finfo(np.float32).tiny))


def _drawn(buffer: Buffer, random: np.random.Generator) -> Array:
    """Fill an array like a buffer: floats are normal, bytes any, other integers small indices."""
    dtype = resolve(buffer.dtype)
    size = math.prod(buffer.shape)
    count = min(size, _DISTINCT)
    if dtype == np.bool_:
        numbers = random.integers(0, 2, count)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = (info.min, info.max + 1) if dtype.itemsize == 1 else (0, 4)
        numbers = random.integers(low, high, count)
    else:
        numbers = random.standard_normal(count, np.float32)
    return np.resize(numbers.astype(dtype), size)
