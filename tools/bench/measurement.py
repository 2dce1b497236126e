"""Measure contenders in turns, by wall time and by the processor time of the whole process."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, log
from statistics import fmean, median, quantiles

Action = Callable[[], object]
Clock = Callable[[], tuple[int, int]]

_LEAST_TURN_NS = 1_000_000
_MOST_CALLS = 1000


@dataclass(frozen=True)
class Summary:
    """Summarise times: the median, the least, and the quartiles around the median."""

    median: float
    least: float
    low: float
    high: float

    @staticmethod
    def of(times: Sequence[float]) -> "Summary":
        """Summarise one time or more; quartiles are interpolated between neighbours."""
        several = times if len(times) > 1 else [*times, *times]
        low, _, high = quantiles(several, n=4, method="inclusive")
        return Summary(median(times), min(times), low, high)


@dataclass(frozen=True)
class Timing:
    """Hold the times of one call in milliseconds: that passed, and that processors spent."""

    wall: Summary
    cpu: Summary


def clocks() -> tuple[int, int]:
    """Return the wall clock and the processor time of all threads of this process, in ns."""
    return time.perf_counter_ns(), time.process_time_ns()


def interleave(
    actions: Mapping[str, Action],
    rounds: int,
    calls: int = 1,
    clock: Clock = clocks,
    rest: float = 0,
) -> dict[str, Timing]:
    """Let every action have a turn of `calls` calls in each round, always in the same order.

    So a disturbance of the machine disturbs them all. `rest` is how many seconds
    there are between turns.
    """
    turns: dict[str, list[tuple[int, int]]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            time.sleep(rest)
            turns[name].append(_turn(action, calls, clock))
    return {name: _timing(spent, calls) for name, spent in turns.items()}


def enough_calls(actions: Mapping[str, Action], clock: Clock = clocks) -> int:
    """Return how many calls make the shortest turn long enough for the clock: 1 ms."""
    shortest = min(_turn(action, 1, clock)[0] for action in actions.values())
    return min(_MOST_CALLS, max(1, ceil(_LEAST_TURN_NS / max(shortest, 1))))


def _turn(action: Action, calls: int, clock: Clock) -> tuple[int, int]:
    wall, cpu = clock()
    for _ in range(calls):
        action()
    wall_after, cpu_after = clock()
    return wall_after - wall, cpu_after - cpu


def _timing(turns: Sequence[tuple[int, int]], calls: int) -> Timing:
    wall, cpu = (
        Summary.of([ns / calls / 1e6 for ns in times]) for times in zip(*turns, strict=True)
    )
    return Timing(wall, cpu)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers, of which there is at least one."""
    return exp(fmean(map(log, ratios)))
