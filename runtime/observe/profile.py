"""Where the time of runs goes: `session.profile`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from ..contents import Contents
from ..cpu.thread_pool import Observed
from .observer import Observation
from .peaks import Peaks


class Event(NamedTuple):
    """Hold one call of a kernel, or one step that is no native code; times are in nanoseconds.

    `own` is the time without that of steps inside, such as those of the body of a loop.
    """

    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    kernel: str
    target: str
    begin: int
    end: int
    own: int
    flops: int = 0
    moved_bytes: int = 0
    multiplies: str = ""
    is_kernel: bool = True


@dataclass(frozen=True)
class RunProfile:
    """Hold the events of one run; `begin` and `end` are those of the call of `run`."""

    begin: int
    end: int
    events: tuple[Event, ...]

    @property
    def nanoseconds(self) -> int:
        """Return how long the run took."""
        return self.end - self.begin

    @property
    def in_kernels(self) -> int:
        """Return how long the run was in kernels, in nanoseconds: the rest is overhead."""
        return sum(event.own for event in self.events if event.is_kernel)

    @property
    def flops_per_second(self) -> float:
        """Return the rate of products and sums in the whole run."""
        flops = sum(event.flops for event in self.events)
        return flops / self.nanoseconds * 1e9 if self.nanoseconds else 0.0

    @property
    def overhead(self) -> float:
        """Return which part of the run was not in kernels, from 0 to 1."""
        return 1 - self.in_kernels / self.nanoseconds if self.nanoseconds else 0.0


@dataclass(frozen=True)
class Row:
    """Sum up events of all runs: nanoseconds and calls are for one run, on average.

    `flops` and `moved_bytes` are those of one run. `of_peak` is what these operations take at the
    peak of all threads, as a part of the time; `of_copy` is the same of the bytes and of a copy by
    one core. They are None where nobody counts, and without peaks.
    """

    name: str
    ops: tuple[str, ...]
    target: str
    calls: float
    nanoseconds: float
    share: float
    flops: float
    moved_bytes: float
    of_peak: float | None = None
    of_copy: float | None = None

    @property
    def flops_per_second(self) -> float:
        """Return the rate of products and sums."""
        return self.flops / self.nanoseconds * 1e9 if self.nanoseconds else 0.0

    @property
    def bytes_per_second(self) -> float:
        """Return the rate at which operands and results are moved."""
        return self.moved_bytes / self.nanoseconds * 1e9 if self.nanoseconds else 0.0


@dataclass(frozen=True)
class Profile:
    """Hold what was seen of some runs on a number of threads; `peaks` are those of one core."""

    runs: tuple[RunProfile, ...]
    threads: int
    peaks: Peaks | None = None

    @property
    def nanoseconds(self) -> float:
        """Return how long a run took on average."""
        return sum(run.nanoseconds for run in self.runs) / len(self.runs)

    @property
    def overhead(self) -> float:
        """Return which part of the time was not in kernels, from 0 to 1."""
        total = sum(run.nanoseconds for run in self.runs)
        return (total - sum(run.in_kernels for run in self.runs)) / total if total else 0.0

    @property
    def median_overhead(self) -> float:
        """Return the median over the runs of the part that was not in kernels."""
        return median(run.overhead for run in self.runs)

    def by_node(self) -> list[Row]:
        """Return a row for the nodes of each kernel, those that take most time first."""
        return self._rows(lambda event: ", ".join(event.nodes) or event.kernel)

    def by_op(self) -> list[Row]:
        """Return a row for each combination of ops that one kernel computes."""
        return self._rows(lambda event: " + ".join(event.ops) or event.kernel)

    def of_peak(self, run: RunProfile) -> float | None:
        """Return which part of the peak of all threads a whole run reaches; None without peaks."""
        least = self._least_compute(run.events)
        return least / run.nanoseconds if least and run.nanoseconds else None

    def _rows(self, name_of: Callable[[Event], str]) -> list[Row]:
        groups: dict[tuple[str, str], list[Event]] = {}
        for run in self.runs:
            for event in run.events:
                groups.setdefault((name_of(event), event.target), []).append(event)
        count, total = len(self.runs), sum(run.nanoseconds for run in self.runs)
        rows = [self._row(name, events, count, total) for (name, _), events in groups.items()]
        return sorted(rows, key=lambda row: -row.nanoseconds)

    def _row(self, name: str, events: Sequence[Event], runs: int, total: int) -> Row:
        own = sum(event.own for event in events)
        computing, copying = self._least_compute(events), self._least_copy(events)
        return Row(
            name,
            events[0].ops,
            events[0].target,
            len(events) / runs,
            own / runs,
            own / total if total else 0.0,
            sum(event.flops for event in events) / runs,
            sum(event.moved_bytes for event in events) / runs,
            computing / own if computing and own else None,
            copying / own if copying and own else None,
        )

    def _least_compute(self, events: Sequence[Event]) -> float:
        """Return in how many nanoseconds all threads do the arithmetic at their peak."""
        if self.peaks is None:
            return 0.0
        rate = self.peaks.rate
        counted = (event.flops / rate(event.multiplies) for event in events if event.flops)
        return sum(counted) * 1e9 / self.threads

    def _least_copy(self, events: Sequence[Event]) -> float:
        """Return in how many nanoseconds one core copies as many bytes."""
        if self.peaks is None:
            return 0.0
        copies = (event.moved_bytes for event in events if event.moved_bytes)
        return sum(size / self.peaks.bandwidth(size) for size in copies) * 1e9


def events_of(observations: Sequence[Observation], contents: Contents) -> tuple[Event, ...]:
    """Return the events of a run in the order in which they ended."""
    events: list[Event] = []
    over: list[tuple[int, int]] = []
    for each in observations:
        begin, end = each.begin, each.end
        inner = 0
        while over and over[-1][0] >= begin:
            inside_begin, inside_end = over.pop()
            inner += inside_end - inside_begin
        over.append((begin, end))
        if each.calls:
            events += _call_events(each)
            continue
        ops, has_body = (each.step.operation(contents),), bool(each.step.inner())
        made = Event(each.step.nodes, ops, "", each.step.target, begin, end, end - begin - inner)
        events.append(made._replace(is_kernel=not has_body))
    return tuple(events)


def _call_events(seen: Observation) -> Iterator[Event]:
    """Yield the calls of native code; each begins when the one before it is over."""
    begin = _nanoseconds(seen, Observed.BEGIN)
    for number, call in enumerate(seen.calls):
        start = Observed.CALLS + number * Observed.CALL_WORDS
        if seen.words[start + Observed.SKIPPED]:
            continue
        end = _nanoseconds(seen, start + Observed.END)
        yield Event(
            call.nodes,
            call.ops,
            call.kernel,
            "cpu",
            begin,
            end,
            end - begin,
            call.flops,
            call.moved_bytes,
            call.multiplies,
        )
        begin = end


def _nanoseconds(seen: Observation, word: int) -> int:
    seconds, nanoseconds = seen.words[word : word + 2].tolist()
    return seconds * 1_000_000_000 + nanoseconds
