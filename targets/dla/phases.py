"""The five phases of an accelerator: from a model's graph to packets.

Each phase is a list of passes, to which an accelerator may add its own. A pass of TensorSched or
MemAlloc may raise `Retry`: the module is reset to its state before TensorSched, and both phases run
again with the next attempt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.ir.diagnostics import compile_error
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.verification import Verify
from ...passes.core import Pass
from ...passes.instrumentation import Begun
from ...passes.pipeline import Instrumentation, Pipeline, Stage, Step
from ..core import Progress
from .required_passes import with_required
from .retry import ATTEMPTS, Failure, Retry, SchedulingAttempt, SchedulingLog, exhausted
from .snapshot import Snapshot

TENSOR_SEL = "TensorSel"
IR_OPTIMIZATION = "IrOptimization"
TENSOR_SCHED = "TensorSched"
MEM_ALLOC = "MemAlloc"
CODE_EMIT = "CodeEmit"
NAMES = (TENSOR_SEL, IR_OPTIMIZATION, TENSOR_SCHED, MEM_ALLOC, CODE_EMIT)

RETRIED = (TENSOR_SCHED, MEM_ALLOC)
"""The phases that run again after `Retry`."""

StepFactory = Step | Callable[[SchedulingAttempt], Step]
"""A pass, or a function that makes the pass for an attempt."""

Check = Callable[[Module], None]
"""A check after a phase, besides valid IR; raises CompileError."""


@dataclass(frozen=True)
class Phase:
    """A phase: its name, its input and output in words, its passes, and checks after them."""

    name: str
    takes: str
    gives: str
    steps: tuple[StepFactory, ...] = ()
    checks: tuple[Check, ...] = ()

    def steps_for(self, attempt: SchedulingAttempt) -> tuple[Step, ...]:
        """Return the passes for an attempt."""
        return tuple(step(attempt) if callable(step) else step for step in self.steps)

    def step_names(self) -> list[str]:
        """List the names of the passes in the order in which they run."""
        return _names(self.steps_for(ATTEMPTS[0]))

    def position(self, name: str) -> int:
        """Return the index of the first pass of a name; raise CompileError if there is none."""
        for index, step in enumerate(self.steps_for(ATTEMPTS[0])):
            if name in _names((step,)):
                return index
        known = ", ".join(self.step_names()) or "none"
        raise CompileError(f"phase {self.name} has no pass '{name}', it has: {known}")


class PhaseInstrumentation(Instrumentation):
    """Base of instrumentations that observe phases as well as passes."""

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
    """The phases of one accelerator, in order; every change returns a new object."""

    phases: tuple[Phase, ...] = EMPTY

    def __getitem__(self, name: str) -> Phase:
        """Return a phase; raise CompileError if there is none of that name."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        known = ", ".join(phase.name for phase in self.phases)
        raise CompileError(f"no phase is called '{name}', there are: {known}")

    def add(self, phase: str, *steps: StepFactory, before: str = "") -> "Phases":
        """Add passes to a phase: at its end, or before its first pass of a name."""
        old = self[phase].steps
        at = self[phase].position(before) if before else len(old)
        return self._with(replace(self[phase], steps=(*old[:at], *steps, *old[at:])))

    def put(self, phase: str, name: str, *steps: StepFactory) -> "Phases":
        """Replace a phase's first pass of a name by other passes, or by none."""
        old = self[phase].steps
        at = self[phase].position(name)
        return self._with(replace(self[phase], steps=(*old[:at], *steps, *old[at + 1 :])))

    def check(self, phase: str, *checks: Check) -> "Phases":
        """Add checks after a phase."""
        return self._with(replace(self[phase], checks=(*self[phase].checks, *checks)))

    def names(self) -> list[tuple[str, list[str]]]:
        """List the phases with the names of their passes, required ones included."""
        return [(phase.name, _names(steps)) for phase, steps in self.completed(ATTEMPTS[0])]

    def steps(self, *names: str) -> tuple[Step, ...]:
        """Return the passes of some phases for the first attempt, required ones included."""
        found = self.completed(ATTEMPTS[0])
        return tuple(step for phase, steps in found if phase.name in names for step in steps)

    def completed(self, attempt: SchedulingAttempt) -> list[tuple[Phase, tuple[Step, ...]]]:
        """Return the phases with their passes for an attempt, required ones included."""
        ran: set[type[Pass]] = set()
        return [(phase, with_required(phase.steps_for(attempt), ran)) for phase in self.phases]

    def run(
        self,
        module: Module,
        progress: Progress,
        *hooks: Instrumentation,
        only: Sequence[str] = NAMES,
        attempts: Sequence[SchedulingAttempt] = ATTEMPTS,
    ) -> SchedulingLog:
        """Run the phases of `only` on a module, in place, and return the scheduling attempts.

        The IR is verified after each phase. `hooks` have begun and see every pass, in every
        attempt. Raises CompileError for faults that a pass or a check finds, and with the whole
        log if no attempt fits.
        """
        return _Run(self, module, progress, hooks, attempts).run(only)

    def _with(self, changed: Phase) -> "Phases":
        return Phases(tuple(changed if p.name == changed.name else p for p in self.phases))


