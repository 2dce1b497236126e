"""Prepare a package to run; what comes out is read-only and shared by sessions."""

import ctypes
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import dla, host
from .cpu import choose_code
from .elf import NativeLibrary, load_objects
from .errors import PackageError
from .manifest import FIRST_PORT, ON_GPU, Manifest, Step
from .memory import Bases, Place, aligned, allocate
from .package import Package
from .team import CODE, Team, pool_of

if TYPE_CHECKING:
    from .gpu.device import Device
    from .gpu.ports import DevicePorts
    from .gpu.program import GpuProgram


@dataclass(frozen=True)
class Room:
    """Hold what a session has for itself: memory, threads, and what is on a GPU, if any."""

    bases: Bases
    threads: int
    ports: "DevicePorts | None" = None

    def copy(self, target: Place, source: Place, size: int) -> None:
        """Copy bytes from one place to another."""
        if self.ports is not None:
            self.ports.workspace.copy(target, source, size)
        elif size:
            ctypes.memmove(target.address, source.address, size)


NO_DRIVERS: dla.Drivers = MappingProxyType({})

Bind = Callable[[Room], Callable[[], None]]
"""Prepare a step for a session."""


@dataclass(frozen=True)
class Program:
    """Hold the constants and the steps of a package; each step binds to the bases of a session.

    `machine` names what the native code in use was made for; it is empty where there is none.
    `prepared` are the constants that the load steps have computed. `gpu` is what a GPU holds of the
    package, None where no step runs on one.
    """

    package: Package
    machine: str
    weights: NDArray[np.uint8]
    prepared: NDArray[np.uint8]
    library: NativeLibrary | None
    steps: tuple[Bind, ...]
    gpu: "GpuProgram | None" = None

    def room(self, threads: int) -> Room:
        """Make room for a session."""
        manifest = self.package.manifest
        if self.gpu is None:
            return Room(Bases(manifest, self.weights, self.prepared), threads)
        from .gpu.ports import DevicePorts
        from .gpu.workspace import Workspace

        workspace = Workspace(self.gpu, manifest)
        bases = Bases(manifest, self.weights, self.prepared, workspace.bases)
        return Room(bases, threads, DevicePorts(workspace, manifest))

    def bind(self, room: Room) -> list[Callable[[], None]]:
        """Return what a run does, in order."""
        bound: list[Callable[[], None]] = []
        busy = False
        for step, bind in zip(self.package.manifest.steps, self.steps, strict=True):
            if busy and step.kind not in ON_GPU and room.ports is not None:
                bound.append(room.ports.workspace.synchronize)
            busy = step.kind in ON_GPU
            bound.append(bind(room))
        return bound + list(self._copies(room))

    def _copies(self, room: Room) -> Iterator[Callable[[], None]]:
        """Yield the copies of outputs that lie elsewhere: constants, inputs, other outputs."""
        manifest = self.package.manifest
        for base, port in enumerate(manifest.outputs, FIRST_PORT + len(manifest.inputs)):
            buffer = manifest.buffers[port.buffer]
            if buffer.base != base:
                yield partial(_copy, room, base, port.buffer, buffer.size_bytes)

    def without_gpu(self) -> "Program":
        """Return the program without what is on a GPU, which it no longer keeps there."""
        return replace(self, gpu=None, steps=())


def _copy(room: Room, base: int, buffer: int, size: int) -> None:
    room.copy(room.bases.place_in(base), room.bases.place(buffer), size)


def link(
    package: Package,
    dialects: Mapping[str, host.Ops],
    device: "int | Device" = 0,
    drivers: dla.Drivers = NO_DRIVERS,
    threads: int = 1,
) -> Program:
    """Load the native code, find kernels and drivers of steps, and bring the rest to a GPU.

    The load steps run here, on up to `threads` threads.
    """
    package.check_unchanged()
    machine, library = _load(package)
    manifest = package.manifest
    load_steps, steps = (
        tuple(_prepare(step, package, library, dialects, drivers) for step in listed)
        for listed in (manifest.load_steps, manifest.steps)
    )
    gpu = _bring(package, device)
    weights = aligned(package.weights)
    prepared = _compute_constants(manifest, weights, load_steps, threads)
    return Program(package, machine, weights, prepared, library, steps, gpu)


def _compute_constants(
    manifest: Manifest, weights: NDArray[np.uint8], steps: tuple[Bind, ...], threads: int
) -> NDArray[np.uint8]:
    """Run the load steps; return the memory that holds their results."""
    prepared = allocate(manifest.memory.prepared_bytes)
    if steps:
        room = Room(Bases(manifest, weights, prepared), threads)
        for bind in steps:
            bind(room)()
        prepared.flags.writeable = False
    return prepared


def _bring(package: Package, device: "int | Device") -> "GpuProgram | None":
    if all(step.kind not in ON_GPU for step in package.manifest.steps):
        return None
    from .gpu.device import Device
    from .gpu.program import prepare

    return prepare(package, Device.open(device))


def _load(package: Package) -> tuple[str, NativeLibrary | None]:
    if not any(name.startswith("cpu/") for name in package.entries):
        return "", None
    if CODE not in package.entries:
        raise PackageError(f"the package has native code, but no '{CODE}'")
    chosen = choose_code(package.manifest.machines)
    library = load_objects(
        {
            name: data
            for name, data in package.entries.items()
            if name == CODE or name.rpartition("/")[0] + "/" == chosen.folder
        }
    )
    return chosen.machine, library


def _prepare(
    step: Step,
    package: Package,
    library: NativeLibrary | None,
    dialects: Mapping[str, host.Ops],
    drivers: dla.Drivers,
) -> Bind:
    if step.kind == "host":
        reference = host.find_reference(step, dialects)
        return lambda room: host.bind(step, reference, room.bases)
    if step.kind in ON_GPU:
        return partial(_bind_to_gpu, step)
    if step.kind == "dla":
        driver = dla.open_driver(step, package, drivers)
        return lambda room: dla.bind(step, driver, room.bases)
    if library is None:
        raise PackageError(f"step '{step.symbol}' is native, but the package has no native code")
    library.address(step.symbol)  # a function that is missing is found now
    pool, own = pool_of(package.entries[CODE]), package.manifest.memory.thread_bytes
    return lambda room: Team(library, step, room.bases, own, room.threads, pool).run


def _bind_to_gpu(step: Step, room: Room) -> Callable[[], None]:
    assert room.ports is not None
    if step.kind == "gpu":
        return room.ports.workspace.bind(step)
    (source,), (target,) = step.operands, step.results
    size = room.bases.size_bytes(source)
    return lambda: room.copy(room.bases.place(target), room.bases.place(source), size)
