"""Measure how long something takes."""

import time
from collections.abc import Callable
from statistics import median


def measure(action: Callable[[], object], repeats: int) -> str:
    """Call `action` some times and report the time of a call."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1e3)
    return f"median {median(times):.3f} ms, min {min(times):.3f} ms of {repeats} runs"
