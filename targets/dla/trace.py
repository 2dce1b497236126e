"""Trace the passes of all phases, attempt by attempt."""

import sys
from dataclasses import dataclass

from ...dialects.core.module import Module
from ...passes.pipeline import Stage
from .phases import Phase, PhaseInstrumentation
from .retry import Retry

UNCHANGED, CHANGED, RETRIED, FAILED = "no change", "changed", "retry", "failure"
"""Outcomes of a pass."""


@dataclass(frozen=True)
class Event:
    """The outcome of a pass in an attempt."""

    attempt: int
    phase: str
    step: str
    result: str

    def __str__(self) -> str:
        return f"attempt {self.attempt}: {self.phase}: {self.step}: {self.result}"


class Trace(PhaseInstrumentation):
    """Record the outcome of each pass; slow, because the IR is printed before and after it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._attempt, self._phase = 0, ""
        self._text = ""

    def enter(self, phase: Phase, attempt: int, module: Module) -> None:
        self._attempt, self._phase = attempt, phase.name

    def before(self, stage: Stage, module: Module) -> None:
        self._text = module.operation.get_asm(assume_verified=True)

    def after(self, stage: Stage, module: Module) -> None:
        text = module.operation.get_asm(assume_verified=True)
        self._note(stage, UNCHANGED if text == self._text else CHANGED)

    def failed(self, stage: Stage, module: Module) -> None:
        self._note(stage, RETRIED if isinstance(sys.exception(), Retry) else FAILED)

    def _note(self, stage: Stage, result: str) -> None:
        self.events.append(Event(self._attempt, self._phase, str(stage.step), result))