@dataclass(frozen=True)
class _Run:
    phases: Phases
    module: Module
    progress: Progress
    hooks: Sequence[Instrumentation]
    attempts: Sequence[SchedulingAttempt]

    def run(self, only: Sequence[str]) -> SchedulingLog:
        log = SchedulingLog(parameters=self.attempts[0])
        chosen = [phase.name for phase in self.phases.phases if phase.name in only]
        for retried, names in groupby(chosen, lambda name: name in RETRIED):
            if retried:
                log = self._until_it_fits(list(names))
            else:
                self._once(list(names), log)
        return log

    def _once(self, names: Sequence[str], log: SchedulingLog) -> None:
        for phase, steps in self._completed(names, log.parameters):
            self.progress(phase.name)
            try:
                self._phase(phase, steps, len(log.failures) + 1)
            except Retry as error:
                message = f"a pass of {phase.name} asked for another attempt ({error.reason}), "
                raise TypeError(f"{message}only those of {' and '.join(RETRIED)} may") from error

    def _until_it_fits(self, names: Sequence[str]) -> SchedulingLog:
        snapshot = Snapshot(self.module)
        failures: list[Failure] = []
        for number, attempt in enumerate(self.attempts, 1):
            failure = self._attempt(names, number, attempt)
            if failure is None:
                return SchedulingLog(tuple(failures), attempt)
            self.progress(str(failure))
            failures.append(failure)
            snapshot.restore()
        raise exhausted(failures)

    def _attempt(
        self, names: Sequence[str], number: int, attempt: SchedulingAttempt
    ) -> Failure | None:
        """Run phases for an attempt; return why it failed, or None if it fits."""
        for phase, steps in self._completed(names, attempt):
            self.progress(phase.name if number == 1 else f"{phase.name}: attempt {number}")
            last = _LastPass()
            try:
                self._phase(phase, steps, number, last)
            except Retry as error:
                return Failure(number, phase.name, last.name, attempt, error.reason)
        return None

    def _completed(
        self, names: Sequence[str], attempt: SchedulingAttempt
    ) -> list[tuple[Phase, tuple[Step, ...]]]:
        return [each for each in self.phases.completed(attempt) if each[0].name in names]

    def _phase(
        self, phase: Phase, steps: tuple[Step, ...], number: int, *own: Instrumentation
    ) -> None:
        around = [hook for hook in self.hooks if isinstance(hook, PhaseInstrumentation)]
        for hook in around:
            hook.enter(phase, number, self.module)
        Pipeline(steps).run(self.module, *map(Begun, self.hooks), *own, verify=Verify.NONE)
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


class _LastPass(Instrumentation):
    """The name of the pass that started last."""

    name = ""

    def before(self, stage: Stage, module: Module) -> None:
        self.name = stage.name


def _names(steps: tuple[Step, ...]) -> list[str]:
    return [stage.name for stage in Pipeline(steps).stages()]


def _after(phase: Phase, error: CompileError) -> CompileError:
    note = f"after phase {phase.name}"
    return CompileError(
        [Diagnostic(d.where, d.message, (*d.notes, note)) for d in error.diagnostics]
    )
