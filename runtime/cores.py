"""Bind threads to cores of the machine: sets of them, by number or by NUMA node."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .errors import RunError
from .numbers import checked_number

MOST_THREADS = 1024
"""How many threads may work together."""

ALL = "all"
"""Every core that the process may use: threads are not bound."""

NODES = "/sys/devices/system/node"
_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")

Cores = tuple[int, ...]
"""Logical processors by their numbers, in order; none for all that there are."""


def parse_cores(given: Any) -> Cores:
    """Read `0-3,8`, `all`, or numbers in a list; raise RunError for anything else.

    Whether the machine has them is not looked at.
    """
    if given is None or given == ALL:
        return ()
    try:
        cores = sorted(_numbers(given) if isinstance(given, str) else map(_number, given))
    except (TypeError, ValueError, RunError):
        raise RunError(f"cores is {given!r}, must be like '0-3,8', [0, 1] or '{ALL}'") from None
    return tuple(dict.fromkeys(cores))


def checked_cores(given: Any, numa: int | None, saved: Cores) -> Cores:
    """Return the cores that a user asks for, or those of a NUMA node, or else those `saved`.

    Raises RunError for those that the machine does not have, or the process may not use.
    """
    if given is not None and numa is not None:
        raise RunError("cores and numa both say where threads run: give one of them")
    cores = saved if given is None else parse_cores(given)
    if numa is not None:
        cores = _cores_of_node(numa)
    if not cores:
        return ()
    if not hasattr(os, "sched_setaffinity"):
        raise RunError("cores are given, but this system does not bind threads to cores")
    usable = os.sched_getaffinity(0)
    if missing := [core for core in cores if core not in usable]:
        fault = f"{spell_cores(missing)}, this process may use {spell_cores(usable)}"
        if given is None:
            raise RunError(f"the package asks for cores {fault}: give others, or cores='{ALL}'")
        raise RunError(f"cores has {fault}")
    return cores


def on_cores(cores: Cores, runs: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """Return what does `runs` with the calling thread bound to cores; then it is as before."""

    def run() -> None:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)
        try:
            for each in runs:
                each()
        finally:
            os.sched_setaffinity(0, before)

    return run


def spell_cores(cores: Iterable[int]) -> str:
    """Return numbers as text: `0-3,8`."""
    spans: list[list[int]] = []
    for core in sorted(cores):
        if spans and spans[-1][1] == core - 1:
            spans[-1][1] = core
        else:
            spans.append([core, core])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def _cores_of_node(numa: int) -> Cores:
    """Return the cores of a NUMA node that the process may use."""
    nodes = _nodes()
    number = checked_number("numa", numa, 0)
    if number not in nodes:
        there = spell_cores(nodes) or "none"
        raise RunError(f"numa is {number}, this machine has nodes {there}")
    usable = os.sched_getaffinity(0)
    cores = tuple(core for core in nodes[number] if core in usable)
    if not cores:
        raise RunError(
            f"numa is {number}, with cores {spell_cores(nodes[number]) or 'none'}: this process "
            f"may use {spell_cores(usable)}"
        )
    return cores


def _nodes() -> dict[int, Cores]:
    """Return the cores of each NUMA node; none where the system does not tell."""
    try:
        names = os.listdir(NODES)
    except OSError:
        return {}
    found: dict[int, Cores] = {}
    for name in names:
        if name.startswith("node") and name[4:].isdecimal():
            with open(f"{NODES}/{name}/cpulist") as file:
                text = file.read().strip()
            found[int(name[4:])] = tuple(sorted(_numbers(text))) if text else ()
    return found


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(part)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(part)
        numbers += range(first, last + 1)
    return numbers


def _number(value: Any) -> int:
    return checked_number("core", value, 0)
