"""Requests of many threads on a few sessions: equal results, bounded waiting, faults apart."""

import asyncio
import threading
from concurrent.futures import CancelledError, Future
from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import RunError

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 64] x) => (float[N, 64] y) {
        [multiply] a = MatMul (x, w)
        [bend] y = Tanh (a)
    }
""")
_W = (np.random.default_rng(0).standard_normal((64, 64)) / 8).astype(np.float32)
NET.graph.initializer.append(onnx.numpy_helper.from_array(_W, "w"))


def _x(seed: int) -> Any:
    draw = np.random.default_rng(seed)
    return draw.standard_normal((int(draw.integers(1, 6)), 64)).astype(np.float32)


@pytest.fixture(scope="module")
def session() -> trivium.Session:
    return trivium.compile(NET, threads=1)


class Gate:
    """An input that waits until it may be read: it holds a session up."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __array__(self, *_: Any, **__: Any) -> Any:
        self.reached.set()
        assert self.opened.wait(30)
        return np.ones((1, 64), np.float32)


def test_many_threads_get_their_own_results(session: trivium.Session) -> None:
    failed: list[int] = []
    with trivium.SessionPool(session, sessions=3) as pool:

        def work(number: int) -> None:
            for seed in range(number * 20, number * 20 + 20):
                made = pool.run({"x": _x(seed)})["y"]
                if not np.allclose(made, np.tanh(_x(seed) @ _W), atol=1e-5):
                    failed.append(seed)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert not failed


def test_futures_and_callbacks(session: trivium.Session) -> None:
    called: list[Any] = []
    with trivium.SessionPool(session, sessions=2, waiting=4) as pool:
        futures = [pool.submit({"x": _x(seed)}) for seed in range(40)]
        futures[7].add_done_callback(lambda future: called.append(future.result()["y"]))
        for seed, future in enumerate(futures):
            assert np.array_equal(future.result()["y"], session.run({"x": _x(seed)})["y"])
    assert np.array_equal(called[0], futures[7].result()["y"])


def test_coroutines_wait_in_turn(session: trivium.Session) -> None:
    async def serve(pool: trivium.SessionPool) -> list[Any]:
        return await asyncio.gather(*(pool.run_async({"x": _x(seed)}) for seed in range(30)))

    with trivium.SessionPool(session, sessions=2, waiting=0) as pool:
        results = asyncio.run(serve(pool))
    for seed, made in enumerate(results):
        assert np.array_equal(made["y"], session.run({"x": _x(seed)})["y"])


def test_waiting_is_bounded(session: trivium.Session) -> None:
    gate = Gate()
    with trivium.SessionPool(session, sessions=1, waiting=1) as pool:
        held = pool.submit({"x": gate})
        assert gate.reached.wait(30)
        waits = pool.submit({"x": _x(1)})
        with pytest.raises(RunError, match=r"has ended in 0\.01 s, and no more may"):
            pool.submit({"x": _x(2)}, timeout=0.01)
        assert waits.cancel()
        late = pool.submit({"x": _x(2)}, timeout=5)  # the place of the one that was cancelled
        gate.opened.set()
        assert held.result()["y"].shape == (1, 64)
        assert late.result()["y"].shape == _x(2).shape
        with pytest.raises(CancelledError):
            waits.result()


def test_a_fault_is_that_of_its_request(session: trivium.Session) -> None:
    class Broken:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise MemoryError

    with trivium.SessionPool(session, sessions=1) as pool:
        futures: list[Future[Any]] = [
            pool.submit({"x": Broken() if n % 3 == 1 else _x(n)}) for n in range(12)
        ]
        for n, future in enumerate(futures):
            if n % 3 == 1:
                assert isinstance(future.exception(), MemoryError | RunError)
            else:
                assert np.array_equal(future.result()["y"], session.run({"x": _x(n)})["y"])
        with pytest.raises(RunError, match="z"):
            pool.run({"z": _x(0)})
        assert pool.run({"x": _x(0)})


def test_a_pool_that_is_closed_takes_nothing(session: trivium.Session) -> None:
    pool = trivium.SessionPool(session, sessions=2)
    last = pool.submit({"x": _x(0)})
    pool.close()
    pool.close()
    assert last.result()["y"].shape == _x(0).shape
    for call in (pool.run, pool.submit):
        with pytest.raises(RunError, match="the pool is closed"):
            call({"x": _x(0)})
    with pytest.raises(RunError, match="the pool is closed"):
        asyncio.run(pool.run_async({"x": _x(0)}))


def test_refusals(session: trivium.Session) -> None:
    with pytest.raises(RunError, match="sessions is 0, must be a number from 1 on"):
        trivium.SessionPool(session, sessions=0)
    with pytest.raises(RunError, match="waiting is -1, must be a number from 0 on"):
        trivium.SessionPool(session, sessions=1, waiting=-1)
    counter = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1] past) => (float[1] next) <float[1] one = {1}> { next = Add (past, one) }
    """)
    with pytest.raises(RunError, match="the session has state"):
        trivium.SessionPool(trivium.compile(counter, states={"next": "past"}))


def test_requests_that_wait_end_before_a_pool_is_closed(session: trivium.Session) -> None:
    gate, made = Gate(), list[Any]()
    pool = trivium.SessionPool(session, sessions=1, waiting=4)
    held = pool.submit({"x": gate})
    assert gate.reached.wait(30)
    waits = pool.submit({"x": _x(1)})
    runs = threading.Thread(target=lambda: made.append(pool.run({"x": _x(2)})))
    runs.start()
    while pool._runs < 1:
        pass
    closing = threading.Thread(target=pool.close)
    closing.start()
    while not pool._closed:
        pass
    gate.opened.set()
    for thread in (closing, runs):
        thread.join(30)
        assert not thread.is_alive()
    assert held.result()["y"].shape == (1, 64)
    assert np.array_equal(waits.result()["y"], session.run({"x": _x(1)})["y"])
    assert made[0]["y"].shape == _x(2).shape


def test_a_coroutine_that_is_cancelled_leaves_the_queue(session: trivium.Session) -> None:
    gate = Gate()

    async def serve(pool: trivium.SessionPool) -> None:
        held = asyncio.create_task(pool.run_async({"x": gate}))
        assert await asyncio.to_thread(gate.reached.wait, 30)
        waiting = [asyncio.create_task(pool.run_async({"x": _x(n)})) for n in range(3)]
        await asyncio.sleep(0)  # all of them wait
        waiting[0].cancel()
        waiting[2].cancel()
        gate.opened.set()
        made = await asyncio.gather(held, *waiting, return_exceptions=True)
        assert [isinstance(each, asyncio.CancelledError) for each in made] == [0, 1, 0, 1]
        assert (await pool.run_async({"x": _x(3)}))["y"].shape == _x(3).shape

    with trivium.SessionPool(session, sessions=1, waiting=0) as pool:
        asyncio.run(serve(pool))
        assert pool.submit({"x": _x(1)}, timeout=5).result()
