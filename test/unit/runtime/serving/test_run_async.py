"""Runs that nobody waits for: futures, their order, and what waits for them."""

import asyncio
import threading
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import RunError

COUNTER = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N] x, float[1] past) => (float[N] y, float[1] next) <float[1] one = {1}> {
        [count] next = Add (past, one)
        [scale] y = Mul (x, next)
    }
""")
ONES = np.ones(3, np.float32)


@pytest.fixture
def session() -> trivium.Session:
    return trivium.compile(COUNTER, threads=1)


@pytest.fixture
def counting() -> trivium.Session:
    return trivium.compile(COUNTER, states={"next": "past"}, threads=1)


def _feeds(factor: float) -> dict[str, Any]:
    return {"x": ONES, "past": np.array([factor], np.float32)}


class Gate:
    """An input that waits until it may be read: it holds a run up."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __array__(self, *_: Any, **__: Any) -> Any:
        self.reached.set()
        assert self.opened.wait(30)
        return ONES


def test_runs_are_in_order(counting: trivium.Session) -> None:
    """Each run scales by how many there were: those that are waited for come after the others."""
    futures = [counting.run_async({"x": ONES}) for _ in range(20)]
    assert counting.run({"x": ONES})["y"].tolist() == [21] * 3
    futures += [counting.run_async({"x": ONES}) for _ in range(20)]
    counting.synchronize()
    assert all(future.done() for future in futures)
    counts = [future.result()["y"][0] for future in futures]
    assert counts == [*range(1, 21), *range(22, 42)]


def test_coroutines_await_runs(session: trivium.Session) -> None:
    async def serve() -> list[Any]:
        first = await session.run_async(_feeds(1))
        rest = await asyncio.gather(*(session.run_async(_feeds(n)) for n in range(2, 9)))
        return [first, *rest]

    results = asyncio.run(serve())
    assert [each["y"].tolist() for each in results] == [[n + 1] * 3 for n in range(1, 9)]


def test_outputs_and_callbacks(session: trivium.Session) -> None:
    y, called = np.zeros(3, np.float32), list[Any]()
    gate = Gate()
    held = session.run_async({**_feeds(0), "x": gate})
    future = session.run_async(_feeds(4), {"y": y})
    future.add_done_callback(lambda done: called.append(done.result()["y"] is y))
    assert not future.done()
    gate.opened.set()
    session.synchronize()
    assert held.result()["y"].tolist() == [1] * 3
    assert called == [True]
    assert y.tolist() == [5] * 3


def test_a_callback_may_begin_runs_and_must_not_wait(session: trivium.Session) -> None:
    made: list[Any] = []
    gate, over = Gate(), threading.Event()

    def again(_: Any) -> None:
        try:
            session.run(_feeds(1))
        except RunError as error:
            made.append(str(error))
        made.append(session.run_async(_feeds(2)))
        over.set()

    future = session.run_async({**_feeds(0), "x": gate})
    future.add_done_callback(again)
    gate.opened.set()
    assert over.wait(30)
    message, second = made
    assert message == "a callback of a run must not wait for the session: use run_async there"
    assert second.result()["y"].tolist() == [3] * 3


def test_a_fault_is_that_of_its_run(session: trivium.Session) -> None:
    bad = session.run_async({"x": ONES})
    good = session.run_async(_feeds(1))
    with pytest.raises(RunError, match="input 'past' is missing"):
        bad.result()
    assert good.result()["y"].tolist() == [2] * 3


def test_a_run_that_waits_is_cancelled(session: trivium.Session) -> None:
    gate = Gate()
    held = session.run_async({**_feeds(0), "x": gate})
    waits = [session.run_async(_feeds(n)) for n in range(3)]
    assert gate.reached.wait(30)
    assert not held.cancel()
    assert waits[1].cancel()
    gate.opened.set()
    session.synchronize()
    assert [each.cancelled() for each in waits] == [False, True, False]
    with pytest.raises(CancelledError):
        waits[1].result()


def test_a_session_that_another_thread_runs_is_refused(session: trivium.Session) -> None:
    gate = Gate()
    runs = threading.Thread(target=session.run, args=({**_feeds(0), "x": gate},))
    runs.start()
    assert gate.reached.wait(30)
    for call in (session.run, session.run_async):
        with pytest.raises(RunError, match=r"running in another thread: give each thread a clone"):
            call(_feeds(1))
    gate.opened.set()
    runs.join(30)
    assert session.run_async(_feeds(1)).result()["y"].tolist() == [2] * 3


def test_closing_waits(session: trivium.Session) -> None:
    with session:
        futures = [session.run_async(_feeds(n)) for n in range(10)]
    assert all(future.done() for future in futures)
    assert futures[9].result()["y"].tolist() == [10] * 3
    with pytest.raises(RunError, match="the session is closed"):
        session.run_async(_feeds(1))
    session.synchronize()


def test_many_threads_begin_runs(session: trivium.Session) -> None:
    made: list[Any] = []

    def work(number: int) -> None:
        for n in range(50):
            factor = number * 50 + n
            made.append((factor, session.run_async(_feeds(factor))))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(made) == 400
    assert all(f.result(30)["y"].tolist() == [factor + 1] * 3 for factor, f in made)
