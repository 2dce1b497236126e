"""Let forked processes go on: a child has one thread, the one that called fork."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_renewals: "weakref.WeakKeyDictionary[Any, Callable[[Any], None]]" = weakref.WeakKeyDictionary()


def call_in_children(function: Callable[[T], None], thing: T) -> None:
    """Call `function` on `thing` in each process that is forked while that lives."""
    _renewals[thing] = function


def _renew() -> None:
    for thing, function in list(_renewals.items()):
        function(thing)


os.register_at_fork(after_in_child=_renew)


class ForkSafeLock:
    """A lock that is free in a forked process, whichever thread of the parent held it.

    The thread that holds it must not fork.
    """

    def __init__(self) -> None:
        self._renew()
        call_in_children(ForkSafeLock._renew, self)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
