"""Runs of one session that nobody waits for: a queue, and a thread that does what is in it."""

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..errors import RunError

Results = dict[str, Any]


class RunFuture(Future[Results]):
    """Stands for the results of a run; coroutines await it.

    A run that has not begun may be cancelled; `add_done_callback` calls back in the thread of the
    runs.
    """

    def __await__(self) -> Generator[Any, None, Results]:
        import asyncio

        return asyncio.wrap_future(self).__await__()


class RunQueue:
    """Make runs in order, in a thread of their own; `busy` is held until all of them are over."""

    def __init__(self, busy: threading.Lock) -> None:
        self._busy = busy
        self._executor = ThreadPoolExecutor(1, "trivium-run")
        self._thread = 0
        self._pending = 0
        self._changed = threading.Condition()
        self._executor.submit(self._note_thread)  # which starts it: it may fail here alone

    def submit(self, work: Callable[[], Results]) -> RunFuture | None:
        """Return a future of some work; None where another thread has the session."""
        future = RunFuture()
        with self._changed:
            if not self._pending and not self._busy.acquire(blocking=False):
                return None
            self._pending += 1
            try:
                self._executor.submit(self._do, future, work)
            except BaseException:
                self._end()
                raise
        return future

    def wait(self) -> bool:
        """Wait until all runs are over; return whether there was one.

        Raises RunError in a callback of a run, which would wait for itself.
        """
        if threading.get_ident() == self._thread:
            raise RunError("a callback of a run must not wait for the session: use run_async there")
        with self._changed:
            waited = bool(self._pending)
            self._changed.wait_for(lambda: not self._pending)
        return waited

    def close(self) -> None:
        """Let the thread end."""
        self._executor.shutdown(wait=False)

    def _note_thread(self) -> None:
        self._thread = threading.get_ident()

    def _do(self, future: RunFuture, work: Callable[[], Results]) -> None:
        try:
            if not future.set_running_or_notify_cancel():
                return
            try:
                results = work()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(results)
        finally:
            with self._changed:
                self._end()

    def _end(self) -> None:
        self._pending -= 1
        if not self._pending:
            self._busy.release()
            self._changed.notify_all()
