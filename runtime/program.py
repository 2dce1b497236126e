"""Prepare a package to run; the result is read-only and shared by sessions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .binding import bind_steps, schedule
from .contents import FIRST_PORT, PROCESS, Port
from .cores import on_cores
from .errors import RunError
from .file.file_bytes import release_pages
from .file.vouching import RANGE
from .frozen import Frozen
from .loader import Loader
from .manifest import Manifest
from .memory import Bases, Place, aligned, allocate
from .memory_space import PackageMemory
from .package import Package
from .plans.enter import enter
from .sizes.stages import Stages
from .state import SessionState
from .step import Bind, Run, Step, all_steps
from .strings import Strings

if TYPE_CHECKING:
    from .allocation.one_by_one import MemoryChoice
    from .allocation.strategy import Allocators
    from .observe.calls import CallTable
    from .observe.observer import Observer
    from .observe.selection import Selection
    from .observe.weights_read import Spans
    from .scheduling.scheduler import Scheduler

NO_SPACES: Mapping[str, PackageMemory] = MappingProxyType({})


class Program(Frozen):
    """Hold the constants and the steps of a package, for all of its sessions.

    `machine` names what the native code in use was made for; it is empty where there is none.
    `prepared` are the constants that the load steps have computed. `spaces` are what the package
    has in other memory spaces, by their names. `stages` know what of the manifest is known when.
    `exact` are programs for exact sizes, `options` are those that the package was linked with. An
    `observer` watches runs, and a `selection` is the part of a run that is done; without one, it is
    the whole. A `scheduler` does the steps; without one, they are done in order. Threads are bound
    to `cores`, if there are any. A `choice` of memory gives each value of a run memory of its own;
    without one, values are in the arenas that were planned.
    """

    package: Package
    machine: str
    weights: NDArray[np.uint8]
    prepared: NDArray[np.uint8]
    steps: tuple[Bind, ...]
    spaces: Mapping[str, PackageMemory]
    stages: Stages
    options: Mapping[str, Any]
    exact: "tuple[Program, ...]" = ()
    observer: "Observer | None" = None
    selection: "Selection | None" = None
    scheduler: "Scheduler | None" = None
    cores: tuple[int, ...] = ()
    choice: "MemoryChoice | None" = None

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return what goes in: all inputs of the package, or those of a part of it."""
        return self._ports(self.package.manifest.inputs, self.selection and self.selection.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return what comes out of a run."""
        returned = self.package.manifest.returned
        return self._ports(returned, self.selection and self.selection.outputs)

    def _ports(self, every: tuple[Port, ...], selected: tuple[str, ...] | None) -> tuple[Port, ...]:
        if selected is None:
            return every
        manifest = self.package.manifest
        known = {port.name: port for port in (*manifest.outputs, *manifest.inputs)}
        return tuple(known[name] for name in selected)

    def open(self, threads: int) -> SessionState:
        """Return the state of a new session."""
        manifest = self.package.manifest
        in_process = _ports_in_process(manifest) if self.spaces else frozenset[int]()
        planned = manifest if self.choice is None else self.choice.planned(manifest)
        spaces = {name: memory.open(planned, in_process) for name, memory in self.spaces.items()}
        places = {
            base: Place(address, name)
            for name, memory in spaces.items()
            for base, address in memory.addresses.items()
        }
        choice = self.choice
        apart = (0, True) if choice is None else (choice.values, choice.uses_arena)
        bases = Bases(manifest, self.weights, self.prepared, places, *apart)
        strings = Strings(manifest.strings) if manifest.has_text else None
        stage = partial(enter, self.stages)
        return SessionState(
            bases,
            threads,
            spaces,
            stage=stage,
            strings=strings,
            observer=self.observer,
            allocation=None if choice is None else choice.open(manifest.base_count, spaces),
        )

    def bind(self, state: SessionState) -> list[Run]:
        """Return what a run calls, in order: steps, and what waits for the queues of devices."""
        manifest = self.package.manifest
        if state.allocation is not None:
            _, busy = schedule(manifest, manifest.steps)
            copies = list(self._copies(state, busy))
            return self._on_cores(
                [state.allocation.bind(manifest.steps, self.steps, state, copies)]
            )
        steps, binds, entering = manifest.steps, self.steps, list[Run]()
        if self.selection is not None:
            steps = [steps[number] for number in self.selection.steps]
            binds = [binds[number] for number in self.selection.steps]
            entering = list(self._entering(state, self.selection))
        bound, busy = self._bind(steps, binds, state)
        return entering + bound + list(self._copies(state, busy))

    def _bind(
        self, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
    ) -> tuple[list[Run], str]:
        """Return what doing steps calls, and the last queue."""
        bound, busy = self._bind_freely(steps, binds, state)
        return self._on_cores(bound), busy

    def _on_cores(self, bound: list[Run]) -> list[Run]:
        """Return what does the same, on the cores of the program, if it has any."""
        return [on_cores(self.cores, bound)] if self.cores else bound

    def _bind_freely(
        self, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
    ) -> tuple[list[Run], str]:
        """Return what doing steps calls in any thread, and the last queue."""
        manifest = self.package.manifest
        if self.scheduler is None:
            return bind_steps(manifest, steps, binds, state)
        from .scheduling.tasks import scheduled

        in_process = _ports_in_process(manifest)
        work = self._calls, steps, binds, state, self.scheduler, in_process
        return [scheduled(manifest, *work)], PROCESS

    @cached_property
    def _weights_read(self) -> "Spans":
        """Return the bytes of the constants that runs read, None for all."""
        if self.package.manifest.memory.weight_bytes <= RANGE:
            return None
        from .observe import weights_read

        if self.selection is None:
            return weights_read.read_by_any(self.package)
        return weights_read.read_by_part(self.package, self.selection)

    def check_weights(self) -> None:
        """Compare the constants that runs read with their checksums.

        Raises PackageError where one differs.
        """
        self.package.check_weights(self._weights_read)

    @cached_property
    def _calls(self) -> "CallTable":
        from .observe.calls import CallTable

        return CallTable(self.package)

    def scheduled_by(self, scheduler: "str | Scheduler | None") -> "Program":
        """Return the same program, and those for exact sizes, with a scheduler.

        Raises RunError where there is none of a name, and where the package does not list the calls
        of its native code.
        """
        if scheduler is None:
            return self
        from .scheduling.find import find_scheduler

        found = find_scheduler(scheduler)
        if found is None:
            return self
        self._calls.check()
        exact = tuple(each.scheduled_by(found) for each in self.exact)
        return self.changed(scheduler=found, exact=exact)

    def _entering(self, state: SessionState, selection: "Selection") -> Iterator[Run]:
        """Yield what gives a part of a run memory for values between its inputs and outputs.

        Then come the copies of values that go in to where the part reads them.
        """
        for base, port in self._based_ports(selection.between):
            memory = allocate(state.bases.size_bytes(port.buffer))
            yield partial(state.bases.bind, base, memory)
        for base, port in self._based_ports(selection.entered):
            target, size = state.bases.place(port.buffer), state.bases.size_bytes(port.buffer)

            def enter(base: int = base, target: Place = target, size: int = size) -> None:
                state.copy(target, state.bases.place_in(base), size)

            yield enter

    def _based_ports(self, names: Collection[str]) -> Iterator[tuple[int, Port]]:
        """Yield the outputs of some names with their bases."""
        manifest = self.package.manifest
        for base, port in enumerate(manifest.outputs, FIRST_PORT + len(manifest.inputs)):
            if port.name in names:
                yield base, port

    def bind_range(self, state: SessionState, start: int, stop: int) -> list[Run]:
        """Return what a run calls for some of its steps; in the end, all of them are done.

        The last are followed by the copies of outputs.
        """
        manifest = self.package.manifest
        steps, binds = manifest.steps[start:stop], self.steps[start:stop]
        bound, busy = self._bind(steps, binds, state)
        if stop == len(self.steps):
            return bound + list(self._copies(state, busy))
        return bound if busy == PROCESS else [*bound, state.spaces[busy].synchronize]

    def _copies(self, state: SessionState, busy: str) -> Iterator[Run]:
        """Yield the copies of outputs that are elsewhere: constants, inputs, other outputs.

        `busy` is the memory space in whose queue the last step is done.
        """
        for base, buffer in self._elsewhere:
            size = state.bases.size_bytes(buffer)
            yield partial(_copy, state, busy, base, buffer, size)

    @property
    def copies_outputs(self) -> bool:
        """Return whether a run ends with copies of outputs that no step writes."""
        return bool(self._elsewhere)

    @cached_property
    def _elsewhere(self) -> list[tuple[int, int]]:
        """Return the bases of outputs that no step writes, and the buffers that have them.

        New values of inputs that are updated in place go nowhere else.
        """
        manifest, selection = self.package.manifest, self.selection
        returned = [port.name for port in manifest.outputs if port.name not in manifest.updated]
        ports = self._based_ports(returned if selection is None else selection.outputs)
        places = [(base, port.buffer) for base, port in ports]
        return [place for place in places if manifest.buffers[place[1]].base != place[0]]

    def with_memory(self, memory: str, allocator: "Allocators | None") -> "Program":
        """Return the same program, and those for exact sizes, with a memory strategy.

        Raises RunError for a scheduler, which the strategy would not ask.
        """
        if self.scheduler is not None:
            raise RunError(f"memory is '{memory}', which does steps in order: give no scheduler")
        from .allocation.choice import choice_of_memory

        exact = tuple(each.with_memory(memory, allocator) for each in self.exact)
        return self.changed(choice=choice_of_memory(self.package, memory, allocator), exact=exact)

    def with_weights(self, weights: "Mapping[str, ArrayLike]", threads: int) -> "Program":
        """Return a program with other weights; raises RunError where they cannot be changed."""
        if self.selection is not None:
            raise RunError("the session is that of a part: update the weights of the whole one")
        if self.choice is not None:
            raise RunError("memory is not 'static': update the weights of a session where it is")
        package = self.package.with_weights(weights)
        return link(package, self.options, threads).scheduled_by(self.scheduler)

    def without_spaces(self) -> "Program":
        """Return the program without the memory spaces of devices."""
        return replace(self, spaces=NO_SPACES, steps=(), options=MappingProxyType({}), exact=())


def _copy(state: SessionState, busy: str, base: int, buffer: int, size: int) -> None:
    target, source = state.bases.place_in(base), state.bases.place(buffer)
    # Arrays of the caller may be in any memory space: only a run shows whose queue makes the copy.
    if busy not in (PROCESS, target.space, source.space):
        state.spaces[busy].synchronize()
    state.copy(target, source, size)


def link(package: Package, options: Mapping[str, Any], threads: int = 1) -> Program:
    """Load the steps of a package, and copy its weights to the devices that it runs on.

    `options` are those of `Loader`. The load steps run here, on up to `threads` threads. Weights
    that they do not read are not compared with their checksum here: who runs the program does that.
    """
    package.check_unchanged()
    manifest = package.manifest
    if manifest.load_steps and not package.has_checked_weights:
        from .observe.weights_read import read_at_load

        package.check_weights(read_at_load(package))
    stages = Stages(manifest)
    if manifest.symbols:
        stages.prepare()
    loader = Loader(manifest, package.entries, options)
    load_steps, steps = (
        tuple(step.load(loader) for step in listed)
        for listed in (manifest.load_steps, manifest.steps)
    )
    spaces = {
        space.name: PackageMemory.of_kind(space.name)(loader, space) for space in manifest.spaces
    }
    weights = aligned(package.unchecked_weights)
    prepared = _compute_constants(stages.at(0), weights, load_steps, threads)
    if load_steps:
        release_pages(package.unchecked_weights)  # runs read what they need of them again
    exact = tuple(link(each, options, threads) for each in package.exact)
    machine = next((each.machine for each in exact), "") if manifest.only_exact else loader.machine
    made = package, machine, weights, prepared, steps, spaces, stages, options, exact
    return Program(*made, cores=options.get("cores", ()))


def _compute_constants(
    manifest: Manifest, weights: NDArray[np.uint8], steps: tuple[Bind, ...], threads: int
) -> NDArray[np.uint8]:
    """Run the load steps; return the memory that holds their results."""
    prepared = allocate(manifest.memory.prepared_bytes)
    if steps:
        # What their threads need is a number, and at most what all steps need at any sizes.
        values = manifest.likely_values
        state = SessionState(Bases(manifest, weights, prepared), threads, values=values)
        for bind in steps:
            bind(state)()
        prepared.flags.writeable = False
    return prepared


def _ports_in_process(manifest: Manifest) -> frozenset[int]:
    """Return the bases of inputs and outputs that steps read or write in the process."""
    steps = [step for step in all_steps(manifest.steps) if step.queue(manifest) == PROCESS]
    if not all(step.lists_buffers for step in steps):
        return frozenset(range(FIRST_PORT, manifest.first_space))
    indices = {i for step in steps for i in (*step.operands, *step.results) if i >= 0}
    return frozenset(manifest.buffers[index].base for index in indices)
