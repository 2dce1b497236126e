"""Run requests in flight on a bounded number of sessions: `SessionPool`."""

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from operator import index
from queue import LifoQueue
from typing import TYPE_CHECKING, Any

from ..cpu.thread_pool import default_threads
from ..errors import RunError

if TYPE_CHECKING:
    from ..session import Session

WAITING = 64
"""How many requests may wait, unless the user says otherwise."""

Results = dict[str, Any]


class SessionPool:
    """Run requests of any number of threads on clones of a session.

    Weights and code are shared; each of the `sessions` has memory of its own, and at most as many
    requests run at once. `with` closes the pool at its end.
    """

    def __init__(
        self, session: "Session", sessions: int | None = None, waiting: int = WAITING
    ) -> None:
        """Make clones of `session`, one for each core unless `sessions` says how many.

        Clones run on as many threads as it does: for throughput, make it with `threads=1`. Up to
        `waiting` requests wait for a session. Raises RunError for a session with state, which
        requests in any order would mix, and for numbers below 1 and 0.
        """
        count = default_threads() if sessions is None else _number("sessions", sessions, 1)
        if session.state or session.manifest.carried:
            raise RunError("the session has state, which requests of a pool would mix: clone it")
        self._sessions = [session.clone() for _ in range(count)]
        self._idle: LifoQueue[Session] = LifoQueue()
        for each in self._sessions:
            self._idle.put(each)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="trivium-pool")
        self._places = threading.BoundedSemaphore(count + _number("waiting", waiting, 0))
        self._closed = False

    @property
    def sessions(self) -> int:
        """Return how many requests run at once."""
        return len(self._sessions)

    def run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> Results:
        """Run in the calling thread, on the session that is free next; as `Session.run`."""
        self._check_open()
        session = self._idle.get()
        try:
            return session.run(feeds, outputs)
        finally:
            self._idle.put(session)

    def submit(
        self,
        feeds: Mapping[str, Any],
        outputs: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> "Future[Results]":
        """Return a future of a run, which a thread of the pool makes.

        Where as many requests wait as may, it waits for one to end, or raises RunError after
        `timeout` seconds. A request that waits may be cancelled; `add_done_callback` calls back.
        """
        self._check_open()
        if not self._places.acquire(timeout=timeout):
            raise RunError(f"no request has ended in {timeout} s, and no more may wait")
        try:
            future = self._threads.submit(self.run, feeds, outputs)
        except BaseException as error:
            self._places.release()
            if isinstance(error, RuntimeError):  # that of an executor which was just shut down
                raise _closed() from None
            raise
        future.add_done_callback(lambda _: self._places.release())
        return future

    async def run_async(
        self, feeds: Mapping[str, Any], outputs: Mapping[str, Any] | None = None
    ) -> Results:
        """Run without blocking the event loop; as `submit`, and waits in turn where it is full."""
        while True:
            try:
                future = self.submit(feeds, outputs, timeout=0)
            except RunError:
                self._check_open()
                await asyncio.sleep(_PAUSE)
                continue
            return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Let requests that run or wait end, then free what the sessions have on a GPU."""
        if self._closed:
            return
        self._closed = True
        self._threads.shutdown()
        for _ in self._sessions:
            self._idle.get().close()

    def _check_open(self) -> None:
        if self._closed:
            raise _closed()

    def __enter__(self) -> "SessionPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<trivium.SessionPool of {self.sessions}: {self._sessions[0]!r}>"


_PAUSE = 0.001
"""Seconds after which a coroutine looks again whether there is a place."""


def _number(name: str, value: Any, least: int) -> int:
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if number < least:
        raise RunError(f"{name} is {value!r}, must be a number from {least} on")
    return number


def _closed() -> RunError:
    return RunError("the pool is closed: make another one")
