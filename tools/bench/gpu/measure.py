"""Measure contenders on a GPU in turns, and what a launch costs the host."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Protocol

Launch = Callable[[], object]

ROUNDS = 15
TURN_US = 20_000.0
"""About how long a turn of the slowest contender takes."""

MOST_CALLS = 500
OVERHEAD_CALLS, OVERHEAD_ROUNDS = 20, 25


class Clock(Protocol):
    """Time work on a GPU."""

    def time_us(self, work: Launch) -> float:
        """Return how long what `work` starts takes on the GPU, alone."""
        ...

    def wait(self) -> None:
        """Wait until all that was started is done."""
        ...


@dataclass(frozen=True)
class Contender:
    """Name something to measure; `launch` starts `runs` runs of it."""

    name: str
    launch: Launch
    runs: int = 1


def device_times(contenders: list[Contender], clock: Clock) -> dict[str, float]:
    """Return the microseconds of one run of each, the median of turns that they take in order."""
    slowest = max(_turn(contender, 1, clock) * contender.runs for contender in contenders)
    calls = min(MOST_CALLS, max(1, round(TURN_US / max(slowest, 1e-3))))
    turns: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for _ in range(ROUNDS):
        for contender in contenders:
            turns[contender.name].append(_turn(contender, calls, clock))
    return {name: median(times) for name, times in turns.items()}


def host_overheads(
    contenders: list[Contender],
    clock: Clock,
    now: Callable[[], int] = time.perf_counter_ns,
) -> dict[str, float]:
    """Return the microseconds that the host is kept by one launch of each: the median."""
    found: dict[str, float] = {}
    for contender in contenders:
        times: list[float] = []
        for _ in range(OVERHEAD_ROUNDS):
            clock.wait()
            start = now()
            for _ in range(OVERHEAD_CALLS):
                contender.launch()
            times.append((now() - start) / OVERHEAD_CALLS / 1e3)
        found[contender.name] = median(times)
    clock.wait()
    return found


def ratios(times: Mapping[str, float], ours: str) -> dict[str, float]:
    """Return how many times as fast as each other contender we are."""
    return {name: time / times[ours] for name, time in times.items() if name != ours}


def _turn(contender: Contender, calls: int, clock: Clock) -> float:
    def work() -> None:
        for _ in range(calls):
            contender.launch()

    return clock.time_us(work) / (calls * contender.runs)
