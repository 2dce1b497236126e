"""The five phases of an accelerator: from a model's graph to packets.

Each phase is a list of passes that an accelerator may add to. A pass of TensorSched or MemAlloc
may raise `Retry`: the module becomes what it was before TensorSched, and both phases run again
with the next parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...dialects.core.diagnostics import compile_error
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...passes.core import Pass
from ...passes.pipeline import Instrumentation, Pipeline, Stage, Step
from ..core import Progress
from .required_passes import with_required
from .retry import ATTEMPTS, Failure, Log, Retry, SchedulingAttempt, exhausted
from .snapshot import Snapshot

TENSOR_SEL = "TensorSel"
IR_OPTIMIZATION = "IrOptimization"
TENSOR_SCHED = "TensorSched"
MEM_ALLOC = "MemAlloc"
CODE_EMIT = "CodeEmit"
NAMES = (TENSOR_SEL, IR_OPTIMIZATION, TENSOR_SCHED, MEM_ALLOC, CODE_EMIT)

RETRIED = (TENSOR_SCHED, MEM_ALLOC)
"""Phases that run again when a pass of them asks for it."""

Listed = Step | Callable[[SchedulingAttempt], Step]
"""A pass, or what makes one from the parameters of an attempt."""

Check = Callable[[Module], None]
"""What must hold after a phase besides valid IR; raises CompileError when it does not."""


@dataclass(frozen=True)
class Phase:
    """Name a phase, what it takes and gives in words, its passes, and what it must have done."""

    name: str
    takes: str
    gives: str
    steps: tuple[Listed, ...] = ()
    checks: tuple[Check, ...] = ()

    def made(self, parameters: SchedulingAttempt) -> tuple[Step, ...]:
        """Return the passes for an attempt."""
        return tuple(made(step, parameters) for step in self.steps)

    def step_names(self) -> list[str]:
        """List the names of the passes in the order in which they run."""
        return _names(self.made(ATTEMPTS[0]))


class PhaseInstrumentation(Instrumentation):
    """Base of what wants to see the module around each phase as well as around each pass."""

    def enter(self, phase: Phase, attempt: int, module: Module) -> None: ...

    def leave(self, phase: Phase, attempt: int, module: Module) -> None: ...


EMPTY = (
    Phase(TENSOR_SEL, "a quantised graph of tri", "ops of dla on tensors"),
    Phase(IR_OPTIMIZATION, "ops of dla on tensors", "groups of them, placed on the accelerator"),
    Phase(TENSOR_SCHED, "groups on tensors", "programs on buffers, in tiles"),
    Phase(MEM_ALLOC, "programs on buffers", "programs with addresses, engines and tokens"),
    Phase(CODE_EMIT, "scheduled programs", "packets"),
)
"""The phases without any pass."""


@dataclass(frozen=True)
class Phases:
    """Hold the phases of one accelerator, in order; every change gives other phases."""

    phases: tuple[Phase, ...] = EMPTY

    def __getitem__(self, name: str) -> Phase:
        """Return a phase; raise CompileError when there is none of that name."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        known = ", ".join(phase.name for phase in self.phases)
        raise CompileError(f"no phase is called '{name}', there are: {known}")

    def add(self, phase: str, *steps: Listed, before: str = "") -> "Phases":
        """Add passes to a phase: at its end, or before its first pass of a name."""
        old = self[phase].steps
        at = _position(self[phase], before) if before else len(old)
        return self._with(replace(self[phase], steps=(*old[:at], *steps, *old[at:])))

    def put(self, phase: str, name: str, *steps: Listed) -> "Phases":
        """Put passes in the place of a phase's first pass of a name; none leave it out."""
        old = self[phase].steps
        at = _position(self[phase], name)
        return self._with(replace(self[phase], steps=(*old[:at], *steps, *old[at + 1 :])))

    def check(self, phase: str, *checks: Check) -> "Phases":
        """Add to what must hold after a phase."""
        return self._with(replace(self[phase], checks=(*self[phase].checks, *checks)))

    def names(self) -> list[tuple[str, list[str]]]:
        """List the phases with the names of their passes, those that others require among them."""
        return [(phase.name, _names(steps)) for phase, steps in self.completed(ATTEMPTS[0])]

    def completed(self, parameters: SchedulingAttempt) -> list[tuple[Phase, tuple[Step, ...]]]:
        """Return the phases with their passes for an attempt and all that those require."""
        ran: set[type[Pass]] = set()
        return [(phase, with_required(phase.made(parameters), ran)) for phase in self.phases]

    def run(
        self,
        module: Module,
        progress: Progress,
        *hooks: Instrumentation,
        only: Sequence[str] = NAMES,
        attempts: Sequence[SchedulingAttempt] = ATTEMPTS,
    ) -> Log:
        """Run the phases of `only` on a module, in place, and say which attempts it took.

        After each phase the IR is verified. Raises CompileError for what a pass or a check finds,
        and with the whole log when no attempt fits.
        """
        run = _Run(self, module, progress, hooks, only, attempts)
        run.once((TENSOR_SEL, IR_OPTIMIZATION), Log(parameters=attempts[0]))
        log = run.until_it_fits()
        run.once((CODE_EMIT,), log)
        return log

    def _with(self, changed: Phase) -> "Phases":
        return Phases(tuple(changed if p.name == changed.name else p for p in self.phases))


