"""Measure what of a run is in no kernel: taking inputs, making outputs, starting the program."""

from ...runtime.session import Session
from ..feeds import Arrays

FEW, MANY = 5, 30
SECONDS = 1.0
"""Models that run often in this time are measured in many runs, others in a few."""


def measure_overhead(session: Session, feeds: Arrays) -> float:
    """Return the part of a run that is in no kernel, from 0 to 1: the median of some runs.

    The clock is read after each kernel, within the runs.
    """
    profile = session.profile(feeds, runs=FEW)
    if profile.nanoseconds * 1e-9 * MANY < SECONDS:
        profile = session.profile(feeds, runs=MANY)
    return profile.median_overhead
