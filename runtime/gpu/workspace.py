"""What one session has on a GPU: a stream, an arena, and graphs of its launches."""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType

from ..errors import RunError
from ..manifest import DEVICE_ARENA, DEVICE_WEIGHTS, Manifest, Step
from ..memory import Place
from .device import Device
from .driver import DriverError
from .handles import DeviceMemory, Graph, Stream
from .kernels import BoundLaunch, bind, describe
from .program import GpuProgram


class Workspace:
    """Run the steps of a package on a GPU. `with workspace:` makes the GPU current.

    Where that is left with an error, the GPU has stopped using memory of the caller.
    """

    def __init__(self, program: GpuProgram, manifest: Manifest) -> None:
        self.device: Device = program.device
        self.stream = Stream(program.device)
        self._program = program
        self._buffers = manifest.buffers
        size = manifest.memory.device_arena_bytes
        self._arena = DeviceMemory(program.device, size, "a session for its activations")
        self._steps: list[_Launches] = []
        self.recording = False
        self.closed = False

    @property
    def bases(self) -> dict[int, int]:
        """Return where bases are that do not change from run to run."""
        return {DEVICE_ARENA: self._arena.address, DEVICE_WEIGHTS: self._program.weights.address}

    def __enter__(self) -> "Workspace":
        self.device.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            with suppress(DriverError):
                self.stream.synchronize()
        self.device.__exit__(kind, error, traceback)
        # Whatever call comes next reports that a kernel has failed.
        if isinstance(error, DriverError) and error.lasting:
            raise RunError(f"a kernel of the package failed: {error}") from None

    def copy(self, target: Place, source: Place, size: int) -> None:
        """Copy bytes from either memory to either, in the order of the stream."""
        if not size:
            return
        if target.on_device:
            copy = self.stream.copy if source.on_device else self.stream.upload
        elif source.on_device:
            copy = self.stream.download
        else:
            self.synchronize()
            copy = ctypes.memmove
        copy(target.address, source.address, size)

    def bind(self, step: Step) -> Callable[[], None]:
        """Return the function that runs the launches of a step, and returns before they are done.

        It runs them one by one the first time, as a graph from then on: a kernel that fails the
        first time is named, and nobody knows which one of a graph failed.
        """
        with self.device:
            launches = [
                bind(self.device, launch, self._program.kernels[launch.kernel], self._address)
                for launch in step.launches
            ]
        made = _Launches(launches)
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
        del self._program

    def _address(self, index: int) -> int:
        buffer = self._buffers[index]
        return self.bases[buffer.base] + buffer.offset


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
