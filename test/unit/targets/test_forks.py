"""Work that is shared with forks: results in order, failures, and nothing left behind."""

import os
import signal
from pathlib import Path

import pytest
from trivium.targets import forks
from trivium.targets.forks import map_forked


@pytest.fixture(params=[1, 4])
def processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(forks, "_processes", lambda: request.param)
    return request.param


def ignore(number: int) -> None: ...


def slow(number: int) -> bytes:
    return str(sum(range(200_000)) + number).encode()


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_results_are_in_order(count: int) -> None:
    assert map_forked(slow, count, ignore) == [slow(number) for number in range(count)]


def test_more_tasks_than_a_pipe_holds(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "_MOST_TASKS", 10)
    assert map_forked(lambda i: bytes([i]), 25, ignore) == [bytes([i]) for i in range(25)]


@pytest.mark.usefixtures("processes")
def test_results_may_be_larger_than_a_pipe() -> None:
    results = map_forked(lambda number: bytes([number]) * 300_000, 8, ignore)
    assert results == [bytes([number]) * 300_000 for number in range(8)]


@pytest.mark.usefixtures("processes")
def test_starts_are_heard_here_and_in_order() -> None:
    heard: list[tuple[int, int]] = []
    map_forked(slow, 20, lambda number: heard.append((os.getpid(), number)))
    assert heard == [(os.getpid(), number) for number in range(20)]


def test_forks_do_some_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "_processes", lambda: 3)
    parent = os.getpid()

    def name(number: int) -> bytes:
        if os.getpid() == parent:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)  # until a fork has done something
        return str(os.getpid()).encode()

    assert set(map_forked(name, 50, ignore)) - {str(parent).encode()}


@pytest.mark.usefixtures("processes")
def test_what_fails_in_a_fork_fails_here() -> None:
    def fail(number: int) -> bytes:
        if number == 7:
            raise ZeroDivisionError("mine")
        return slow(number)

    with pytest.raises(ZeroDivisionError, match="mine"):
        map_forked(fail, 20, ignore)


def test_a_fork_that_is_killed_leaves_its_work_to_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forks, "_processes", lambda: 3)
    parent = os.getpid()

    def die(number: int) -> bytes:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return slow(number)

    assert map_forked(die, 12, ignore) == [slow(number) for number in range(12)]


def children() -> list[str]:
    """List the processes that this one has started."""
    return sorted(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "_processes", lambda: 3)

    def interrupt(number: int) -> bytes:
        raise KeyboardInterrupt

    before = children()  # of other tests
    with pytest.raises(KeyboardInterrupt):
        map_forked(interrupt, 5, ignore)
    assert children() == before


def test_where_the_system_has_no_more_processes_one_does_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(forks, "_processes", lambda: 3)
    monkeypatch.setattr(os, "fork", refuse)
    assert map_forked(slow, 5, ignore) == [slow(number) for number in range(5)]
