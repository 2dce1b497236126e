"""A day of service: requests of mixed sizes from many threads, some cancelled, some that fail.

As a program, it makes as many requests as the first argument says, prints what became of them, and
fails if anything was wrong.
"""

import asyncio
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import trivium
from served_networks import HUGE, networks
from trivium.dialects.tri import OPS
from trivium.runtime.errors import RunError
from trivium.runtime.session import Session

BAD_TEXT = "bad"
AT_ONCE = 8
"""How many requests a client with an event loop has in flight."""


class InjectedError(Exception):
    """Stands for what goes wrong in a step."""


class Unreadable:
    """An input for whose copy there is no memory."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise MemoryError


class Request(NamedTuple):
    """Hold inputs, and the outputs that they must give, or the error that they must raise."""

    feeds: Mapping[str, Any]
    expected: Mapping[str, Any] | None
    error: type[BaseException] = RunError


class Client(NamedTuple):
    """Hold a pool and the requests that are made of it."""

    pool: trivium.SessionPool
    requests: list[Request]


class Day:
    """Count what became of requests: `wrong` says what should not have been."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.resident: list[float] = []
        """MB of the process, at regular times."""

    def note(self, request: Request, outcome: Any) -> None:
        if isinstance(outcome, CancelledError | asyncio.CancelledError):
            self.counts["cancelled"] += 1
        elif isinstance(outcome, BaseException):
            self.counts["failed"] += 1
            if request.expected is not None or not isinstance(outcome, request.error):
                self.wrong.append(f"raised {outcome!r}")
        elif request.expected is None:
            self.wrong.append("has results, must fail")
        else:
            self.counts["equal"] += 1
            if not all(np.array_equal(outcome[n], a) for n, a in request.expected.items()):
                self.wrong.append("results differ")


