"""Time one piece of code alone, by the processor time that it takes."""

import time
from collections.abc import Callable

_BUDGET_SECONDS = 0.05
_LEAST_SAMPLES = 3
_SAMPLE_NS = 100_000


def least_time(
    action: Callable[[], object],
    budget: float = _BUDGET_SECONDS,
    clock: Callable[[], int] = time.process_time_ns,
) -> float:
    """Return the least time of a call in seconds, which excludes disturbances.

    Calls are timed in batches of 0.1 ms or more, for `budget` seconds, at least three times.
    """
    action()
    calls = 1
    while (spent := _batch(action, calls, clock)) < _SAMPLE_NS:
        calls *= 2
    least, total, samples = spent, 0, 0
    while total < budget * 1e9 or samples < _LEAST_SAMPLES:
        spent = _batch(action, calls, clock)
        if spent:  # some clocks of processor time stand still for a while
            least, total, samples = min(least, spent), total + spent, samples + 1
    return least / calls / 1e9


def _batch(action: Callable[[], object], calls: int, clock: Callable[[], int]) -> int:
    start = clock()
    for _ in range(calls):
        action()
    return clock() - start
