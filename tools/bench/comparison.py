"""Compare contenders on one model: outputs first, then times in turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ..feeds import Arrays
from ..spelling import columns
from .agreement import error
from .contenders import OURS, Contender
from .measurement import Summary, Timing, enough_calls, interleave


@dataclass(frozen=True)
class Comparison:
    """Hold how far contenders are from the first peer, and how long each takes."""

    reference: str
    errors: dict[str, float]
    timings: dict[str, Timing]
    rounds: int
    calls: int
    threads: int
    rest: float  # seconds

    @property
    def clock(self) -> str:
        """Name the clock that counts: other processes do not disturb that of one thread."""
        return "CPU" if self.threads == 1 else "wall"

    def ratio(self) -> tuple[str, float, float] | None:
        """Return the best peer, and how many times as fast we are: by medians, by least times."""
        times = {name: self._judged(timing) for name, timing in self.timings.items()}
        us = times.pop(OURS)
        if not times:
            return None
        best = min(times, key=lambda name: times[name].median)
        least = min(peer.least for peer in times.values())
        return best, times[best].median / us.median, least / us.least

    def _judged(self, timing: Timing) -> Summary:
        return timing.cpu if self.clock == "CPU" else timing.wall

    def faults(self, tolerance: float) -> list[str]:
        """Return which contenders are farther from the first peer than is tolerable."""
        return [
            f"{name} differs from {self.reference} by {error:.1e} of the largest output, "
            f"allowed is {tolerance:.0e}"
            for name, error in self.errors.items()
            if error > tolerance
        ]


def usual_rest(threads: int) -> float:
    """Return the seconds between turns in which threads of the last one stop to spin."""
    return 0.003 if threads > 1 else 0.0


def compare(
    contenders: Sequence[Contender],
    feeds: Arrays,
    rounds: int,
    threads: int,
    rest: float | None = None,
) -> Comparison:
    """Run every contender on the same inputs; the first peer is the reference.

    Before each turn there is a rest of so many seconds; unless given, as many as threads need.
    """
    rest = usual_rest(threads) if rest is None else rest
    outputs = {c.name: c.run(feeds) for c in contenders}
    reference = next((name for name in outputs if name != OURS), OURS)
    errors = {n: error(y, outputs[reference]) for n, y in outputs.items() if n != reference}
    actions = {c.name: partial(c.run, feeds) for c in contenders}
    calls = enough_calls(actions)
    timings = interleave(actions, rounds, calls, rest=rest)
    return Comparison(reference, errors, timings, rounds, calls, threads, rest)


def describe(comparison: Comparison) -> list[str]:
    """Describe a comparison: a row for each contender, and the ratio to the best peer."""
    clocks = ("CPU ms: median", "least", "quartiles", "wall ms: median", "least", "quartiles")
    rows = [
        (name, *_cells(timing.cpu), *_cells(timing.wall), _spell_error(comparison, name))
        for name, timing in comparison.timings.items()
    ]
    lines = columns([("", *clocks, "error"), *rows], "", left=1)
    if (standing := comparison.ratio()) is None:
        return [*lines, "no peer to compare with"]
    best, ratio, least = standing
    clock = f"median {comparison.clock} time, {least:.3f}x by least times"
    return [*lines, f"trivium is {ratio:.3f}x as fast as the best peer, {best} ({clock})"]


def _cells(summary: Summary) -> tuple[str, str, str]:
    quartiles = f"{spell_ms(summary.low)}..{spell_ms(summary.high)}"
    return spell_ms(summary.median), spell_ms(summary.least), quartiles


def spell_ms(milliseconds: float) -> str:
    """Spell a time with digits enough for three that mean something."""
    return f"{milliseconds:.2f}" if milliseconds >= 1 else f"{milliseconds:.4f}"


def _spell_error(comparison: Comparison, name: str) -> str:
    if name in comparison.errors:
        return f"{comparison.errors[name]:.1e}"
    return "reference" if len(comparison.timings) > 1 else "-"
