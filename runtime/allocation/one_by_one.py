"""Run a package call by call: a value gets memory before the call that writes it, and no longer."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from ..binding import bind_steps, schedule
from ..contents import ARENA, PROCESS
from ..errors import RunError
from ..frozen import Frozen
from ..manifest import Manifest
from ..memory_space import SessionMemory
from ..state import SessionState
from ..step import Bind, CallRuns, Locate, Run, Step
from .liveness import LiveValues, Unit, ValueBuffers
from .sources import CheckedAllocator, ProcessMemory, SimulatedMemory
from .strategies import STRATEGIES
from .strategy import Allocator, Memory, MemoryUse, Strategy, rounded


class MemoryChoice(Frozen):
    """Hold how sessions of a package get memory for values: a strategy, and what serves it.

    `allocators` are by memory space; others are served by the system, and by drivers of devices.
    """

    live: LiveValues
    strategy: str
    allocators: Mapping[str, Allocator]

    @property
    def uses_arena(self) -> bool:
        """Return whether some values stay in the arena."""
        return self.live.uses_arena

    @property
    def values(self) -> int:
        """Return how many values have a base of their own."""
        return len(self.live.values)

    def planned(self, manifest: Manifest) -> Manifest:
        """Return what devices plan memory for: nothing, unless values stay in arenas."""
        if self.live.uses_arena:
            return manifest
        empty = [each.changed(arena_bytes=0, arena_lower_bound=0) for each in manifest.spaces]
        return manifest.changed(spaces=tuple(empty))

    def open(self, first: int, spaces: Mapping[str, SessionMemory]) -> "OneByOne":
        """Return the strategies of a new session, whose values have the bases from a number on.

        `spaces` are what the session has in the memory of devices.
        """
        heaps = {name: each.heap(self.live.uses_arena) for name, each in spaces.items()}
        served = {name: CheckedAllocator(each) for name, each in self.allocators.items()}
        memories: dict[str, Memory] = {PROCESS: ProcessMemory(), **heaps, **served}
        kind = STRATEGIES[self.strategy]
        return OneByOne(self.live, {name: kind(each) for name, each in memories.items()}, first)


class OneByOne:
    """Allocate the values of one session by a strategy, which each memory space has one of.

    `first` is the base of the first value.
    """

    def __init__(self, live: LiveValues, strategies: Mapping[str, Strategy], first: int) -> None:
        self._live = live
        self._strategies = strategies
        self._first = first
        self._numbers = {id(step): n for n, step in enumerate(live.manifest.steps)}

    @property
    def use(self) -> MemoryUse:
        """Return what the strategies have done so far."""
        uses = {name: strategy.use for name, strategy in self._strategies.items()}
        return uses.pop(PROCESS)._replace(spaces=uses)

    def trim(self) -> None:
        """Give all memory back; the next run asks for it again."""
        for strategy in self._strategies.values():
            strategy.close()

    def calls_in(self, step: Step) -> int:
        """Return how many calls a step of native code makes."""
        number = self._numbers[id(step)]
        return sum(unit.step == number for unit in self._live.units)

    def locator(self, step: Step, state: SessionState) -> Locate:
        """Return what finds the values of the calls of a step, at the sizes of a state."""
        number, live = self._numbers[id(step)], self._live
        assert isinstance(state.bases.buffers, ValueBuffers)
        buffers = state.bases.buffers.planned
        sizes = live.sizes(buffers, state.values)
        spans: dict[int, list[tuple[int, int, tuple[int, int]]]] = {}
        for (of_step, call), indices in live.accessed.items():
            if of_step != number or call is None:
                continue
            listed = spans.setdefault(call, [])
            for index in indices:
                buffer, value = buffers[index], live.numbers.get(index)
                offset = state.values(buffer.offset)
                place = (ARENA, offset) if value is None else (self._first + value, 0)
                listed.append((offset, buffer.size_bytes, place))
            for value in live.scratch.get((number, call), ()):
                scratch = live.values[value].scratch
                assert scratch is not None
                start = state.values(scratch.offset)
                listed.append((start, sizes[value], (self._first + value, 0)))
        return lambda call, offset: _located(spans.get(call, []), offset, step)

    def bind(
        self, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState, last: Sequence[Run]
    ) -> Run:
        """Return what does a run, and `last` before its values are freed."""
        contents, live = self._live.manifest, self._live
        sizes = live.sizes(state.bases.buffers, state.values)
        apart = ValueBuffers(state.bases.buffers, live.numbers, self._first)
        own = state.changed(bases=state.bases.at(apart))
        whole = state.changed(allocation=None)
        units: dict[int, list[Unit]] = {}
        for unit in live.units:
            units.setdefault(unit.step, []).append(unit)
        done: list[tuple[tuple[int, ...], Run, tuple[int, ...]]] = []
        order, _ = schedule(contents, steps)
        for each in order:
            if isinstance(each, str):
                done.append(((), state.spaces[each].synchronize, ()))
                continue
            step = steps[each]
            used = whole if step.inner() else own
            (run,), busy = bind_steps(contents, [step], [binds[each]], used)
            runs = run.calls if isinstance(run, CallRuns) else [run]
            for unit, call in zip(units.get(each, ()), runs, strict=True):
                if unit.freed and busy != PROCESS:
                    call = partial(_then, call, state.spaces[busy].synchronize)
                done.append((unit.allocated, call, unit.freed))
        spaces = [value.space for value in live.values]
        plan = Allocations(self._strategies, spaces, sizes, [(a, f) for a, _, f in done])
        return AllocatingRun(plan, state.bases, self._first, done, last)


def _then(first: Run, second: Run) -> None:
    first()
    second()


def _located(
    spans: Sequence[tuple[int, int, tuple[int, int]]], offset: int, step: Step
) -> tuple[int, int]:
    """Return where what has some offset into the arena is now."""
    for start, size, place in spans:
        if start == offset and size:
            return place
    for start, size, (base, at) in spans:
        if start <= offset < start + max(1, size):
            return base, at + offset - start
    raise RunError(
        f"{', '.join(step.nodes)}: a call reads the arena at {offset}, where the package lists no "
        "value of it: compile the model again"
    )


class ValueBases(Protocol):
    """Know where values are; `Bases` does."""

    def bind_address(self, base: int, address: int, size: int, space: str, /) -> None:
        """Make some bytes at an address in a memory space that of `base`."""
        ...

    def unbind(self, base: int) -> None:
        """Forget the memory of `base`."""
        ...


class Allocations:
    """Hold the sizes of the values of a run, in which memory space each is, and the strategies.

    `liveness` has for each unit of the run the values that begin before it, and end after it. An
    empty value has memory, too.
    """

    def __init__(
        self,
        strategies: Mapping[str, Strategy],
        spaces: Sequence[str],
        sizes: Sequence[int],
        liveness: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    ) -> None:
        self.strategies = strategies
        self.spaces = spaces
        self.sizes = [max(1, size) for size in sizes]
        self.of = [strategies[space] for space in spaces]
        self._totals = {name: self._total(name, liveness) for name in strategies}

    def _total(
        self, space: str, liveness: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> int:
        """Return the bytes of the values of a space, or how far the strategy gets with them."""
        mine = {n for n, each in enumerate(self.spaces) if each == space}
        total = sum(rounded(self.sizes[number]) for number in mine)
        strategy = self.strategies[space]
        if strategy.maps_lazily or not strategy.needs_ranges:
            return total
        tried = type(strategy)(SimulatedMemory())
        tried.begin(total)
        at: dict[int, int] = {}
        for allocated, freed in liveness:
            at |= {n: tried.allocate(self.sizes[n]) for n in allocated if n in mine}
            for number in mine.intersection(freed):
                tried.free(at.pop(number))
        return tried.use.most_reserved_bytes

    def begin(self) -> None:
        """Begin a run."""
        for name, strategy in self.strategies.items():
            strategy.begin(self._totals[name])

    def end(self) -> None:
        """End a run: free what it left."""
        for strategy in self.strategies.values():
            strategy.end()


class AllocatingRun:
    """Do a run: each unit of it after its values get memory, and before the last of them is freed.

    The bases of values are numbered from `first` on.
    """

    def __init__(
        self,
        plan: Allocations,
        bases: ValueBases,
        first: int,
        units: Sequence[tuple[tuple[int, ...], Run, tuple[int, ...]]],
        last: Sequence[Run],
    ) -> None:
        self._plan = plan
        self._bases = bases
        self._first = first
        self._units = units
        self._last = last

    def __call__(self) -> None:
        plan, bases, first = self._plan, self._bases, self._first
        addresses: dict[int, int] = {}
        plan.begin()
        try:
            for allocated, run, freed in self._units:
                for value in allocated:
                    size, space = plan.sizes[value], plan.spaces[value]
                    addresses[value] = address = plan.of[value].allocate(size)
                    bases.bind_address(first + value, address, size, space)
                run()
                for value in freed:
                    bases.unbind(first + value)
                    plan.of[value].free(addresses.pop(value))
            for run in self._last:
                run()
        finally:
            for value in addresses:
                bases.unbind(first + value)
            plan.end()
