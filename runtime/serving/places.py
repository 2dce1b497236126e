"""Bound how many requests there are at a time: those that come later wait in turn."""

import asyncio
import threading
from collections import deque
from concurrent.futures import Future


class Places:
    """Hold a number of places, for threads and for coroutines.

    Whoever waits gets the place of one that leaves, in the order in which they came.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    def take(self, timeout: float | None = None) -> bool:
        """Take a place; return whether there was one within `timeout` seconds."""
        waiter = self._enter()
        if waiter is None:
            return True
        try:
            waiter.result(timeout)
        except TimeoutError:
            return not waiter.cancel()  # it may have got a place meanwhile
        except BaseException:
            self._give_up(waiter)
            raise
        return True

    async def take_async(self) -> None:
        """Take a place without blocking the event loop."""
        waiter = self._enter()
        if waiter is None:
            return
        try:
            await asyncio.wrap_future(waiter)
        except BaseException:  # its task is cancelled
            self._give_up(waiter)
            raise

    def leave(self) -> None:
        """Give a place back, or to who waits first."""
        with self._lock:
            while self._waiting:
                waiter = self._waiting.popleft()
                if waiter.set_running_or_notify_cancel():
                    break
            else:
                self._free += 1
                return
        waiter.set_result(None)

    def _enter(self) -> Future[None] | None:
        """Take a place, or return a future that has one when it is done."""
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            waiter: Future[None] = Future()
            self._waiting.append(waiter)
            return waiter

    def _give_up(self, waiter: Future[None]) -> None:
        if not waiter.cancel():
            self.leave()
