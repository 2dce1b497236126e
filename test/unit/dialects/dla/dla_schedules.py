"""Schedules drawn at random, and whether they have an order: by sets of bytes and of steps."""

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

from dla_programs import Plan, Schedule, Step, windows

Span = tuple[str, int, int, bool]
"""A space, the first byte and the last one, and whether they are written."""


def spans(plan: Plan, step: Step, addresses: Mapping[str, int]) -> list[Span]:
    """List from where to where a step touches memory."""
    found: list[Span] = []
    for window in windows(plan, step):
        buffer = plan.type(window.buffer)
        places = window.places(buffer.shape)
        first, last = int(places.min()), int(places.max())
        base, size = addresses[window.buffer], buffer.itemsize
        bounds = base + first * size, base + last * size + size - 1
        found.append((buffer.space, *bounds, window.writes))
    return found


def conflict(one: Sequence[Span], other: Sequence[Span]) -> bool:
    return any(
        a[0] == b[0] and a[1] <= b[2] and b[1] <= a[2] and (a[3] or b[3])
        for a, b in itertools.product(one, other)
    )


def ordered(steps: Sequence[Step], waits: Sequence[Sequence[int]]) -> list[set[int]]:
    """Return for each step all those that are surely complete before it starts."""
    before: list[set[int]] = []
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        own = [*waits[number], *([last[step.engine]] if step.engine in last else [])]
        before.append(set(own).union(*(before[other] for other in own)))
        last[step.engine] = number
    return before


def missing(plan: Plan, schedule: Schedule) -> list[tuple[int, int]]:
    """List pairs of steps that meet in memory in no order."""
    touched = [spans(plan, step, schedule.addresses) for step in plan.steps]
    before = ordered(plan.steps, schedule.waits)
    return [
        (number, other)
        for number in range(len(plan.steps))
        for other in range(number)
        if other not in before[number] and conflict(touched[number], touched[other])
    ]


def placed(plan: Plan, choose: random.Random, crowded: bool) -> dict[str, int]:
    """Give addresses: each its own, or, when crowded, any at all, over each other."""
    found: dict[str, int] = {}
    ends: dict[str, int] = {}
    for name, buffer in plan.arguments.items():
        found[name] = ends.get(buffer.space, choose.randrange(1 << 36))
        ends[buffer.space] = found[name] + buffer.size_bytes + choose.randrange(3)
    for name, buffer in plan.buffers.items():
        first = ends.get(buffer.space, choose.randrange(100))
        found[name] = 4 * choose.randrange(150) if crowded else 4 * -(-first // 4)
        ends[buffer.space] = found[name] + buffer.size_bytes
    return found


def needed(plan: Plan, addresses: Mapping[str, int], choose: random.Random) -> list[list[int]]:
    """Return waits that suffice, none of which follows from the others by much."""
    touched = [spans(plan, step, addresses) for step in plan.steps]
    waits: list[list[int]] = []
    for number in range(len(plan.steps)):
        waits.append([])
        for other in reversed(range(number)):
            known = ordered(plan.steps[: number + 1], waits)[number]
            wanted = conflict(touched[number], touched[other]) or choose.random() < 0.02
            if other not in known and wanted:
                waits[number].append(other)
    return waits


def schedule(plan: Plan, seed: int, crowded: bool = False) -> Schedule:
    choose = random.Random(seed)
    addresses = placed(plan, choose, crowded)
    return Schedule(addresses, needed(plan, addresses, choose))


def without(schedule: Schedule, number: int, other: int) -> Schedule:
    """Take one token out."""
    waits: list[Any] = [list(listed) for listed in schedule.waits]
    waits[number].remove(other)
    return Schedule(schedule.addresses, waits)
