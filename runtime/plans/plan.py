"""Plans: what a session does at some sizes, made once for each shape of its inputs."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from numpy import ndarray
from numpy.typing import NDArray

from ..contents import ARENA
from ..errors import RunError
from ..frozen import Frozen
from ..manifest import Manifest, spelled_sizes
from ..program import Program
from ..sizes.symbols import Symbols, evaluate
from ..slots import Slot
from ..state import SessionState
from ..step import Run
from .buffers import BuffersAt
from .fast_path import FastRun, fast_run
from .ports import Ports, Shapes

if TYPE_CHECKING:
    from .staged import StagedRun

MOST_PLANS = 8
"""How many plans a session keeps: those of the shapes that were last used."""


class Plan(Frozen):
    """Hold the steps and the outputs of runs at some sizes, and the bytes of their arenas.

    Where a step finds sizes, they are those up to it, and `rest` does what follows.
    """

    steps: Sequence[Run]
    outputs: tuple[Slot, ...]
    arenas: Mapping[int, int] = field(default_factory=dict[int, int])
    rest: "StagedRun | None" = None


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
        self._symbols = Symbols(self._known)
        outputs = program.package.manifest.outputs
        pairs = zip(ports.outputs, outputs, strict=True)
        self._outputs = tuple(replace(slot, shape=port.shape) for slot, port in pairs)
        """The outputs, with the sizes of the manifest."""
        self._outputs_at_start = [s for s in self._outputs if not self._stages.of(*s.shape)]
        """Those whose sizes follow from the inputs."""
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
        self._fast: FastRun = _no_run
        self._runs.clear()

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
        """Run at sizes of which there is a plan; return None where `at` must be asked.

        The second run at some sizes is the first that is prepared to be fast.
        """
        results = self._fast(feeds)
        if results is not None or type(feeds) is not dict:
            return results
        given = cast("dict[str, object]", feeds)
        arrays = [each for name in self._names if type(each := given.get(name)) is ndarray]
        if len(arrays) != len(self._names):
            return None
        shapes = tuple([array.shape for array in arrays])
        fast = self.exact.get(shapes) or self._runs.get(shapes)
        if fast is None and (plan := self._kept.get(shapes)) is not None:
            fast = self._runs[shapes] = self._fast_run(plan, shapes)
        if fast is None or fast is self._fast:
            return None
        self._fast = fast
        return fast(feeds)

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
            port.name: tuple(s if self._stages.of(s) else values(s) for s in port.shape)
            for port in manifest.outputs
        }

    def trim(self) -> None:
        """Forget all plans, and free the arena."""
        self._kept.clear()
        self._runs.clear()
        self.exact.clear()
        self._fast = _no_run
        self._state.trim()

    def _make(self, shapes: Shapes) -> Plan:
        manifest = self._program.package.manifest
        values = evaluate(self._known.evaluation, self._symbols.of_shapes(shapes))
        for index, (port, shape) in enumerate(zip(manifest.inputs, shapes, strict=True)):
            wanted = tuple(map(values, port.shape))
            if shape != wanted:
                raise self._symbols.disagreement(index, shape, wanted)
        if self.only_exact:
            raise _no_program(manifest, values.symbols)
        bases = self._state.bases.at(BuffersAt(manifest.buffers, values))
        state = replace(self._state, bases=bases, values=values)
        outputs = tuple(
            Slot(slot.name, slot.base, tuple(map(values, slot.shape)), slot.dtype)
            for slot in self._outputs_at_start
        )
        arenas = {ARENA: manifest.memory.arena_bytes, **values.arenas}
        self._state.grow(arenas)  # steps of devices are bound to addresses
        if not manifest.stages:
            return Plan(self._program.bind(state), outputs, arenas)
        from .staged import StagedRun

        first = next(i for i, step in enumerate(manifest.steps) if step.finds)
        steps = self._program.bind_range(state, 0, first)
        rest = StagedRun(self._program, self._outputs, state)
        return Plan(steps, outputs, arenas, rest)

    def _fast_run(self, plan: Plan, shapes: Shapes) -> FastRun:
        if plan.rest is not None or self._ports.carried.pairs or self._state.spaces:
            return _no_run
        pairs = zip(self._ports.inputs, shapes, strict=True)
        inputs = [replace(slot, shape=shape) for slot, shape in pairs]
        work = (self._state.bases, plan.steps, self._busy, self._ports.carried)
        return fast_run(inputs, plan.outputs, *work, plan.arenas[ARENA])


def _no_run(feeds: Any) -> None:
    """Stand for a run of a session that has not run."""


def _no_program(manifest: Manifest, symbols: Mapping[str, int]) -> RunError:
    """Return the error for sizes that a package has no program for."""
    listed = "; ".join(each.spelled for each in manifest.exact)
    return RunError(
        f"the package has no program for {spelled_sizes(symbols)}, it has: {listed}: "
        f"compile again with exact=[..., {dict(symbols)}]"
    )
