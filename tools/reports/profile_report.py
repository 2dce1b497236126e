"""Describe profiles: three tables, by op, by node and by run; and traces for Chrome's viewer."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...runtime.observe.profile import Profile, Row
from ..spelling import columns, section

MOST_NODES = 30
"""How many rows the table of nodes has as text; JSON has all."""

_LONGEST = 56


@dataclass(frozen=True)
class RowInfo:
    """Sum up the calls of an op or of nodes in one run, on average; times are in us."""

    name: str
    ops: tuple[str, ...]
    target: str
    calls: float
    us: float
    share: float
    gflops_per_second: float
    gbytes_per_second: float


@dataclass(frozen=True)
class RunInfo:
    """Describe one run: its time, and that in kernels."""

    us: float
    kernels_us: float
    overhead: float


@dataclass(frozen=True)
class ProfileInfo:
    """Describe where the time of runs went; `overhead` is the part of it outside of kernels."""

    threads: int
    us: float
    overhead: float
    by_op: tuple[RowInfo, ...]
    by_node: tuple[RowInfo, ...]
    by_run: tuple[RunInfo, ...]


def profile_info(profile: Profile) -> ProfileInfo:
    """Return the data of a report."""
    return ProfileInfo(
        profile.threads,
        profile.nanoseconds / 1e3,
        profile.overhead,
        tuple(map(_row_info, profile.by_op())),
        tuple(map(_row_info, profile.by_node())),
        tuple(
            RunInfo(run.nanoseconds / 1e3, run.in_kernels / 1e3, run.overhead)
            for run in profile.runs
        ),
    )


def _row_info(row: Row) -> RowInfo:
    return RowInfo(
        row.name,
        row.ops,
        row.target,
        row.calls,
        row.nanoseconds / 1e3,
        row.share,
        row.flops_per_second / 1e9,
        row.bytes_per_second / 1e9,
    )


def describe_profile(info: ProfileInfo) -> str:
    """Return the three tables as text."""
    nodes = info.by_node[:MOST_NODES]
    left = len(info.by_node) - len(nodes)
    rest = [f"… and {left} more: --json has all"] if left else []
    runs = [("run", "us", "kernels", "overhead"), *_run_rows(info)]
    return "\n".join(
        [
            section("by op", _table(info.by_op)).lstrip("\n"),
            section("by node", [*_table(nodes), *rest]),
            section("by run", columns(runs, "", left=1)),
            "",
            f"{info.us:.1f} us in a run on {info.threads} thread{'s' * (info.threads > 1)}, "
            f"{info.overhead:.2%} of it outside of kernels",
        ]
    )


def _table(rows: Sequence[RowInfo]) -> list[str]:
    head = ("us", "share", "calls", "GFLOP/s", "GB/s", "target")
    cells = [
        (
            f"{row.us:.1f}",
            f"{row.share:.1%}",
            f"{row.calls:g}",
            f"{row.gflops_per_second:.1f}" if row.gflops_per_second else "-",
            f"{row.gbytes_per_second:.1f}" if row.gbytes_per_second else "-",
            row.target,
        )
        for row in rows
    ]
    lines = columns([head, *cells], "", left=0)
    names = ["", *(_short(row.name) for row in rows)]
    return [f"{line}  {name}".rstrip() for line, name in zip(lines, names, strict=True)]


def _run_rows(info: ProfileInfo) -> Iterator[tuple[str, ...]]:
    for number, run in enumerate(info.by_run):
        yield f"{number}", f"{run.us:.1f}", f"{run.kernels_us:.1f}", f"{run.overhead:.2%}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def chrome_trace(profile: Profile) -> str:
    """Return the events as JSON of the Trace Event Format, which chrome://tracing opens.

    Times are in us since the first run began; each target has a row.
    Source: "Trace Event Format", the Chromium project.
    """
    start = profile.runs[0].begin
    events: list[dict[str, object]] = []
    for number, run in enumerate(profile.runs):
        events.append(_span(f"run {number}", "run", run.begin - start, run.end - start, {}))
        for event in run.events:
            name = ", ".join(event.nodes) or event.kernel or " + ".join(event.ops)
            details: dict[str, object] = {"ops": list(event.ops), "kernel": event.kernel}
            details |= {"flops": event.flops, "bytes": event.moved_bytes}
            span = event.begin - start, event.end - start
            events.append(_span(name, event.target, *span, details))
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})


def _span(
    name: str, row: str, begin: int, end: int, details: dict[str, object]
) -> dict[str, object]:
    return {
        "name": name,
        "ph": "X",
        "ts": begin / 1e3,
        "dur": (end - begin) / 1e3,
        "pid": 0,
        "tid": row,
        "args": details,
    }
