"""Describe profiles: three tables, by op, by node and by run; and traces for Chrome's viewer."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...runtime.observe.peaks import Peaks
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
    mbytes: float
    of_peak: float | None
    of_copy: float | None


@dataclass(frozen=True)
class RunInfo:
    """Describe one run: its time, and that in kernels."""

    us: float
    kernels_us: float
    overhead: float
    gflops_per_second: float
    of_peak: float | None


@dataclass(frozen=True)
class PeaksInfo:
    """Hold the peaks of one core: `source` is measured or declared.

    `gops_per_second` is by element type, `copied_gbytes_per_second` by the bytes of a copy.
    """

    source: str
    gops_per_second: dict[str, float]
    copied_gbytes_per_second: dict[str, float]


@dataclass(frozen=True)
class ProfileInfo:
    """Describe where the time of runs went; `overhead` is the part of it outside of kernels."""

    threads: int
    us: float
    overhead: float
    peaks: PeaksInfo | None
    by_op: tuple[RowInfo, ...]
    by_node: tuple[RowInfo, ...]
    by_run: tuple[RunInfo, ...]


def profile_info(profile: Profile) -> ProfileInfo:
    """Return the data of a report."""
    return ProfileInfo(
        profile.threads,
        profile.nanoseconds / 1e3,
        profile.overhead,
        None if profile.peaks is None else _peaks_info(profile.peaks),
        tuple(map(_row_info, profile.by_op())),
        tuple(map(_row_info, profile.by_node())),
        tuple(
            RunInfo(
                run.nanoseconds / 1e3,
                run.in_kernels / 1e3,
                run.overhead,
                run.flops_per_second / 1e9,
                profile.of_peak(run),
            )
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
        row.moved_bytes / 1e6,
        row.of_peak,
        row.of_copy,
    )


def _peaks_info(peaks: Peaks) -> PeaksInfo:
    rates = {dtype: rate / 1e9 for dtype, rate in peaks.operations_per_second.items()}
    copies = {str(size): rate / 1e9 for size, rate in peaks.bytes_per_second.items()}
    return PeaksInfo(peaks.source, rates, copies)


def describe_profile(info: ProfileInfo) -> str:
    """Return the three tables as text."""
    nodes = info.by_node[:MOST_NODES]
    left = len(info.by_node) - len(nodes)
    rest = [f"… and {left} more: --json has all"] if left else []
    runs = [("run", "us", "kernels", "overhead", "GFLOP/s", "of peak"), *_run_rows(info)]
    return "\n".join(
        [
            section("by op", _table(info.by_op)).lstrip("\n"),
            section("by node", [*_table(nodes), *rest]),
            section("by run", columns(runs, "", left=1)),
            "",
            f"{info.us:.1f} us in a run on {info.threads} thread{'s' * (info.threads > 1)}, "
            f"{info.overhead:.2%} of it outside of kernels",
            *([] if info.peaks is None else [_describe_peaks(info.peaks)]),
        ]
    )


def _describe_peaks(peaks: PeaksInfo) -> str:
    """Return a line with what the shares are of."""
    rates = ", ".join(f"{rate:.1f} of {name}" for name, rate in peaks.gops_per_second.items())
    copies = ", ".join(f"{rate:.1f}" for rate in peaks.copied_gbytes_per_second.values())
    return f"peaks of a core, {peaks.source}: GFLOP/s {rates}; copies GB/s {copies}"


def _table(rows: Sequence[RowInfo]) -> list[str]:
    head = ("us", "share", "calls", "GFLOP/s", "of peak", "MB", "GB/s", "of copy", "target")
    cells = [
        (
            f"{row.us:.1f}",
            f"{row.share:.1%}",
            f"{row.calls:g}",
            f"{row.gflops_per_second:.1f}" if row.gflops_per_second else "-",
            _share(row.of_peak),
            f"{row.mbytes:.2f}" if row.mbytes else "-",
            f"{row.gbytes_per_second:.1f}" if row.gbytes_per_second else "-",
            _share(row.of_copy),
            row.target,
        )
        for row in rows
    ]
    lines = columns([head, *cells], "", left=0)
    names = ["", *(_short(row.name) for row in rows)]
    return [f"{line}  {name}".rstrip() for line, name in zip(lines, names, strict=True)]


def _run_rows(info: ProfileInfo) -> Iterator[tuple[str, ...]]:
    for number, run in enumerate(info.by_run):
        times = f"{run.us:.1f}", f"{run.kernels_us:.1f}", f"{run.overhead:.2%}"
        rate = f"{run.gflops_per_second:.1f}" if run.gflops_per_second else "-"
        yield (f"{number}", *times, rate, _share(run.of_peak))


def _share(part: float | None) -> str:
    return "-" if part is None else f"{part:.0%}"


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
