"""Let a session make runs that nobody waits for."""

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from ..errors import RunError
from ..fork import ForkSafeLock

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..gpu.exchange import DeviceArrayLike
    from ..memory import Bases
    from .run_queue import RunFuture, RunQueue

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_NONE: Mapping[str, Any] = MappingProxyType({})

_making = ForkSafeLock()
"""Held while a queue is made: a session has one."""


class AsyncRuns:
    """Run one call at a time: those of `run_async` in the order of the calls, all others after."""

    _busy: threading.Lock
    _bases: "Bases"
    _queue: "RunQueue | None" = None
    _closed: bool

    def run_async(
        self,
        feeds: "Mapping[str, ArrayLike | DeviceArrayLike]",
        outputs: "Mapping[str, NDArray[Any] | DeviceArrayLike] | None" = None,
    ) -> "RunFuture":
        """Begin what `run` does, and return a future of its results, which coroutines can await.

        Runs are made in the order of the calls, in a thread of the session. Arrays must not change
        until a run is over. Any other call on the session waits for those that were begun before.
        Raises RunError while another thread runs the session.
        """
        self._check_open()
        given = _NONE if outputs is None else outputs
        future = self._queue_of_runs().submit(lambda: self._owned(self._run, feeds, given))
        if future is None:
            raise _running()
        return future

    def synchronize(self) -> None:
        """Wait until all runs are over that were begun by `run_async`."""
        if self._queue is not None:
            self._queue.wait()

    def _queue_of_runs(self) -> "RunQueue":
        """Return the queue, which is made when a run is first begun."""
        with _making:
            if self._queue is None:
                from .run_queue import RunQueue

                self._queue = RunQueue(self._busy)
            return self._queue

    def _alone(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Do what no other thread may do in this session meanwhile."""
        busy = self._busy  # a step may fork, and the child has a lock of its own
        if not busy.acquire(blocking=False):
            self._acquire_after_others(busy)
        try:
            return self._owned(work, *arguments)
        finally:
            busy.release()

    def _owned(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Do what needs the lock of the session, which is held."""
        try:
            self._check_open()
            return work(*arguments)
        finally:
            self._bases.release()

    def _acquire_after_others(self, busy: threading.Lock) -> None:
        """Take the lock when all runs are over that were begun; raise RunError for any other."""
        queue = self._queue
        while queue is not None and queue.wait():
            if busy.acquire(blocking=False):
                return
        if not busy.acquire(blocking=False):  # what was begun may have ended just now
            raise _running()

    def _check_open(self) -> None:
        if self._closed:
            raise RunError("the session is closed: open the package again")

    def _run(self, feeds: Mapping[str, object], given: Mapping[str, object]) -> dict[str, Any]:
        raise NotImplementedError


def _running() -> RunError:
    return RunError("the session is running in another thread: give each thread a clone()")