@dataclass(frozen=True)
class _Run:
    phases: Phases
    module: Module
    progress: Progress
    hooks: Sequence[Instrumentation]
    only: Sequence[str]
    attempts: Sequence[SchedulingAttempt]

    def chosen(
        self, names: Sequence[str], parameters: SchedulingAttempt
    ) -> list[tuple[Phase, tuple[Step, ...]]]:
        completed = self.phases.completed(parameters)
        return [each for each in completed if each[0].name in names and each[0].name in self.only]

    def once(self, names: Sequence[str], log: Log) -> None:
        for phase, steps in self.chosen(names, log.parameters):
            self.progress(phase.name)
            try:
                self._phase(phase, steps, len(log.failures) + 1, [])
            except Retry as error:
                message = f"a pass of {phase.name} asked for another attempt ({error.reason}), "
                raise TypeError(f"{message}only those of {' and '.join(RETRIED)} may") from error

    def until_it_fits(self) -> Log:
        if not self.chosen(RETRIED, self.attempts[0]):
            return Log(parameters=self.attempts[0])
        snapshot = Snapshot(self.module)
        failures: list[Failure] = []
        for number, parameters in enumerate(self.attempts, 1):
            failure = self._attempt(number, parameters)
            if failure is None:
                return Log(tuple(failures), parameters)
            self.progress(str(failure))
            failures.append(failure)
            snapshot.restore()
        raise exhausted(failures)

    def _attempt(self, number: int, parameters: SchedulingAttempt) -> Failure | None:
        """Run the phases with parameters; return why they do not fit, or None when they do."""
        for phase, steps in self.chosen(RETRIED, parameters):
            self.progress(phase.name if number == 1 else f"{phase.name}: attempt {number}")
            ran: list[str] = []
            try:
                self._phase(phase, steps, number, ran)
            except Retry as error:
                return Failure(number, phase.name, ran[-1], parameters, error.reason)
        return None

    def _phase(self, phase: Phase, steps: tuple[Step, ...], number: int, ran: list[str]) -> None:
        around = [hook for hook in self.hooks if isinstance(hook, PhaseInstrumentation)]
        for hook in around:
            hook.enter(phase, number, self.module)
        Pipeline(steps).run(self.module, *self.hooks, _Last(ran), verify_each=False)
        self._verify(phase)
        for hook in reversed(around):
            hook.leave(phase, number, self.module)

    def _verify(self, phase: Phase) -> None:
        try:
            self.module.verify()
            for check in phase.checks:
                check(self.module)
        except ir.MLIRError as error:
            raise _after(phase, compile_error(error)) from error
        except CompileError as error:
            raise _after(phase, error) from None


class _Last(Instrumentation):
    """Note the passes that started."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def before(self, stage: Stage, module: Module) -> None:
        self.names.append(stage.name)


def made(step: Listed, parameters: SchedulingAttempt) -> Step:
    """Return a pass for an attempt."""
    return step(parameters) if callable(step) else step


def _names(steps: tuple[Step, ...]) -> list[str]:
    return [stage.name for stage in Pipeline(steps).stages()]


def _position(phase: Phase, name: str) -> int:
    """Return where the first pass of a name stands; raise CompileError when there is none."""
    for place, step in enumerate(phase.made(ATTEMPTS[0])):
        if name in _names((step,)):
            return place
    known = ", ".join(phase.step_names()) or "none"
    raise CompileError(f"phase {phase.name} has no pass '{name}', it has: {known}")


def _after(phase: Phase, error: CompileError) -> CompileError:
    note = f"after phase {phase.name}"
    return CompileError(
        [Diagnostic(d.where, d.message, (*d.notes, note)) for d in error.diagnostics]
    )
