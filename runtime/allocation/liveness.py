"""When each value of a run is alive: from the call that writes it to its last consumer."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ..contents import ABSENT, ARENA, PROCESS, Buffer
from ..errors import RunError
from ..frozen import Frozen
from ..manifest import Manifest
from ..memory import Buffers
from ..observe.calls import CallScratch, CallTable
from ..sizes.evaluation import formulas_of
from ..sizes.size_expressions import Size
from ..sizes.values import Values
from ..step import Step, all_steps


class Unit(NamedTuple):
    """Name what a run does at once: a call of native code, by its number in a step, or a step.

    `allocated` and `freed` are the numbers of values whose life begins before it and ends after it.
    """

    step: int
    call: int | None
    allocated: tuple[int, ...]
    freed: tuple[int, ...]


class Value(NamedTuple):
    """Name a value by the buffers that have it, or memory that a call needs while it runs.

    It is in the memory space `space`, that of the process or of a device.
    """

    buffers: tuple[int, ...]
    scratch: CallScratch | None = None
    space: str = PROCESS


class _Access(NamedTuple):
    """List the buffers that something reads and writes; what is `opaque` may do both."""

    step: int
    call: int | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    scratch: tuple[CallScratch, ...] = ()
    opaque: bool = False


class LiveValues(Frozen):
    """Hold the values that runs allocate in the arena's place, and what runs do, in order.

    Arenas are that of the process and those of devices. `numbers` has the number of the value for
    each buffer that a strategy gives memory. Values of steps with bodies are not among them: they
    keep their place in the arena, so that there must be one where `uses_arena` is true. `scratch`
    and `accessed` have the values of memory that a call needs meanwhile, and the buffers in the
    arena that it reads or writes, by step and call.
    """

    values: tuple[Value, ...]
    units: tuple[Unit, ...]
    numbers: dict[int, int]
    scratch: dict[tuple[int, int | None], tuple[int, ...]]
    accessed: dict[tuple[int, int | None], tuple[int, ...]]
    uses_arena: bool
    manifest: Manifest

    @property
    def spaces(self) -> tuple[str, ...]:
        """Return the memory spaces in which values are, that of the process first."""
        return tuple(dict.fromkeys((PROCESS, *(value.space for value in self.values))))

    def sizes(self, buffers: Buffers, values: Values) -> list[int]:
        """Return the bytes of each value at the sizes of a run."""
        scratch = self._scratch_sizes(values)
        return [
            next(scratch)
            if value.scratch is not None
            else max(buffers[index].size_bytes for index in value.buffers)
            for value in self.values
        ]

    def _scratch_sizes(self, values: Values) -> Iterator[int]:
        if not self.manifest.symbols:
            return (int(value.scratch.size) for value in self.values if value.scratch)
        symbols = [values.symbols[symbol.name] for symbol in self.manifest.symbols]
        (sizes,) = self._scratch_function(*symbols)
        return iter(sizes)

    @cached_property
    def _scratch_function(self) -> Callable[..., tuple[tuple[int, ...], ...]]:
        formulas = formulas_of(self.manifest)
        sizes = [formulas.read(value.scratch.size) for value in self.values if value.scratch]
        return formulas.function(sizes)


def find_liveness(manifest: Manifest, calls: CallTable) -> LiveValues:
    """Return the values of runs of a package.

    Raises RunError where calls cannot be made one by one, and where a run finds sizes.
    """
    calls.check_divisible()
    if manifest.stages:
        nodes = [n for s in all_steps(manifest.steps) if s.begins_stages for n in s.nodes]
        raise RunError(
            f"{', '.join(nodes)}: the run finds sizes here, so that memory must be 'static'"
        )
    found = _Liveness(manifest)
    for access in _accesses(manifest, calls):
        found.add(access)
    return found.finish([port.buffer for port in manifest.outputs])


def _accesses(manifest: Manifest, calls: CallTable) -> Iterator[_Access]:
    for number, step in enumerate(manifest.steps):
        listed = calls.of(step)
        if step.inner():
            yield _Access(number, None, (), tuple(_touched(step, calls)), opaque=True)
        elif listed:
            for place, call in enumerate(listed):
                yield _Access(number, place, call.reads, call.writes, call.scratch)
        elif apart := step.accesses():
            for place, (reads, writes) in enumerate(apart):
                yield _Access(number, place, reads, writes)
        else:
            yield _Access(number, None, step.operands, step.results)


def _touched(step: Step, calls: CallTable) -> Iterator[int]:
    """Yield the buffers that a step with bodies, or anything inside of it, reads or writes."""
    for each in all_steps([step]):
        yield from (*each.operands, *each.results, *each.taken)
        yield from (use.buffer for use in each.uses())
        for call in calls.of(each):
            yield from (*call.reads, *call.writes)


class _Liveness:
    """Find values in the order of a run.

    The place of a buffer, a base and an offset, has one value after the other. A buffer that is
    written begins one; one that is only read is a view of the value that its place has then.
    """

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        arenas = {manifest.bases_in(space.name)[0]: space.name for space in manifest.spaces}
        self._spaces = {ARENA: PROCESS, **arenas}
        self._accesses: list[_Access] = []
        self._buffers: list[list[int]] = []
        self._scratch: list[CallScratch | None] = []
        self._first: list[int] = []
        self._last: list[int] = []
        self._in_arena: set[int] = set()
        self._numbers: dict[int, int] = {}
        self._holders: dict[tuple[int, Size], int] = {}
        self._needs: dict[tuple[int, int | None], list[int]] = {}

    def add(self, access: _Access) -> None:
        unit = len(self._accesses)
        self._accesses.append(access)
        for index in self._moved(access.reads):
            self._use(self._holder(index, unit), unit)
        for index in self._moved(access.writes):
            if access.opaque:
                self._keep_in_arena(index, unit)
            number = self._numbers.get(index)
            self._use(self._begin(index, unit) if number is None else number, unit)
        for each in access.scratch:
            if each.base == ARENA:
                number = self._new(unit, each)
                self._needs.setdefault((access.step, access.call), []).append(number)

    def finish(self, outputs: Iterable[int]) -> LiveValues:
        end = len(self._accesses)
        for index in self._moved(outputs):
            self._use(self._holder(index, end), end)
        order = [number for number in range(len(self._first)) if number not in self._in_arena]
        renamed = {number: place for place, number in enumerate(order)}
        begun: list[list[int]] = [[] for _ in range(end + 1)]
        ended: list[list[int]] = [[] for _ in range(end + 1)]
        for number in order:
            begun[self._first[number]].append(renamed[number])
            ended[self._last[number]].append(renamed[number])
        return LiveValues(
            tuple(self._value(number) for number in order),
            tuple(
                Unit(a.step, a.call, tuple(begun[unit]), tuple(ended[unit]))
                for unit, a in enumerate(self._accesses)
            ),
            {i: renamed[n] for i, n in self._numbers.items() if n in renamed},
            {key: tuple(renamed[n] for n in needs) for key, needs in self._needs.items()},
            {
                (a.step, a.call): (*self._moved(a.reads), *self._moved(a.writes))
                for a in self._accesses
            },
            bool(self._in_arena) or any(access.opaque for access in self._accesses),
            self._manifest,
        )

    def _value(self, number: int) -> Value:
        buffers = tuple(self._buffers[number])
        base = self._manifest.buffers[buffers[0]].base if buffers else ARENA
        return Value(buffers, self._scratch[number], self._spaces[base])

    def _moved(self, indices: Iterable[int]) -> Iterator[int]:
        for index in indices:
            if index != ABSENT and self._manifest.buffers[index].base in self._spaces:
                yield index

    def _place(self, index: int) -> tuple[int, Size]:
        buffer = self._manifest.buffers[index]
        return buffer.base, buffer.offset

    def _use(self, number: int, unit: int) -> None:
        self._last[number] = unit

    def _new(self, unit: int, scratch: CallScratch | None = None) -> int:
        self._first.append(unit)
        self._last.append(unit)
        self._buffers.append([])
        self._scratch.append(scratch)
        return len(self._first) - 1

    def _begin(self, index: int, unit: int) -> int:
        """Begin a value with the buffer that is written."""
        number = self._holders[self._place(index)] = self._new(unit)
        self._name(index, number)
        return number

    def _name(self, index: int, number: int) -> None:
        self._numbers[index] = number
        self._buffers[number].append(index)

    def _holder(self, index: int, unit: int) -> int:
        """Return the value that a buffer which is read has."""
        if index not in self._numbers:
            holder = self._holders.get(self._place(index))
            if holder is None:
                raise RunError(
                    f"the package reads '{self._manifest.buffers[index].name}' before anything "
                    "writes it: compile the model again"
                )
            self._name(index, holder)
        return self._numbers[index]

    def _keep_in_arena(self, index: int, unit: int) -> None:
        """Let the value of a buffer, and the value that its place has now, stay where they are."""
        before = self._holders.get(self._place(index))
        if before is not None:
            self._in_arena.add(before)
        number = self._numbers.get(index)
        self._in_arena.add(self._begin(index, unit) if number is None else number)


class ValueBuffers:
    """Give the buffers of values bases of their own; all others are as they are `planned`."""

    def __init__(self, buffers: Buffers, numbers: dict[int, int], first: int) -> None:
        self.planned = buffers
        self._numbers = numbers
        self._first = first

    def __getitem__(self, index: int) -> Buffer:
        buffer = self.planned[index]
        number = self._numbers.get(index)
        return buffer if number is None else buffer.changed(base=self._first + number, offset=0)
