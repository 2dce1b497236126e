"""`Scheduler`: does the tasks of a run, each after those that it needs."""

from collections.abc import Sequence
from functools import partial

from ..errors import RunError
from ..step import Run


class Task:
    """One thing that a run does: a step, or a wait for the queue of a device.

    `target` is the name of the target that made the step, `nodes` are those that it computes.
    `after` has the numbers of the tasks that must be done before: the task uses memory that they
    write, or writes memory that they use. One that `needs_caller` must be done in the thread that
    called for the run.
    """

    def __init__(
        self,
        number: int,
        target: str,
        nodes: tuple[str, ...],
        after: tuple[int, ...],
        needs_caller: bool,
        work: Run,
        done: set[int],
    ) -> None:
        """Make a task that does `work`, and adds its number to `done`."""
        self.number = number
        self.target = target
        self.nodes = nodes
        self.after = after
        self.needs_caller = needs_caller
        self._work = work
        self._done = done

    def run(self) -> None:
        """Do the task; raises RunError where one that it needs is not done."""
        if not self._done.issuperset(self.after):
            missing = min({*self.after} - self._done)
            raise RunError(f"{self!r} is done before task {missing}, which it needs")
        self._work()
        self._done.add(self.number)

    def __repr__(self) -> str:
        nodes = ", ".join(f"'{name}'" for name in self.nodes)
        return f"task {self.number} on {self.target} ({nodes})"


class Scheduler:
    """Do the tasks of runs, in order; a scheduler of a user's own overrides `run`.

    Clones of a session share one, and may run at the same time.
    """

    def run(self, tasks: Sequence[Task]) -> None:
        """Do each task once, when those that it names in `after` are done; raise what one raises.

        All that was begun must have ended when it returns.
        """
        for task in tasks:
            task.run()

    def bind(self, tasks: Sequence[Task]) -> Run:
        """Return what a run calls, for tasks that are done again and again."""
        return partial(self.run, tasks)


class ScheduledRun:
    """Let a scheduler do all tasks of a run."""

    def __init__(self, scheduler: Scheduler, tasks: Sequence[Task], done: set[int]) -> None:
        self._scheduler = scheduler
        self._count = len(tasks)
        self._done = done
        self._run = scheduler.bind(tasks)

    def __call__(self) -> None:
        self._done.clear()
        self._run()
        if len(self._done) != self._count:
            name = type(self._scheduler).__name__
            raise RunError(
                f"scheduler {name} has done {len(self._done)} of {self._count} tasks, must do all"
            )
