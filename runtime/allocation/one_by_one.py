"""Run a package call by call: a value gets memory before the call that writes it, and no longer."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from ..binding import bind_steps, schedule
from ..contents import ARENA, PROCESS
from ..errors import RunError
from ..frozen import Frozen
from ..state import SessionState
from ..step import Bind, CallRuns, Locate, Run, Step
from .liveness import LiveValues, Unit, ValueBuffers
from .sources import CheckedAllocator, ProcessMemory
from .strategies import STRATEGIES
from .strategy import Allocator, MemoryUse, Strategy, rounded


class MemoryChoice(Frozen):
    """Hold how sessions of a package get memory for values: a strategy, and what serves it."""

    live: LiveValues
    strategy: str
    allocator: Allocator | None = None

    @property
    def uses_arena(self) -> bool:
        """Return whether some values stay in the arena."""
        return self.live.uses_arena

    @property
    def values(self) -> int:
        """Return how many values have a base of their own."""
        return len(self.live.values)

    def open(self, first: int) -> "OneByOne":
        """Return the strategy of a new session, whose values have the bases from a number on."""
        allocator = self.allocator
        memory = ProcessMemory() if allocator is None else CheckedAllocator(allocator)
        return OneByOne(self.live, STRATEGIES[self.strategy](memory), first)


class OneByOne:
    """Allocate the values of one session by a strategy; `first` is the base of the first value."""

    def __init__(self, live: LiveValues, strategy: Strategy, first: int) -> None:
        self._live = live
        self._strategy = strategy
        self._first = first
        self._numbers = {id(step): n for n, step in enumerate(live.manifest.steps)}

    @property
    def use(self) -> MemoryUse:
        """Return what the strategy has done so far."""
        return self._strategy.use

    def trim(self) -> None:
        """Give all memory back; the next run asks for it again."""
        self._strategy.close()

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
        return AllocatingRun(self._strategy, state.bases, self._first, sizes, done, last)


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

    def bind_address(self, base: int, address: int, size: int) -> None:
        """Make some bytes at an address the memory of `base`."""
        ...

    def unbind(self, base: int) -> None:
        """Forget the memory of `base`."""
        ...


class AllocatingRun:
    """Do a run: each unit of it after its values get memory, and before the last of them is freed.

    `sizes` are the bytes of the values, whose bases are numbered from `first` on; an empty value
    has memory, too.
    """

    def __init__(
        self,
        strategy: Strategy,
        bases: ValueBases,
        first: int,
        sizes: Sequence[int],
        units: Sequence[tuple[tuple[int, ...], Run, tuple[int, ...]]],
        last: Sequence[Run],
    ) -> None:
        self._strategy = strategy
        self._bases = bases
        self._first = first
        self._sizes = [max(1, size) for size in sizes]
        self._units = units
        self._last = last
        self._total = sum(map(rounded, self._sizes))

    def __call__(self) -> None:
        strategy, bases, first, sizes = self._strategy, self._bases, self._first, self._sizes
        addresses: dict[int, int] = {}
        strategy.begin(self._total)
        try:
            for allocated, run, freed in self._units:
                for value in allocated:
                    addresses[value] = address = strategy.allocate(sizes[value])
                    bases.bind_address(first + value, address, sizes[value])
                run()
                for value in freed:
                    bases.unbind(first + value)
                    strategy.free(addresses.pop(value))
            for run in self._last:
                run()
        finally:
            for value in addresses:
                bases.unbind(first + value)
            strategy.end()
