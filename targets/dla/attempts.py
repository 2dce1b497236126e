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
class Parameters:
    """What an attempt may take: how much of sram values keep that stay there, in percent,
    whether loads are hoisted to overlap with what is computed, and how much of what is left of
    the memories tiles may take, in percent.
    """

    share: int = 100
    prefetch: bool = True
    tile_share: int = 100

    def __str__(self) -> str:
        ahead = "prefetch" if self.prefetch else "no prefetch"
        return f"share {self.share}, {ahead}, tiles {self.tile_share}"


ATTEMPTS = (
    Parameters(100),
    Parameters(75),
    Parameters(50),
    Parameters(25),
    Parameters(0),
    Parameters(0, tile_share=50),
    Parameters(0, prefetch=False),
    Parameters(0, prefetch=False, tile_share=50),
)
"""All attempts, the one that should be fastest first; after the last one, compilation fails."""


@dataclass(frozen=True)
class Failure:
    """An attempt that did not fit: its number from 1 on, where it ended, and why."""

    attempt: int
    phase: str
    step: str
    parameters: Parameters
    reason: str

    def __str__(self) -> str:
        return f"attempt {self.attempt}: {self.phase}: {self.reason}"


@dataclass(frozen=True)
class Log:
    """Say which attempts failed, and what the one that did not was made with."""

    failures: tuple[Failure, ...] = ()
    parameters: Parameters = ATTEMPTS[0]


def exhausted(failures: Sequence[Failure]) -> CompileError:
    """Return the error that says of each attempt why it failed."""
    notes = tuple(f"{failure} ({failure.parameters})" for failure in failures)
    message = f"no schedule fits the memories after {len(failures)} attempts"
    return CompileError([Diagnostic("", message, notes)])
