"""Keep sessions usable in forked processes, which have only the thread that called fork."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_renewals: "weakref.WeakKeyDictionary[Any, Callable[[Any], None]]" = weakref.WeakKeyDictionary()


def call_in_children(function: Callable[[T], None], instance: T) -> None:
    """Call `function` on `instance` in each process that is forked while the instance lives."""
    _renewals[instance] = function


def _renew() -> None:
    for instance, function in list(_renewals.items()):
        function(instance)


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew)


class ForkSafeLock:
    """A lock that is free in a forked process, whichever thread of the parent held it.

    The thread that holds it must not fork. It may take it again: the collector of garbage may call
    what frees something wherever a thread is.
    """

    def __init__(self) -> None:
        self._renew()
        call_in_children(ForkSafeLock._renew, self)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
