"""Do steps of different targets at once."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import pairwise
from queue import SimpleQueue

from ..fork import ForkSafeLock, call_in_children
from ..step import Run
from .scheduler import Scheduler, Task


class Parallel(Scheduler):
    """Do steps of different targets at once, where none uses what another writes.

    Each target has a thread, which does one step at a time. The calling thread does those of
    devices, or else of the CPU, or else of the target with the first step. Where nothing can be
    done at once, all is done in order.
    """

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._renew()
        call_in_children(Parallel._renew, self)

    def _renew(self) -> None:
        """Begin anew in a forked process, which has none of the threads."""
        self._workers: dict[str, ThreadPoolExecutor] = {}

    def bind(self, tasks: Sequence[Task]) -> Run:
        elsewhere = _elsewhere(tasks)
        is_chain = all(task.number in {*after.after} for task, after in pairwise(tasks))
        if is_chain or not elsewhere:
            return super().bind(tasks)
        followers: dict[int, list[Task]] = {task.number: [] for task in tasks}
        for task in tasks:
            for number in task.after:
                followers[number].append(task)
        return lambda: _ParallelRun(self, tasks, followers, elsewhere).run()

    def submit(self, target: str, work: Run) -> None:
        """Let the thread of a target do some work, in a copy of the context of the caller."""
        with self._lock:
            if target not in self._workers:
                name = f"trivium-{target}"
                self._workers[target] = ThreadPoolExecutor(1, thread_name_prefix=name)
            self._workers[target].submit(copy_context().run, work)


def _elsewhere(tasks: Sequence[Task]) -> set[int]:
    """Return the numbers of the tasks that the thread which calls for a run does not do itself."""
    own = {task.number for task in tasks if task.needs_caller}
    if not own and tasks:
        targets = [task.target for task in tasks]
        target = "cpu" if "cpu" in targets else targets[0]
        own = {task.number for task in tasks if task.target == target}
    return {task.number for task in tasks} - own


class _ParallelRun:
    """Do tasks once: each begins when the last one that it needs has ended.

    When a task has failed, those that have not begun are left out.
    """

    def __init__(
        self,
        scheduler: Parallel,
        tasks: Sequence[Task],
        followers: dict[int, list[Task]],
        elsewhere: set[int],
    ) -> None:
        self._scheduler = scheduler
        self._followers = followers
        self._elsewhere = elsewhere
        self._tasks = tasks
        self._missing = {task.number: len(task.after) for task in tasks}
        self._left = len(tasks)
        self._lock = threading.Lock()
        self._ready: SimpleQueue[Task | None] = SimpleQueue()
        self._failed: list[BaseException] = []

    def run(self) -> None:
        for task in self._tasks:
            if not task.after:
                self._begin(task)
        while True:
            try:
                task = self._ready.get()
            except KeyboardInterrupt as error:  # what was begun still uses the memory
                self._failed.append(error)
                continue
            if task is None:
                break
            self._do(task)
        if self._failed:
            raise self._failed[0]

    def _begin(self, task: Task) -> None:
        if task.number in self._elsewhere:
            try:
                self._scheduler.submit(task.target, partial(self._do, task))
                return
            except RuntimeError as error:  # no thread can be started, or the interpreter ends
                self._failed.append(error)
        self._ready.put(task)

    def _do(self, task: Task) -> None:
        try:
            if not self._failed:
                task.run()
        except BaseException as error:
            self._failed.append(error)
        begun: list[Task] = []
        with self._lock:
            self._left -= 1
            for follower in self._followers[task.number]:
                self._missing[follower.number] -= 1
                if not self._missing[follower.number]:
                    begun.append(follower)
            if not self._left:
                self._ready.put(None)
        for follower in begun:
            self._begin(follower)
