"""Run a package."""

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike, NDArray

from .carried.state import CarriedState, StatePair, Value, zeros_of
from .contents import Port, Symbol
from .cores import checked_cores
from .cpu.thread_pool import checked_threads
from .errors import RunError
from .fork import call_in_children
from .manifest import Manifest
from .memory import place_of
from .observe.observing import Observing
from .package import Package
from .plans.address_run import AddressRuns
from .plans.device_runs import DeviceRuns
from .plans.exact import ExactSessions
from .plans.fast_path import fast_run
from .plans.plan import Plan
from .plans.plan_cache import Plans
from .plans.ports import BoundRun, Ports
from .program import Program, link
from .serving.async_runs import AsyncRuns
from .sizes.symbols import Symbols, spelled_ports
from .slots import quote
from .state import SessionState
from .step import do

if TYPE_CHECKING:
    from .allocation.strategy import Allocators, MemoryUse
    from .dla.step import Drivers
    from .gpu.device import Device
    from .gpu.exchange import DeviceArrayLike
    from .gpu.workspace import Workspace
    from .host.step import Ops
    from .scheduling.scheduler import Scheduler

_NONE: Mapping[str, Any] = MappingProxyType({})


class Session(AsyncRuns, DeviceRuns, AddressRuns, Observing):
    """Run a package, one call at a time; `clone` it to run in several threads.

    Arrays may be on a GPU where the package runs on one. `with` closes the session at its end.
    """

    def __init__(
        self,
        package: Package,
        dialects: "Mapping[str, Ops]" = _NONE,
        *,
        threads: int | None = None,
        cores: "str | Sequence[int] | None" = None,
        numa: int | None = None,
        device: "int | Device" = 0,
        drivers: "Drivers" = _NONE,
        scheduler: "str | Scheduler | None" = None,
        memory: str = "static",
        allocator: "Allocators | None" = None,
    ) -> None:
        """Make `package` ready; `dialects` adds to, or replaces, those installed.

        A run takes up to `threads` threads: if that is None, as many as the package was compiled
        for, or as there are cores. All sessions of the process share them: while one of them runs
        on several, others run on the thread that called them. Results are the same, bit by bit,
        with any number.

        Threads may be bound to `cores`, `0-3` or [0, 1, 2, 3], or to those of the NUMA node `numa`,
        or, if the package names some, to these unless cores is `all`: the thread that calls, while
        it runs, and others, which sessions on the same cores share.

        What a package has for a GPU runs on number `device`; equal weights are there once.

        What it has for an accelerator runs on a simulated one, unless `drivers` has, by its name,
        a function that opens one: given the bytes of description and container, and the exact
        sizes of the program, it returns an object whose `run` takes and returns arrays of i8
        [N, H, W, C], in the order of the ports.

        The `scheduler` does the steps of a run: `sequential` in order, as None does, `parallel`
        those of different targets at once, and a `trivium.Scheduler` of your own, given as an
        object or by `module:Class`, as it likes. Clones share it.

        `memory` is how values between inputs and outputs get memory of the process: "static" in the
        arena that was planned, or "plain", "mru", "bestfit" or "compact" while a run goes from call
        to call, see docs/memory.md. An `allocator` has methods allocate(size, alignment), which
        returns an address, and free(address): "plain", if no other is given, asks it for memory.
        All clones use it. Steps are then done in order: a scheduler is refused.
        """
        settings = package.manifest.settings
        bound = checked_cores(cores, numa, settings.cores)
        count = checked_threads(settings.threads or None if threads is None else threads, bound)
        options = {"dialects": dialects, "device": device, "drivers": drivers, "cores": bound}
        program = link(package, options, count).scheduled_by(scheduler)
        if memory != "static" or allocator is not None:
            program = program.with_memory(memory, allocator)
        self._start(program, count)
        self._own_lock()
        self._bind_carried(package)

    def _start(self, program: Program, threads: int) -> None:
        manifest = program.package.manifest
        self._program = program
        self._threads = threads
        state = self._memory = program.open(threads)
        self._bases, self._spaces = state.bases, tuple(state.spaces.values())
        self._workspace = next((cast("Workspace", s) for s in self._spaces if s.ports), None)
        devices = None if self._workspace is None else self._workspace.ports
        ports = manifest, self._bases, devices, state.strings, program.selection
        self._ports = Ports(*ports)
        self._plans = Plans(program, state, self._ports) if manifest.symbols else None
        steps = [] if self._plans else program.bind(state)
        outputs = self._ports.outputs  # those of a package with symbols have no numbers
        self._plan = Plan(steps, outputs, tuple(slot.shape for slot in outputs))
        self._exact = ExactSessions(program.exact, self._open_exact)
        self._closed = False
        self._is_unchecked = not program.package.has_checked_weights

    def _own_lock(self) -> None:
        """Take a lock of its own, here and in forked processes."""
        self._renew()
        call_in_children(Session._renew, self)

    def _renew(self) -> None:
        """Reset the lock: a forked process does not have the thread that may have locked it."""
        self._busy, self._queue = threading.Lock(), None
        self._prepare_fast_run()

    def _prepare_fast_run(self) -> None:
        self._fast = None
        simple = self._memory.strings is None and not self.manifest.kept and not self._is_unchecked
        if simple and not self._spaces and not self._closed:
            work = (self._bases, self._plan.steps, self._busy)
            self._fast = fast_run(self._ports, self._ports.inputs, self._ports.outputs, *work)
        if self._plans is not None:
            self._plans.renew(self._busy)
            self._fast = self._plans.run if simple else None
        self._share()

    @property
    def manifest(self) -> Manifest:
        """Return the description of the package."""
        return self._program.package.manifest

    @property
    def threads(self) -> int:
        """Return on how many threads the session runs at most."""
        return self._threads

    @property
    def cores(self) -> tuple[int, ...]:
        """Return the cores to which runs are bound; none where they are not."""
        return self._program.cores

    @property
    def machine(self) -> str:
        """Return the name of the machine whose native code runs; empty where there is none."""
        return self._program.machine

    @property
    def device(self) -> "Device | None":
        """Return the GPU that the session runs on; None where no step does."""
        if self._workspace is not None:
            return self._workspace.device
        memories = (memory for each in self._program.exact for memory in each.spaces.values())
        return next((getattr(memory, "device", None) for memory in memories), None)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return what goes in, in order; sizes are expressions of the symbols, if any."""
        return spelled_ports(self._program.inputs, self.manifest.symbols)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return what comes out, in order."""
        return spelled_ports(self._program.outputs, self.manifest.symbols)

    @property
    def symbols(self) -> Mapping[str, Symbol]:
        """Return the sizes that may change from run to run, by name."""
        return {symbol.name: symbol for symbol in self.manifest.symbols}

    def shapes(self, **symbols: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the outputs at values of all symbols, without a run."""
        if self._plans is not None:
            return self._plans.shapes(symbols)
        Symbols(self.manifest).given(symbols)
        return {port.name: port.shape for port in self.outputs}

    @property
    def memory_use(self) -> "MemoryUse | None":
        """Return what the memory strategy of the session has done; None for static memory.

        Runs by programs for exact sizes do not count.
        """
        allocation = self._memory.allocation
        return None if allocation is None else allocation.use

    def trim(self) -> None:
        """Free the memory that runs have needed, where that depends on symbols or a strategy."""
        self._alone(self._trim)

    def run(
        self,
        feeds: "Mapping[str, ArrayLike | DeviceArrayLike]",
        outputs: "Mapping[str, NDArray[Any] | DeviceArrayLike] | None" = None,
    ) -> dict[str, Any]:
        """Compute all outputs from all inputs; those given in `outputs` are written in place.

        The others are new numpy arrays. What `bind_state` has bound is neither fed nor returned.
        Inputs that the package updates in place are written to, and their new values not returned.
        """
        if outputs is None and self._fast is not None:
            results = self._fast(feeds)
            if results is not None:
                return results
        return self._alone(self._run, feeds, _NONE if outputs is None else outputs)

    def __call__(self, *arrays: "ArrayLike | DeviceArrayLike") -> Any:
        """Compute from inputs in order; returns the output, or a tuple of several."""
        bound = self._ports.carried.turn.inputs
        names = [port.name for port in self.inputs if port.name not in bound]
        if len(arrays) != len(names):
            raise RunError(f"got {len(arrays)} inputs, must get {len(names)}: {quote(names)}")
        feeds = dict(zip(names, arrays, strict=True))
        results = tuple(self.run(feeds).values())
        return results[0] if len(results) == 1 else results

    def value(self, name: str) -> Any:
        """Return what the last run computed for a value that `compile` was told to keep.

        It is alive as long as the caller holds it: the next run makes a new array. Raises RunError
        for a value that is not kept, and before the first run.
        """
        return self._alone(self._ports.kept.value, name)

    def clone(self) -> "Session":
        """Return a session with memory of its own that shares package, weights and code.

        State is bound as in this one, and begins as `reset_state` has it.
        """
        return self._twin(self._program)

    def _twin(self, program: Program) -> "Session":
        self._check_open()
        program.package.check_unchanged()
        twin = Session.__new__(Session)
        twin._start(program, self._threads)
        twin._own_lock()
        if program.selection is None:  # in a part of a run, state is like any other value
            twin._carry(self._ports.carried.renewed(twin._create_buffer))
        return twin

    def update_weights(self, weights: "Mapping[str, ArrayLike]") -> None:
        """Run with other weights from now on, by their names in the source model.

        All that depends on them is computed anew, nothing is compiled. State and bound inputs stay.
        Clones made later, and what `save` writes, have these weights, too; other sessions of the
        package keep theirs. Raises RunError, and changes nothing, unless the package was compiled
        with `refit`, and for names, shapes and types that are not those of its weights.
        """
        self._alone(self._update_weights, weights)

    def save(
        self,
        path: str | os.PathLike[str],
        external_weights: str | None = None,
        strip: Sequence[str] = (),
    ) -> None:
        """Write the package to `path`: arguments and errors are those of `Package.save`."""
        self._program.package.save(path, external_weights, strip)

    def close(self) -> None:
        """Free what the session has on a GPU when its runs are over; it cannot run any more."""
        if not self._closed:
            self._alone(self._close)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the package and the number of threads: the copy begins as a new session does.

        Its cores are those that the package names, and it has no scheduler.
        """
        if self._program.selection is not None:
            raise RunError("the session is that of a part: pickle the whole one")
        return _unpickled, (self._program.package, self._threads)

    def __repr__(self) -> str:
        from .spelling import spell_interface, spell_threads

        device = [] if self.device is None else [self.device.name]
        where = [f"{self.manifest.target} {self.machine}".rstrip(), *device]
        where += [spell_threads(self._threads, self.cores), *["closed"] * self._closed]
        ports = self.manifest.changed(inputs=self._program.inputs, outputs=self._program.outputs)
        return f"<trivium.Session{spell_interface(ports)}, {', '.join(where)}>"

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _update_weights(self, weights: "Mapping[str, ArrayLike]") -> None:
        carried = self._ports.carried
        self._start(self._program.with_weights(weights, self._threads), self._threads)
        self._carry(carried)

    def _close(self) -> None:
        self._closed = True
        if self._queue is not None:
            self._queue.close()
        for _, each in self._exact.opened:
            each._close()
        self._exact = ExactSessions((), self._open_exact)
        self._plan, self._plans = Plan([], (), ()), None
        self._carry(CarriedState())
        self._program = self._program.without_spaces()
        for space in self._spaces:
            space.close()
        if self._memory.allocation is not None:
            self._memory.allocation.trim()
        self._spaces, self._workspace, self._ports.devices = (), None, None
        self._memory = SessionState(self._bases)

    def _run(self, feeds: Mapping[str, object], given: Mapping[str, object]) -> dict[str, Any]:
        if self._is_unchecked:
            self._check_weights()
        if self._exact:
            feeds, exact = self._choose(feeds)
            if exact is not None:
                return exact._release_after(exact._run, feeds, given)
        if self._spaces:
            results = self._compute_on_devices(feeds, given)
        else:
            results = self._compute(feeds, given)
        return self._ports.finish(results)

    def _compute_on_devices(
        self, feeds: Mapping[str, object], given: Mapping[str, object]
    ) -> dict[str, Any]:
        with ExitStack() as stack:
            for space in self._spaces:
                stack.enter_context(space)
            results = self._compute(feeds, given)
            for space in self._spaces:
                space.finish()
        return results

    def _compute(self, feeds: Mapping[str, object], given: Mapping[str, object]) -> dict[str, Any]:
        plan, bound = self._bind(feeds, given)
        do(plan.steps)
        results = bound.results if plan.rest is None else plan.rest(bound.results)
        for target, source in bound.copies:
            for space in self._spaces:
                space.synchronize()
            self._memory.copy(place_of(target), place_of(source), target.nbytes)
        return results

    def _bind(
        self, feeds: Mapping[str, object], given: Mapping[str, object]
    ) -> tuple[Plan, BoundRun]:
        """Bind inputs and outputs; return the plan at their sizes, and what is bound."""
        arrays = self._ports.take(feeds)
        plan = self._plan
        if self._plans is not None:
            plan = self._plans.at(tuple([cast("NDArray[Any]", a).shape for a in arrays]))
            if plan.rest is not None:
                plan.rest.check_given((*given, *self._ports.unreturned))
        return plan, self._ports.give(given, plan.outputs, arrays)

    def _trim(self) -> None:
        if self._memory.allocation is not None:
            self._memory.allocation.trim()
        self._ports.carried.trim()
        self._exact.clear()
        if self._plans is not None:
            self._plans.trim()

    def _carry(self, state: CarriedState) -> None:
        self._ports.carried = state
        self._prepare_fast_run()

    def _create_buffer(self, pair: StatePair) -> Value:
        devices = self._ports.devices
        written = () if pair.in_place else (pair.output,)
        bases = (slot.base for slot in (*written, *pair.inputs))
        if devices is None or devices.in_process.issuperset(bases):
            return zeros_of(pair)
        return devices.create(pair.output)


def _unpickled(package: Package, threads: int) -> Session:
    return Session(package, threads=threads)
