"""When the operations of a task run: engines are queues, and operations wait for notifications.

An engine has two groups of registers: an operation is programmed when the one before the last has
ended, and starts when the last one has, and what it waits for. Operations that hand results on run
as long as the slowest of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...core.simulator import PacketRun, Report
from ..configuration import Configuration
from ..format.dla_task import DlaTask, Operation
from ..format.network import Event
from ..format.operations import ENGINE_TYPES
from ..lint.firmware import replay
from .cycles import Cost, cost_of


@dataclass(frozen=True)
class TaskTime:
    """The runs of a task's operations, and the cost of each by itself."""

    task: DlaTask
    costs: tuple[Cost, ...]
    report: Report

    def text(self) -> str:
        """Return a line for each operation in order of its start, and the timeline."""
        lines = [self._line(run) for run in self.report.runs]
        return "\n".join([*lines, self.report.text()])

    def _line(self, run: PacketRun) -> str:
        cost = self.costs[run.number]
        moved = sum(cost.bytes_moved.values())
        own = f"{cost.compute} to compute, {cost.memory} for {moved} bytes"
        return f"{run.name}: cycles {run.start} to {run.end}, {own}"


def task_time(task: DlaTask, configuration: Configuration) -> TaskTime:
    """Return when the operations of a task run; the linter must have found no faults."""
    costs = tuple(cost_of(each, configuration) for each in task.operations)
    ends: dict[int, int] = {}
    starts: dict[int, int] = {}
    queues: list[list[int]] = [[] for _ in ENGINE_TYPES]
    runs: list[PacketRun] = []
    notifiers = _notifiers(task.operations)
    for chain in replay(task.operations, task.network.heads).chains:
        members = [task.operations[number] for number in chain]
        start = max(_ready(each, notifiers, queues, starts, ends) for each in members)
        end = start + max(costs[number].cycles for number in chain)
        for each in members:
            queues[each.engine].append(each.number)
            starts[each.number], ends[each.number] = start, end
            name = ENGINE_TYPES[each.engine].name
            runs.append(PacketRun(each.number, name, start, end, str(each)))
    moved: dict[str, int] = {}
    for cost in costs:
        for key, count in cost.bytes_moved.items():
            moved[key] = moved.get(key, 0) + count
    return TaskTime(task, costs, Report(tuple(sorted(runs, key=_place)), moved))


def in_sequence(reports: Iterable[Report]) -> Report:
    """Return the runs and bytes of tasks that run one after another, as one report."""
    runs: list[PacketRun] = []
    moved: Counter[str] = Counter()
    for each in reports:
        start = max((run.end for run in runs), default=0)
        runs += [replace(run, start=run.start + start, end=run.end + start) for run in each.runs]
        moved.update(each.bytes_moved)
    return Report(tuple(runs), moved)


def _place(run: PacketRun) -> tuple[int, int]:
    return run.start, run.number


def _notifiers(operations: Sequence[Operation]) -> Mapping[int, list[tuple[Operation, int]]]:
    """Return the operations that notify each one, and of which event."""
    found: dict[int, list[tuple[Operation, int]]] = {}
    for each in operations:
        for consumer in each.dependency.consumers:
            found.setdefault(consumer.operation, []).append((each, consumer.event))
    return found


def _ready(
    operation: Operation,
    notifiers: Mapping[int, list[tuple[Operation, int]]],
    queues: Sequence[Sequence[int]],
    starts: dict[int, int],
    ends: dict[int, int],
) -> int:
    """Return the cycle from which an operation can run: its engine is free, it was notified."""
    ready = [ends[number] for number in queues[operation.engine][-1:]]
    for other, event in notifiers.get(operation.number, ()):
        if other.number in ends:
            ready.append(_notified(other, event, queues, starts, ends))
    return max(ready, default=0)


def _notified(
    other: Operation,
    event: int,
    queues: Sequence[Sequence[int]],
    starts: dict[int, int],
    ends: dict[int, int],
) -> int:
    if event == Event.PROGRAMMED:
        queue = queues[other.engine]
        place = queue.index(other.number)
        return ends[queue[place - 2]] if place > 1 else 0
    return starts[other.number] if event == Event.ENABLED else ends[other.number]
