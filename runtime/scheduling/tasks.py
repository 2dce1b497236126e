"""Make tasks of steps, for a scheduler."""

from collections.abc import Mapping, Sequence

from ..binding import bind_step
from ..contents import PROCESS, Contents
from ..memory_space import SessionMemory
from ..observe.calls import CallTable
from ..state import SessionState
from ..step import Bind, Run, Step
from .accesses import Order, accesses_of
from .scheduler import ScheduledRun, Scheduler, Task


def scheduled(
    contents: Contents,
    calls: CallTable,
    steps: Sequence[Step],
    binds: Sequence[Bind],
    state: SessionState,
    scheduler: Scheduler,
    in_process: frozenset[int],
) -> Run:
    """Return what does steps in a state by a scheduler, and all that they begin on devices.

    Ports that are not `in_process` may be in the memory of a device. Raises PackageError for lists
    of calls that are wrong.
    """
    order, tasks = Order(), _Tasks(state.spaces)
    for step, bind in zip(steps, binds, strict=True):
        after = order.add(
            len(tasks.numbers), accesses_of(contents, calls, state.bases, step, in_process)
        )
        queue, run = step.queue(contents), bind_step(contents, step, bind, state)
        tasks.add(step, queue, run, after)
    tasks.wait_for_all()
    return ScheduledRun(scheduler, tasks.made, tasks.done)


class _Tasks:
    """Number tasks: a step waits for the queues of devices that have what it needs.

    `numbers` has the task of each step.
    """

    def __init__(self, spaces: Mapping[str, SessionMemory]) -> None:
        self._spaces = spaces
        self._queues: list[str] = []
        self._begun: dict[str, list[int]] = {}
        """The tasks in the queue of each device that nothing has waited for."""
        self._waits: dict[int, int] = {}
        """The task that waits for the end of another one."""
        self.made: list[Task] = []
        self.numbers: list[int] = []
        self.done: set[int] = set()

    def add(self, step: Step, queue: str, run: Run, after: set[int]) -> None:
        """Add the task of a step, given the numbers of the steps that must be done before."""
        needed = {self._ended(self.numbers[number], queue) for number in after}
        number = len(self.made)
        needs_caller = queue != PROCESS or bool(self._spaces and step.inner())
        self._append(step.target, step.nodes, needed, needs_caller, run)
        self._queues.append(queue)
        self.numbers.append(number)
        if queue != PROCESS:
            self._begun.setdefault(queue, []).append(number)

    def wait_for_all(self) -> None:
        """Add what waits for all that is in the queues of devices."""
        for queue, begun in self._begun.items():
            if begun:
                self._wait(queue)

    def _ended(self, number: int, queue: str) -> int:
        """Return the task after which a task has ended for those in a queue."""
        other = self._queues[number]
        if other in (PROCESS, queue):
            return number
        if number not in self._waits:
            self._wait(other)
        return self._waits[number]

    def _wait(self, queue: str) -> None:
        begun, number = self._begun[queue], len(self.made)
        self._append(queue, (), {*begun}, True, self._spaces[queue].synchronize)
        self._queues.append(PROCESS)
        self._waits |= dict.fromkeys(begun, number)
        begun.clear()

    def _append(
        self, target: str, nodes: tuple[str, ...], after: set[int], needs_caller: bool, run: Run
    ) -> None:
        number = len(self.made)
        made = Task(number, target, nodes, tuple(sorted(after)), needs_caller, run, self.done)
        self.made.append(made)
