"""Plans: what a session does at some sizes, made once for each shape of its inputs."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
from threading import Lock
from typing import Any, cast

from numpy import ndarray
from numpy.typing import NDArray

from ..contents import ARENA, FIRST_PORT
from ..errors import RunError
from ..manifest import Manifest
from ..program import Program
from ..sizes.symbols import Symbols, evaluate
from ..sizes.values import Shapes, spelled_sizes
from ..state import SessionState
from .buffers import BuffersAt
from .fast_path import FastRun, fast_run
from .first_run import first_run
from .plan import Plan
from .ports import Ports

MOST_PLANS = 8
"""How many plans a session keeps: those of the shapes that were last used."""


class Plans:
    """Make the plans of a session, and keep those of the shapes that were last used.

    `exact` are the runs of programs for exact sizes, by the shapes of the inputs.
    """

    def __init__(self, program: Program, state: SessionState, ports: Ports) -> None:
        self._program = program
        self._state = state
        self._ports = ports
        self._names = [slot.name for slot in ports.inputs]
        self._stages = program.stages
        self._known = self._stages.at(0)
        manifest = program.package.manifest
        every = (*manifest.inputs, *manifest.outputs)
        self._places = [slot.base - FIRST_PORT for slot in (*ports.inputs, *ports.outputs)]
        """Where each input and each output is among those of the package."""
        self._symbols = Symbols(self._known, [every[at] for at in self._places[: len(self._names)]])
        pairs = zip(ports.outputs, self._places[len(self._names) :], strict=True)
        self._outputs = tuple(replace(slot, shape=every[at].shape) for slot, at in pairs)
        """The outputs, with the sizes of the manifest."""
        self._at_start = [self._stages.of(*slot.shape) == 0 for slot in self._outputs]
        """Whether the sizes of each output follow from the inputs."""
        self._slots = tuple(compress(self._outputs, self._at_start))
        self._kept: OrderedDict[Shapes, Plan] = OrderedDict()
        self._runs: dict[Shapes, FastRun] = {}
        self.exact: dict[Shapes, FastRun] = {}
        self.renew(Lock())

    @property
    def only_exact(self) -> bool:
        """Return whether there is no plan at all, as the package has programs for exact sizes."""
        return self._program.package.manifest.only_exact

    def renew(self, busy: Lock) -> None:
        """Use another lock: that of a session, which a forked process has anew."""
        self._busy = busy
        self._runs.clear()
        self._first = self._first_run()
        self._fast = self._first if self._ports.carried.pairs else _no_run

    def at(self, shapes: Shapes) -> Plan:
        """Return the plan for shapes of inputs, and grow the arena to what it needs.

        Raises RunError where the inputs do not fit together or to the package.
        """
        plan = self._kept.get(shapes)
        if plan is None:
            plan = self._kept[shapes] = self._make(shapes)
            if len(self._kept) > MOST_PLANS:
                oldest, _ = self._kept.popitem(last=False)
                self._runs.pop(oldest, None)
        self._kept.move_to_end(shapes)
        self._state.grow(plan.arenas)
        return plan

    def run(self, feeds: Any) -> dict[str, NDArray[Any]] | None:
        """Run at any sizes; return None for what is not simple.

        The second run at some sizes is the first that is prepared to be fast. With state, whose
        sizes may change in each run, none is.
        """
        results = self._fast(feeds)
        if results is not None or self._ports.carried.pairs or type(feeds) is not dict:
            return results
        given = cast("dict[str, object]", feeds)
        arrays = [each for name in self._names if type(each := given.get(name)) is ndarray]
        if len(arrays) != len(self._names):
            return None
        shapes = tuple([array.shape for array in arrays])
        fast = self.exact.get(shapes) or self._prepared(shapes)
        if fast is None:
            return self._first(feeds)
        if fast is self._fast:
            return None
        self._fast = fast
        return fast(feeds)

    def _prepared(self, shapes: Shapes) -> FastRun | None:
        """Return what runs the plan for some shapes, if there is one."""
        plan = self._kept.get(shapes)
        if plan is None:
            return None
        self._kept.move_to_end(shapes)
        if shapes not in self._runs:
            self._runs[shapes] = self._fast_run(plan, shapes)
        return self._runs[shapes]

    def shapes(self, given: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the outputs at values of the symbols.

        Sizes that are found when the package runs are texts.
        """
        symbols = self._symbols.given(given)
        manifest = self._program.package.manifest
        if self.only_exact and all(symbols != each.sizes for each in manifest.exact):
            raise _no_program(manifest, symbols)
        values = evaluate(self._known.evaluation, symbols)
        return {
            slot.name: tuple(s if self._stages.of(s) else values(s) for s in slot.shape)
            for slot in self._outputs
        }

    def trim(self) -> None:
        """Forget all plans, and free the arena."""
        self._kept.clear()
        self._runs.clear()
        self.exact.clear()
        self.renew(self._busy)
        self._state.trim()

    def _make(self, shapes: Shapes) -> Plan:
        manifest = self._program.package.manifest
        values = evaluate(self._known.evaluation, self._symbols.of_shapes(shapes))
        ports = values.ports
        if self._program.selection is not None:
            ports = ports.at(self._places, len(self._names))
        if shapes != ports.inputs:
            pairs = enumerate(zip(shapes, ports.inputs, strict=True))
            index, differ = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
            raise self._symbols.disagreement(index, *differ)
        if self.only_exact:
            raise _no_program(manifest, values.symbols)
        state = self._state.at(BuffersAt(manifest, values), values)
        at_start = self._at_start
        shapes = tuple(compress(ports.outputs, at_start))
        known = self._slots, shapes, tuple(compress(ports.output_bytes, at_start))
        arenas = {ARENA: manifest.memory.arena_bytes, **values.arenas}
        if not state.bases.has_arena:
            arenas[ARENA] = 0
        self._state.grow(arenas)  # steps of devices are bound to addresses
        first = next((i for i, step in enumerate(manifest.steps) if step.finds), None)
        if first is None:
            return Plan(self._program.bind(state), *known, arenas)
        from .staged import StagedRun

        steps = self._program.bind_range(state, 0, first)
        rest = StagedRun(self._program, self._outputs, state)
        return Plan(steps, *known, arenas, rest)

    def _first_run(self) -> FastRun:
        carried, known = self._ports.carried, {slot.name for slot in self._slots}
        if self._state.spaces or self._program.exact or not known.issuperset(carried.outputs):
            return _no_run
        work = (self._state.bases, self.at, self._busy)
        return first_run(self._ports, self._slots, *work)

    def _fast_run(self, plan: Plan, shapes: Shapes) -> FastRun:
        if plan.rest is not None or self._ports.carried.pairs or self._state.spaces:
            return self._first
        pairs = zip(self._ports.inputs, shapes, strict=True)
        inputs = [replace(slot, shape=shape) for slot, shape in pairs]
        work = (self._state.bases, plan.steps, self._busy)
        return fast_run(self._ports, inputs, plan.outputs, *work, plan.arenas[ARENA])


def _no_run(feeds: Any) -> None:
    """Stand for a run that is not prepared."""


def _no_program(manifest: Manifest, symbols: Mapping[str, int]) -> RunError:
    """Return the error for sizes that a package has no program for."""
    listed = "; ".join(each.spelled for each in manifest.exact)
    return RunError(
        f"the package has no program for {spelled_sizes(symbols)}, it has: {listed}: "
        f"compile again with exact=[..., {dict(symbols)}]"
    )