def serve(clients: list[Client], count: int, threads: int, seed: int = 0) -> Day:
    """Make `count` requests from as many threads; raises AssertionError where one gets stuck."""
    day, begin = Day(), time.monotonic()

    def work(number: int) -> None:
        draw = random.Random(seed * threads + number)
        days.append(each := Day())
        share = range(count * number // threads, count * (number + 1) // threads)
        ways = (_in_place, _submitted, _looped)
        done = 0
        while done < len(share):
            client = draw.choice(clients)
            done += ways[number % 3](client, draw, each, len(share) - done)

    days: list[Day] = []
    workers = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        while worker.is_alive():
            worker.join(0.25)
            day.resident.append(_resident_mb())
            assert time.monotonic() - begin < 30 + count / 200, "requests are stuck"
    for each in days:
        day.counts += each.counts
        day.wrong += each.wrong
    return day


def _in_place(client: Client, draw: random.Random, day: Day, most: int) -> int:
    request = draw.choice(client.requests)
    try:
        day.note(request, client.pool.run(request.feeds))
    except Exception as error:
        day.note(request, error)
    return 1


def _submitted(client: Client, draw: random.Random, day: Day, most: int) -> int:
    request = draw.choice(client.requests)
    future = client.pool.submit(request.feeds)
    if draw.random() < 0.1:
        future.cancel()
    try:
        day.note(request, future.result())
    except (Exception, CancelledError) as error:
        day.note(request, error)
    return 1


def _looped(client: Client, draw: random.Random, day: Day, most: int) -> int:
    requests = [draw.choice(client.requests) for _ in range(min(AT_ONCE, most))]

    async def run() -> list[Any]:
        tasks = [asyncio.create_task(client.pool.run_async(each.feeds)) for each in requests]
        await asyncio.sleep(draw.random() * 1e-3)
        for task in tasks:
            if draw.random() < 0.1:
                task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    for request, outcome in zip(requests, asyncio.run(run()), strict=True):
        day.note(request, outcome)
    return len(requests)


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def clients(sessions: int) -> list[Client]:
    """Compile the networks, and draw requests of each; what they give comes from numpy."""
    draw = np.random.default_rng(1)
    makers = {"images": _images, "tables": _tables, "texts": _texts, "loops": _loops}
    made: list[Client] = []
    for name, model in networks().items():
        requests = makers[name](draw, trivium.compile(model, threads=1))
        dialects = {"tri": {**OPS, "tri.string_concat": _raising(OPS["tri.string_concat"])}}
        session = Session(trivium.build(model), dialects, threads=2)
        made.append(Client(trivium.SessionPool(session, sessions, waiting=4), requests))
    return made


def _raising(op: Any) -> Any:
    """Return an op that does not like one text."""

    def made(**attributes: Any) -> Any:
        reference = op(**attributes).reference

        def wrapped(left: Any, right: Any) -> Any:
            if BAD_TEXT in left:
                raise InjectedError
            return reference(left, right)

        return SimpleNamespace(reference=wrapped)

    return made


def _images(draw: Any, alone: trivium.Session) -> list[Request]:
    images = [draw.standard_normal((1, 3, 16, 16)).astype(np.float32) for _ in range(16)]
    # A convolution in numpy is tested elsewhere: here it is that requests do not mix.
    requests = [Request({"x": x}, alone.run({"x": x})) for x in images]
    odd = [np.zeros((1, 3, 16, 17), np.float32), Unreadable()]
    return requests + [Request({"x": x}, None) for x in odd]


def _tables(draw: Any, alone: trivium.Session) -> list[Request]:
    requests: list[Request] = []
    for _ in range(40):
        rows, columns = (
            (draw.integers(-8, 8, n) / 4).astype(np.float32)
            for n in draw.integers(1, 48, 2).tolist()
        )
        feeds = {"rows": rows[:, None], "columns": columns[None]}
        made = alone.run(feeds)
        np.testing.assert_allclose(made["y"], np.tanh(np.outer(rows, columns)), atol=1e-6)
        requests.append(Request(feeds, made))
    huge = {"rows": np.zeros((HUGE, 1), np.float32), "columns": np.zeros((1, HUGE), np.float32)}
    requests.append(Request({"rows": huge["rows"]}, None))
    try:
        np.empty((HUGE, HUGE), np.float32)
    except MemoryError:  # some systems promise what they do not have
        with pytest.raises(RunError, match="the system has less"):
            alone.run(huge)
        requests.append(Request(huge, None))
    return requests


def _texts(draw: Any, alone: trivium.Session) -> list[Request]:
    requests: list[Request] = []
    for _ in range(20):
        left, right = (draw.choice(["a", "b", "cd"], (draw.integers(1, 9),)) for _ in range(2))
        left, right = (
            np.array(each[: min(len(left), len(right))], object) for each in (left, right)
        )
        requests.append(
            Request({"left": left, "right": right}, {"both": left + right, "same": left == right})
        )
    bad = np.array([BAD_TEXT], object)
    return [*requests, Request({"left": bad, "right": bad}, None, InjectedError)]


def _loops(draw: Any, alone: trivium.Session) -> list[Request]:
    requests: list[Request] = []
    for _ in range(40):
        x = draw.standard_normal((int(draw.integers(1, 6)), 4)).astype(np.float32)
        feeds = {"count": np.array(draw.integers(0, 9)), "x": x}
        requests.append(Request(feeds, alone.run(feeds)))
    return [*requests, Request({"count": np.array([1, 2]), "x": x}, None)]


def main() -> None:
    """Make a day of requests."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    begin = time.monotonic()
    made = clients(sessions=3)
    print(f"ready in {time.monotonic() - begin:.1f} s")
    begin = time.monotonic()
    day = serve(made, count, threads=64)
    print(f"{count} requests in {time.monotonic() - begin:.1f} s: {dict(day.counts)}")
    tenth = max(1, len(day.resident) // 10)
    print(
        "MB of the process, by tenths of the time:", [f"{mb:.0f}" for mb in day.resident[::tenth]]
    )
    print(f"wrong: {len(day.wrong)} {Counter(day.wrong).most_common(5)}")
    for client in made:
        client.pool.close()
    sys.exit(bool(day.wrong))


if __name__ == "__main__":
    main()
