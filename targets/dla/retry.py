"""Attempts: what is tried, in which order, when a schedule does not fit the memories."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.core.errors import CompileError, Diagnostic


class Retry(CompileError):
    """Ask for another attempt with other parameters, and say why this one does not fit.

    Where nobody makes attempts, as when passes run by themselves, it is an error like any other.
    """

    @property
    def reason(self) -> str:
        """Return the words alone."""
        return "; ".join(diagnostic.message for diagnostic in self.diagnostics)


@dataclass(frozen=True)
class SchedulingAttempt:
    """What an attempt may take, in percent.

    How much of sram the values that stay there may take; how much of the memories may be taken
    when loads run ahead, where 0 lets none of them; and how much of what is left tiles may take.
    """

    share: int = 100
    prefetch: int = 100
    tile_share: int = 100

    def __str__(self) -> str:
        ahead = f"prefetch {self.prefetch}" if self.prefetch else "no prefetch"
        return f"share {self.share}, {ahead}, tiles {self.tile_share}"


ATTEMPTS = (
    SchedulingAttempt(100),
    SchedulingAttempt(100, prefetch=80),
    SchedulingAttempt(75, prefetch=85),
    SchedulingAttempt(75, prefetch=70),
    SchedulingAttempt(50, prefetch=75),
    SchedulingAttempt(25, prefetch=65),
    SchedulingAttempt(0, prefetch=50),
    SchedulingAttempt(0, prefetch=0, tile_share=50),
)
"""All attempts, the one that should be fastest first; after the last one, compilation fails."""


@dataclass(frozen=True)
class Failure:
    """An attempt that did not fit: its number from 1 on, where it ended, and why."""

    attempt: int
    phase: str
    step: str
    parameters: SchedulingAttempt
    reason: str

    def __str__(self) -> str:
        return f"attempt {self.attempt}: {self.phase}: {self.reason}"


@dataclass(frozen=True)
class Log:
    """Say which attempts failed, and what the one that did not was made with."""

    failures: tuple[Failure, ...] = ()
    parameters: SchedulingAttempt = ATTEMPTS[0]


def exhausted(failures: Sequence[Failure]) -> CompileError:
    """Return the error that says of each attempt why it failed."""
    notes = tuple(f"{failure} ({failure.parameters})" for failure in failures)
    message = f"no schedule fits the memories after {len(failures)} attempts"
    return CompileError([Diagnostic("", message, notes)])
