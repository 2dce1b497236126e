"""Schedulers: the default, those of users, and what these must not do."""

from collections.abc import Sequence

import numpy as np
import onnx.parser
import pytest
import toy
import trivium
from toy import LeftStep, RightStep, X, Y, package, step
from trivium.runtime.errors import RunError
from trivium.runtime.host.step import HostStep
from trivium.runtime.package import Package
from trivium.runtime.scheduling.scheduler import Scheduler, Task
from trivium.runtime.session import Session

OPS = toy.ops(double=lambda x: 2 * x, add=np.add)
INPUT = np.arange(16, dtype=np.float32)


class Counting(Scheduler):
    """Counts tasks, by their targets."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def run(self, tasks: Sequence[Task]) -> None:
        self.seen += [task.target for task in tasks]
        super().run(tasks)


class Backwards(Scheduler):
    """Does the last task first."""

    def run(self, tasks: Sequence[Task]) -> None:
        for task in reversed(tasks):
            task.run()


class Lazy(Scheduler):
    """Leaves out the last task."""

    def run(self, tasks: Sequence[Task]) -> None:
        super().run(tasks[:-1])


class Broken(Scheduler):
    """Cannot be made."""

    def __init__(self) -> None:
        raise ValueError("no\nluck")


def diamond() -> Package:
    """Return y = 2x + 2(2x), of which 2x is computed twice."""
    steps = [
        step(LeftStep, "double", (X,), (2,)),
        step(RightStep, "double", (X,), (3,)),
        step(RightStep, "double", (3,), (4,)),
        step(HostStep, "add", (2, 4), (Y,)),
    ]
    return package(steps, [(0, 16), (16, 16), (32, 16)])


@pytest.mark.parametrize("scheduler", [None, "sequential", "parallel"])
def test_schedulers_compute_the_same(scheduler: str | None) -> None:
    session = Session(diamond(), OPS, scheduler=scheduler)
    for _ in range(3):
        np.testing.assert_array_equal(session(INPUT), 6 * INPUT)


def test_a_scheduler_of_the_user_counts_tasks() -> None:
    counting = Counting()
    session = Session(diamond(), OPS, scheduler=counting)
    np.testing.assert_array_equal(session(INPUT), 6 * INPUT)
    np.testing.assert_array_equal(session.clone()(INPUT), 6 * INPUT)
    assert counting.seen == ["left", "right", "right", "host"] * 2


def test_tasks_name_those_that_they_need() -> None:
    found: list[Task] = []

    class Looking(Scheduler):
        def bind(self, tasks: Sequence[Task]) -> toy.Callable[[], None]:
            found.extend(tasks)
            return super().bind(tasks)

    Session(diamond(), OPS, scheduler=Looking())
    assert [task.after for task in found] == [(), (), (1,), (0, 2)]
    assert [task.nodes for task in found] == [("double",)] * 3 + [("add",)]


def test_the_default_has_steps_and_no_tasks() -> None:
    steps = Session(diamond(), OPS)._plan.steps
    assert len(steps) == len(Session(diamond(), OPS, scheduler="sequential")._plan.steps) == 4


def test_a_task_before_those_that_it_needs_is_refused() -> None:
    session = Session(diamond(), OPS, scheduler=Backwards())
    with pytest.raises(RunError, match=r"task 3 on host \('add'\) is done before task 0, which it"):
        session(INPUT)


def test_a_task_that_is_left_out_is_refused() -> None:
    session = Session(diamond(), OPS, scheduler=Lazy())
    with pytest.raises(RunError, match="scheduler Lazy has done 3 of 4 tasks, must do all"):
        session(INPUT)


def test_schedulers_by_name(tmp_path: object) -> None:
    path = f"{tmp_path}/diamond.trv"
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[4] x) => (float[4] y) { y = Tanh (x) }
    """)
    trivium.build(model).save(path)
    session = trivium.load(path, scheduler=f"{__name__}:Counting")
    assert np.allclose(session(INPUT[:4]), np.tanh(INPUT[:4]))
    assert session._program.scheduler.seen == ["cpu"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("fast", "scheduler is 'fast', must be sequential, parallel, module:Class or a"),
        (3, "scheduler is 3, must be sequential"),
        (Counting, "must be sequential"),
        ("math:pi", "scheduler 'math:pi' cannot be made: 'float' object is not callable"),
        ("missing_module:A", "cannot be made: No module named 'missing_module'"),
        (f"{__name__}:Absent", "cannot be made: module 'test_scheduler' has no attribute"),
        (f"{__name__}:Broken", "cannot be made: no$"),
    ],
)
def test_refused_schedulers(given: object, fault: str) -> None:
    with pytest.raises(RunError, match=fault):
        Session(diamond(), OPS, scheduler=given)  # type: ignore[arg-type]
