"""The state of one session on a GPU: a stream, an arena, and graphs of its launches."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Protocol

from ..contents import Contents, MemorySpace
from ..errors import RunError
from ..memory import Place
from ..memory_space import SessionMemory
from .code import Launch
from .device import Device
from .driver import DriverError
from .handles import DeviceMemory, Graph, Stream
from .kernels import BoundLaunch, LoadedKernel, bind, describe
from .ports import DevicePorts, copy_bytes


class PackageOnGpu(Protocol):
    """The parts that workspaces share: a GPU, and kernels and weights on it."""

    device: Device
    weights: DeviceMemory
    space: MemorySpace

    def kernels(self, launches: Iterable[Launch], /) -> dict[str, LoadedKernel]:
        """Return the kernels of launches."""
        ...


class Workspace(SessionMemory):
    """Run the steps of a package on a GPU. `with workspace:` makes the GPU current.

    Where that is left with an error, the GPU has stopped using memory of the caller.
    """

    ports: DevicePorts

    def __init__(
        self, package: PackageOnGpu, contents: Contents, in_process: frozenset[int]
    ) -> None:
        self.device: Device = package.device
        self.stream = Stream(package.device)
        self._package = package
        self._buffers = contents.buffers
        what = "a session for its activations"
        self._arena = DeviceMemory(package.device, package.space.arena_bytes, what)
        arena, weights = contents.bases_in(package.space.name)
        self.addresses = {arena: self._arena.address, weights: package.weights.address}
        self._steps: list[_Launches] = []
        self.recording = False
        self.closed = False
        self.ports = DevicePorts(self.stream, in_process)

    def __enter__(self) -> "Workspace":
        self.device.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.ports.forget()
        if error is not None:
            with suppress(DriverError):
                self.stream.synchronize()
        self.device.__exit__(kind, error, traceback)
        # The next call reports that a kernel has failed.
        if isinstance(error, DriverError) and error.lasting:
            raise RunError(f"a kernel of the package failed: {error}") from None

    def finish(self) -> None:
        """Copy outputs that other steps have written to the arrays of the caller, and wait."""
        self.ports.finish()

    def copy(self, target: Place, source: Place, size: int) -> None:
        copy_bytes(self.stream, target, source, size)

    def bind(self, launches: Sequence[Launch]) -> Callable[[], None]:
        """Return the function that runs launches, and returns before they are done.

        It runs them one by one the first time, as a graph from then on: a kernel that fails the
        first time is named, and nobody knows which one of a graph failed.
        """
        kernels = self._package.kernels(launches)
        with self.device:
            bound = [
                bind(self.device, launch, kernels[launch.kernel], self._address)
                for launch in launches
            ]
        made = _Launches(bound)
        self._steps.append(made)
        return partial(self._run, made)

    def _run(self, step: "_Launches") -> None:
        if self.recording:
            step.enqueue(self.stream)
        elif step.graph is not None:
            self.stream.launch(step.graph)
        else:
            step.try_out(self.stream)
            step.graph = self.record(lambda: step.enqueue(self.stream))

    def record(self, work: Callable[[], None]) -> Graph:
        """Return what `work` gives to the stream, as a graph; none of it is done."""
        self.recording = True
        try:
            return self.stream.capture(work)
        finally:
            self.recording = False

    def synchronize(self) -> None:
        """Wait until all is done; raise what went wrong meanwhile."""
        self.stream.synchronize()

    def close(self) -> None:
        """Free the arena and the graphs; the stream stays as long as arrays use it."""
        self.closed = True
        for step in self._steps:
            if step.graph is not None:
                step.graph.close()
        self._steps = []
        self._arena.close()
        del self._package

    def _address(self, index: int) -> int:
        buffer = self._buffers[index]
        return self.addresses[buffer.base] + buffer.offset


@dataclass
class _Launches:
    launches: list[BoundLaunch]
    graph: Graph | None = None

    def enqueue(self, stream: Stream) -> None:
        for launch in self.launches:
            launch.enqueue(stream)

    def try_out(self, stream: Stream) -> None:
        for launch in self.launches:
            launch.enqueue(stream)
            try:
                stream.synchronize()
            except DriverError as error:
                raise RunError(f"{describe(launch.launch)} failed: {error}") from None
