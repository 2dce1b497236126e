"""Plan memory whose sizes depend on symbols: fix which value lies above which others.

Where values lie at the likely sizes gives the order; at other sizes, each lies above the last end
of those that are below it and live at the same time. So values that live at once never share a
byte at any sizes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ...dialects.core.sizes.atoms import Size, is_symbolic
from ...dialects.core.sizes.dim import ceildiv, symbol
from ...dialects.core.sizes.substitution import likely
from ...dialects.core.sizes.symbols import Range
from .arena import ALIGNMENT, Interval, Plan, plan_arena


@dataclass(frozen=True)
class Region:
    """Hold the bytes of a value, rounded up, and the numbers of regions that it must lie above."""

    size_bytes: Size
    above: tuple[int, ...]


@dataclass(frozen=True)
class RegionPlan(Plan):
    """Hold a plan at the likely sizes, with offsets as sizes: that of region 3 is `at_3`."""

    regions: tuple[Region, ...] = field(default=())


def count_regions(plans: Iterable[Plan]) -> int:
    """Return how many regions some plans have."""
    return sum(len(plan.regions) for plan in plans if isinstance(plan, RegionPlan))


def plan_sizes(intervals: Sequence[Interval], alignment: int = ALIGNMENT, first: int = 0) -> Plan:
    """Place all intervals; their numbers as regions, if sizes depend on symbols, begin at `first`.

    Where no size does, the plan has numbers and no regions.
    """
    if not any(is_symbolic(interval.size_bytes) for interval in intervals):
        return plan_arena(intervals, alignment)
    plan = plan_arena([replace(i, size_bytes=_least_one(i)) for i in intervals], alignment)
    order = sorted(range(len(intervals)), key=lambda n: (plan.offsets[intervals[n].key], n))
    placed = [intervals[n] for n in order]
    regions = tuple(
        Region(ceildiv(interval.size_bytes, alignment) * alignment, tuple(first + n for n in below))
        for interval, below in zip(placed, _below(placed), strict=True)
    )
    offsets = {
        interval.key: symbol(f"at_{number}", Range(0)) if region.above else 0
        for number, (interval, region) in enumerate(zip(placed, regions, strict=True), first)
    }
    size_bytes = _likely_bytes(regions, first)
    return RegionPlan(offsets, size_bytes, min(plan.lower_bound, size_bytes), regions)


def _least_one(interval: Interval) -> int:
    """Return the likely size: one byte for nothing, so that it has a place in the order."""
    return max(likely(interval.size_bytes), 1)


def _likely_bytes(regions: Sequence[Region], first: int) -> int:
    """Return where the last region ends at the likely sizes."""
    ends: list[int] = []
    for region in regions:
        start = max((ends[below - first] for below in region.above), default=0)
        ends.append(start + likely(region.size_bytes))
    return max(ends)


def _below(placed: Sequence[Interval]) -> list[list[int]]:
    """Return what each interval must lie above, of those before it that live at the same time.

    What follows from the others is left out.
    """
    kept: list[list[int]] = []
    reached: list[int] = []  # sets of intervals below, as the bits of a number
    for number, interval in enumerate(placed):
        below: list[int] = []
        reach = 0
        for other in range(number - 1, -1, -1):
            if interval.overlaps(placed[other]) and not reach >> other & 1:
                below.append(other)
                reach |= reached[other] | 1 << other
        kept.append(below[::-1])
        reached.append(reach)
    return kept
