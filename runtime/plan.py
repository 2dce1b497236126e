"""Plans: what a session does at some sizes, made once for each shape of its inputs."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeAlias, cast

from numpy import ndarray
from numpy.typing import NDArray

from .contents import ARENA, Buffer
from .evaluation import Values
from .fast_path import FastRun, fast_run
from .ports import Ports
from .program import Program
from .size_fields import with_sizes
from .slots import Slot
from .state import SessionState
from .step import Run
from .symbols import Symbols, evaluate

MOST_PLANS = 8
"""How many plans a session keeps: those of the shapes that were last used."""

Shapes: TypeAlias = tuple[tuple[int, ...], ...]
"""The shapes of all inputs, in order."""


@dataclass(frozen=True)
class Plan:
    """Hold the steps and the outputs of runs at some sizes, and the bytes of their arena."""

    steps: Sequence[Run]
    outputs: tuple[Slot, ...]
    arena_bytes: int = 0


class BuffersAt:
    """Give the buffers of a package the numbers of a plan, each when it is first asked for."""

    def __init__(self, buffers: Sequence[Buffer], values: Values) -> None:
        self._buffers = buffers
        self._values = values
        self._known: dict[int, Buffer] = {}

    def __getitem__(self, index: int) -> Buffer:
        found = self._known.get(index)
        if found is None:
            found = self._known[index] = with_sizes(self._buffers[index], self._values)
        return found


class Plans:
    """Make the plans of a session, and keep those of the shapes that were last used."""

    def __init__(self, program: Program, state: SessionState, ports: Ports) -> None:
        self._program = program
        self._state = state
        self._ports = ports
        self._names = [slot.name for slot in ports.inputs]
        self._symbols = Symbols(program.package.manifest)
        self._kept: OrderedDict[Shapes, tuple[Plan, FastRun]] = OrderedDict()
        self.renew(Lock())

    def renew(self, busy: Lock) -> None:
        """Use another lock: that of a session, which a forked process has anew."""
        self._busy = busy
        self._fast: FastRun = _no_run
        for shapes, (plan, _) in self._kept.items():
            self._kept[shapes] = plan, self._fast_run(plan, shapes)

    def at(self, shapes: Shapes) -> Plan:
        """Return the plan for shapes of inputs, and grow the arena to what it needs.

        Raises RunError where the inputs do not fit together or to the package.
        """
        found = self._kept.get(shapes)
        if found is None:
            plan = self._make(shapes)
            found = self._kept[shapes] = plan, self._fast_run(plan, shapes)
            if len(self._kept) > MOST_PLANS:
                self._kept.popitem(last=False)
        plan, fast = found
        self._kept.move_to_end(shapes)
        self._state.bases.grow(plan.arena_bytes)
        self._fast = fast
        return plan

    def run(self, feeds: Any) -> dict[str, NDArray[Any]] | None:
        """Run at sizes of which there is a plan; return None where `at` must be asked."""
        results = self._fast(feeds)
        if results is not None or type(feeds) is not dict:
            return results
        given = cast("dict[str, object]", feeds)
        arrays = [each for name in self._names if type(each := given.get(name)) is ndarray]
        if len(arrays) != len(self._names):
            return None
        found = self._kept.get(tuple([array.shape for array in arrays]))
        if found is None or found[1] is self._fast:
            return None
        self._fast = found[1]
        return self._fast(feeds)

    def shapes(self, given: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the outputs at values of the symbols."""
        manifest = self._program.package.manifest
        values = evaluate(manifest.evaluation, self._symbols.given(given))
        return {port.name: tuple(map(values, port.shape)) for port in manifest.outputs}

    def trim(self) -> None:
        """Forget all plans, and free the arena."""
        self._kept.clear()
        self._fast = _no_run
        self._state.bases.trim()

    def _make(self, shapes: Shapes) -> Plan:
        manifest = self._program.package.manifest
        values = evaluate(manifest.evaluation, self._symbols.of_shapes(shapes))
        for index, (port, shape) in enumerate(zip(manifest.inputs, shapes, strict=True)):
            wanted = tuple(map(values, port.shape))
            if shape != wanted:
                raise self._symbols.disagreement(index, shape, wanted)
        bases = self._state.bases.at(BuffersAt(manifest.buffers, values))
        steps = self._program.bind(replace(self._state, bases=bases, values=values))
        outputs = tuple(
            replace(slot, shape=tuple(map(values, port.shape)))
            for slot, port in zip(self._ports.outputs, manifest.outputs, strict=True)
        )
        return Plan(steps, outputs, values.arenas.get(ARENA, manifest.memory.arena_bytes))

    def _fast_run(self, plan: Plan, shapes: Shapes) -> FastRun:
        pairs = zip(self._ports.inputs, shapes, strict=True)
        inputs = [replace(slot, shape=shape) for slot, shape in pairs]
        bases = self._state.bases
        return fast_run(inputs, plan.outputs, bases, plan.steps, self._busy, plan.arena_bytes)


def _no_run(feeds: Any) -> None:
    """Stand for a run of a session that has not run."""
