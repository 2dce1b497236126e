"""Scheduling attempts: which parameters are tried, in which order, if a schedule does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.core.errors import CompileError, Diagnostic


class Retry(CompileError):
    """Request another scheduling attempt, with the reason why the current one does not fit.

    Outside of `Phases.run`, as when a pass runs by itself, it is an error like any other.
    """

    @property
    def reason(self) -> str:
        """Return the message without its location."""
        return "; ".join(diagnostic.message for diagnostic in self.diagnostics)


@dataclass(frozen=True)
class SchedulingAttempt:
    """The parameters of an attempt, in percent.

    `share` of SRAM is for resident values; `prefetch` of the memories may be live with prefetched
    loads, of which 0 forbids all; `tile_share` of the rest is for tiles.
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
"""All attempts, the fastest expected schedule first; after the last one, compilation fails."""


@dataclass(frozen=True)
class Failure:
    """A failed attempt: its number from 1 on, its phase, its last pass, and the reason."""

    attempt: int
    phase: str
    step: str
    parameters: SchedulingAttempt
    reason: str

    def __str__(self) -> str:
        return f"attempt {self.attempt}: {self.phase}: {self.reason}"


@dataclass(frozen=True)
class SchedulingLog:
    """The failed scheduling attempts, and the parameters of the one that succeeded."""

    failures: tuple[Failure, ...] = ()
    parameters: SchedulingAttempt = ATTEMPTS[0]


def exhausted(failures: Sequence[Failure]) -> CompileError:
    """Return the error that lists all attempts with their reasons."""
    notes = tuple(f"{failure} ({failure.parameters})" for failure in failures)
    message = f"no schedule fits the memories after {len(failures)} attempts"
    return CompileError([Diagnostic("", message, notes)])
