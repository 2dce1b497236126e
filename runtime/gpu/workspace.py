"""The state of one session on a GPU: a stream, an arena, and graphs of its launches."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Protocol
from weakref import WeakSet

from ..contents import Contents, MemorySpace
from ..errors import RunError
from ..memory import Place
from ..memory_space import SessionMemory
from ..state import SessionState
from ..step import CallRuns
from .code import Launch
from .device import Device
from .driver import DriverError
from .handles import DeviceMemory, Graph, Stream
from .heap import DeviceHeap
from .kernels import BoundLaunch, LoadedKernel, at_sizes, bind, describe
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
        self._symbolic = bool(contents.symbols)
        self._found = {symbol.name for symbol in contents.symbols if symbol.stage}
        self._base, weights = contents.bases_in(package.space.name)
        (planned,) = (e.arena_bytes for e in contents.spaces if e.name == package.space.name)
        self._grows = any(region.base == self._base for region in contents.regions)
        self._arena = self._allocate(0 if self._grows else planned)
        self.addresses = {self._base: self._arena.address, weights: package.weights.address}
        self._stages: dict[int, DeviceMemory] = {}
        self._tried: set[int] = set()
        self._steps: WeakSet[_Launches] = WeakSet()
        self.recording = self._has_heap = self.closed = False
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

    def bind(self, launches: Sequence[Launch], state: SessionState) -> Callable[[], None]:
        """Return the function that runs launches, and returns before they are done.

        It runs them one by one the first time, as a graph from then on: a kernel that fails the
        first time is named, and nobody knows which one of a graph failed. Of sizes that are met
        once there is no graph: it is made in the second run. Launches of sizes that a run finds
        are bound for this run, and tried out in the first one.
        """
        bases, kernels = state.bases, self._package.kernels(launches)
        pairs = [
            (launch, at_sizes(launch, kernels[launch.kernel], state.values, bases.size_bytes))
            for launch in launches
        ]
        made = _Launches(pairs, lambda index: bases.place(index).address)
        if state.allocation is None:
            made.bind(self.device, self._arena.address)
        if not self._found.isdisjoint(state.values.symbols):
            return partial(self._run_once, made, id(launches))
        if state.allocation is not None:
            apart = [_Launches([pair], made.address_of) for pair in pairs]
            return CallRuns([partial(self._run_alone, each) for each in apart])
        self._steps.add(made)
        return partial(self._run, made)

    def _run_alone(self, step: "_Launches") -> None:
        """Run one launch, whose buffers may be elsewhere in each run, without a graph."""
        buffers = [index for launch, _ in step.kernels for index in launch.buffers]
        step.bind(self.device, tuple(map(step.address_of, buffers)))
        if step.tried:
            step.enqueue(self.stream)
        else:
            step.try_out(self.stream)

    def _run_once(self, step: "_Launches", launches: int) -> None:
        if launches in self._tried:
            step.enqueue(self.stream)
            return
        step.try_out(self.stream)
        self._tried.add(launches)

    def _run(self, step: "_Launches") -> None:
        step.bind(self.device, self._arena.address)
        if self.recording:
            step.enqueue(self.stream)
        elif step.graph is not None:
            self.stream.launch(step.graph)
        elif not step.tried:
            step.try_out(self.stream)
            if not self._symbolic:
                self._make_graph(step)
        else:
            self._make_graph(step)
            self._run(step)

    def _make_graph(self, step: "_Launches") -> None:
        step.graph = self.record(lambda: step.enqueue(self.stream))

    def heap(self, keeps_arena: bool) -> DeviceHeap:
        self._has_heap = not keeps_arena
        return DeviceHeap(self.device)

    def grow(self, size: int) -> bool:
        """Make the arena at least as large, by a power of two; what was in it is lost."""
        if size <= self._arena.size_bytes or self._has_heap:
            return False
        self._replace_arena(1 << (size - 1).bit_length())
        return True

    def grow_stage(self, base: int, size: int) -> int:
        """Make the arena of a stage at least as large, by a power of two; return where it is."""
        kept = self._stages.get(base)
        if kept is None or size > kept.size_bytes:
            if kept is not None:
                kept.close()
            room = 1 << (size - 1).bit_length() if size else 0
            self._stages[base] = kept = self._allocate(room)
        return kept.address

    def trim(self) -> None:
        """Free arenas that grow; one of static sizes stays."""
        self._free_stages()
        if self._grows:
            self._replace_arena(0)

    def _free_stages(self) -> None:
        for arena in self._stages.values():
            arena.close()
        self._stages.clear()

    def _replace_arena(self, size: int) -> None:
        with self.device:
            self.stream.synchronize()
        self._arena.close()
        self._arena = self._allocate(size)
        self.addresses[self._base] = self._arena.address

    def _allocate(self, size: int) -> DeviceMemory:
        return DeviceMemory(self.device, size, "a session for its activations")

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
        self._steps.clear()
        self._free_stages()
        self._arena.close()
        del self._package


@dataclass(eq=False)
class _Launches:
    """Hold launches that are bound to an arena at some address, and the graph of them."""

    kernels: Sequence[tuple[Launch, LoadedKernel]]
    address_of: Callable[[int], int]
    launches: list[BoundLaunch] = field(default_factory=list[BoundLaunch])
    graph: Graph | None = None
    tried: bool = False
    arena: object = None

    def bind(self, device: Device, arena: object) -> None:
        """Bind the launches unless they are bound to memory at this address, or these."""
        if arena == self.arena:
            return
        with device:
            self.launches = [
                bind(device, launch, kernel, self.address_of) for launch, kernel in self.kernels
            ]
        self.arena, self.graph = arena, None

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
        self.tried = True
