"""Run requests in flight on a bounded number of sessions: `SessionPool`."""

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import LifoQueue
from typing import TYPE_CHECKING, Any

from ..cpu.thread_pool import default_threads
from ..errors import RunError
from ..numbers import checked_number
from .places import Places

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
        count = default_threads() if sessions is None else checked_number("sessions", sessions, 1)
        if session.state or session.manifest.carried:
            raise RunError("the session has state, which requests of a pool would mix: clone it")
        self._sessions = [session.clone() for _ in range(count)]
        self._idle: LifoQueue[Session] = LifoQueue()
        for each in self._sessions:
            self._idle.put(each)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="trivium-pool")
        self._places = Places(count + checked_number("waiting", waiting, 0))
        self._ended = threading.Condition()
        self._runs = 0
        self._closed = False

    @property
    def sessions(self) -> int:
        """Return how many requests run at once."""
        return len(self._sessions)

    def run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> Results:
        """Run in the calling thread, on the session that is free next; as `Session.run`."""
        with self._ended:
            self._check_open()
            self._runs += 1
        try:
            return self._run(feeds, outputs)
        finally:
            with self._ended:
                self._runs -= 1
                self._ended.notify_all()

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
        if not self._places.take(timeout):
            raise RunError(f"no request has ended in {timeout} s, and no more may wait")
        return self._submit(feeds, outputs)

    async def run_async(
        self, feeds: Mapping[str, Any], outputs: Mapping[str, Any] | None = None
    ) -> Results:
        """Run without blocking the event loop; as `submit`, and waits in turn where it is full."""
        self._check_open()
        await self._places.take_async()
        return await asyncio.wrap_future(self._submit(feeds, outputs))

    def close(self) -> None:
        """Let requests that run or wait end, then free what the sessions have on a GPU."""
        with self._ended:
            if self._closed:
                return
            self._closed = True
        self._threads.shutdown()
        with self._ended:
            self._ended.wait_for(lambda: not self._runs)
        for each in self._sessions:
            each.close()

    def _submit(
        self, feeds: Mapping[str, Any], outputs: Mapping[str, Any] | None
    ) -> "Future[Results]":
        """Let a thread make a run for which a place is taken."""
        try:
            future = self._threads.submit(self._run, feeds, outputs)
        except BaseException as error:
            self._places.leave()
            if isinstance(error, RuntimeError) and self._closed:
                raise _closed() from None
            raise
        future.add_done_callback(lambda _: self._places.leave())
        return future

    def _run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Any] | None) -> Results:
        session = self._idle.get()
        try:
            return session.run(feeds, outputs)
        finally:
            self._idle.put(session)

    def _check_open(self) -> None:
        if self._closed:
            raise _closed()

    def __enter__(self) -> "SessionPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<trivium.SessionPool of {self.sessions}: {self._sessions[0]!r}>"


def _closed() -> RunError:
    return RunError("the pool is closed: make another one")
