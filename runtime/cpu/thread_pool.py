"""Threads that run a program together: a pool of them in the process, a job for each session.

Pool and job are tables of 8-byte words that native code reads and writes; words that change often
have cache lines of their own. `targets/cpu/emit/threads.py` generates that code and documents it.
"""

import atexit
import ctypes
import hashlib
import os
import sys
import threading
import time
import weakref
from array import array
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..cores import MOST_THREADS, Cores, spell_cores
from ..fork import ForkSafeLock, call_in_children
from ..memory import Bases, address_of
from ..numbers import checked_number
from .elf import NativeLibrary, load_objects

CODE = "cpu/threads.o"
"""The entry of a package with the code of pools."""

_LINE = 8

_NO_NUMBERS = np.empty(0, np.int64)

# Without argument types ctypes passes its own objects as they are, in half the time.
_Prepared = ctypes.CFUNCTYPE(None)
_Work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
_Stop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Job:
    """Number the words of a job; each phase has `PHASE_WORDS` from `COUNTERS` on.

    `OBSERVED` is the address of the words of an observation, or 0. Where `CALLS` is not 0, so many
    calls are made, from that on whose row is at the address `FIRST`. `LATE` is 1 once a thread of
    a run has waited long for another one.
    """

    PROGRAM, BASES, RUN, THREADS, OWN, OWN_BYTES, WORDS, RANGES, OBSERVED = range(9)  # in order
    FIRST, CALLS, LATE = 9, 10, 11
    COUNTERS = 2 * _LINE
    PHASE_WORDS = 2 * _LINE


class Observed:
    """Number the words of an observation: when it begins, then `CALL_WORDS` for each call.

    Times are two words, seconds and nanoseconds of the system's monotonic clock. A call is made
    unless its word `SKIPPED` is other than 0, and `END` is when it was over.
    """

    CLOCK_MONOTONIC = 1
    BEGIN, CALLS = 0, 2
    SKIPPED, END, CALL_WORDS = 0, 1, 3


class ThreadPool:
    """Hold the threads of the process that run programs besides those that call for it.

    `WARY` counts the runs for which threads are woken where the system wants. Each thread has a
    line of words from `ANNOUNCED` on: the job that it announces, the system's name of it while it
    sleeps, whether it is barred from a processor, and those that it may use otherwise.
    """

    LINE = _LINE
    SEQUENCE, JOB, SLEEPERS, BUSY, STOP, ANNOUNCED = range(0, 6 * _LINE, _LINE)
    WARY = BUSY + 1
    ASLEEP, BARRED, PROCESSORS = 1, 2, 3

    def __init__(self, code: memoryview, cores: Cores = ()) -> None:
        """Make a pool that runs `code`; its threads are bound to `cores`, if there are any."""
        self._library = load_objects({CODE: code})
        self._cores = cores
        self._words = _words(ThreadPool.ANNOUNCED + MOST_THREADS * ThreadPool.LINE)
        self._threads: list[threading.Thread] = []
        self._lock = ForkSafeLock()
        self._work_of_thread = _Work(self._library.address("work"))
        self.submit = _Prepared(self._library.address("submit"))
        atexit.register(self._stop)
        call_in_children(ThreadPool._forget, self)

    @property
    def address(self) -> int:
        return self._words.ctypes.data

    def grow(self, threads: int) -> None:
        """Start as many threads as it takes to run on `threads`, the caller's included."""
        if threads - 1 <= len(self._threads):
            return
        where = f"-on-{spell_cores(self._cores)}" if self._cores else ""
        with self._lock:
            # The words of thread 0, the caller, are not used.
            for number in range(len(self._threads) + 1, threads):
                arguments = (self.address, number)
                name = f"trivium-{number}{where}"
                thread = threading.Thread(target=self._work, args=arguments, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)

    def _work(self, address: int, number: int) -> None:
        if self._cores:
            os.sched_setaffinity(0, self._cores)  # that of the thread which calls
        self._work_of_thread(address, number)

    def leave(self, job: int) -> None:
        """Wait until no thread has to do with a job that is not running: it may then be freed."""
        # One more than are listed, because a thread is listed after it has started.
        end = ThreadPool.ANNOUNCED + (len(self._threads) + 2) * ThreadPool.LINE
        announced = self._words[ThreadPool.ANNOUNCED : end : ThreadPool.LINE]
        while job in announced.tolist():
            time.sleep(1e-5)

    def _stop(self) -> None:
        _Stop(self._library.address("stop"))(self.address)
        for thread in self._threads:
            thread.join()

    def _forget(self) -> None:
        """Begin anew in a forked process, which has none of the threads."""
        self._threads = []
        self._words[:] = 0


class ParallelProgram:
    """Run one program of a session, on some threads; results do not depend on how many.

    Its sizes never change: a thread that is late may still read them when others are in use.
    """

    def __init__(
        self,
        library: NativeLibrary,
        bases: Bases,
        pool: ThreadPool,
        program: int,
        phases: int,
        own_bytes: int,
        threads: int,
        numbers: NDArray[np.int64] = _NO_NUMBERS,
        split: int = 0,
        observed: NDArray[np.int64] = _NO_NUMBERS,
        row: int | None = None,
    ) -> None:
        """Prepare the program at an address; each thread but the first gets `own_bytes` of memory.

        That is the same for all programs of a session: a thread uses it in its share of work alone.
        A program without phases has no work to share: it must run on one thread. `numbers` are
        those of one whose sizes depend on symbols: words, and after `split` of these its ranges.
        `observed` are the words of an observation, if any. With a `row`, the number of a word, only
        the call is made whose row begins there.
        """
        own = bases.memory_of_threads(own_bytes * (threads - 1))
        table = address_of(numbers)
        watched = address_of(observed) if observed.size else 0
        places = (address_of(own) if own.size else 0, own_bytes, table, table + 8 * split, watched)
        if row is not None:
            places += (table + 8 * row, 1)
        header = array("q", (program, bases.address, 0, threads, *places))
        header.extend([0] * (Job.CALLS + 1 - len(header)))
        self._threads, self._pool = threads, pool
        if threads == 1:
            job, _ = header.buffer_info()
            self._used = (library, header, own, bases, numbers, observed)
            self._function = _Prepared(program)
            self._arguments = (ctypes.c_void_p(job), ctypes.c_int64(0), ctypes.c_int64(0))
            return
        self._words = _words(Job.COUNTERS + phases * Job.PHASE_WORDS)
        self._words[: len(header)] = header
        self._used = (library, self._words, own, bases, numbers, observed)
        job = address_of(self._words)
        self._function = pool.submit
        self._arguments = (ctypes.c_void_p(pool.address), ctypes.c_void_p(job))
        # A thread that is late runs the program through before it sees that all is done.
        release = weakref.finalize(self, _release, pool, job, self._used)
        release.atexit = False
        call_in_children(ParallelProgram._renew, self)

    def run(self) -> None:
        """Run the program; without the interpreter lock."""
        if self._threads > 1:
            self._pool.grow(self._threads)
        self._function(*self._arguments)

    def _renew(self) -> None:
        """Reset the counters of a run that was in progress in the parent of a forked process."""
        self._words[Job.RUN] = 0
        self._words[Job.COUNTERS :] = 0


def _release(pool: ThreadPool, job: int, used: object) -> None:
    """Let go of what a job uses when no thread looks at it any more."""
    pool.leave(job)


def _words(count: int) -> NDArray[np.int64]:
    """Return zeroed words that begin on a cache line."""
    block = np.zeros(count + _LINE, np.int64)
    start = -address_of(block) // 8 % _LINE
    return block[start : start + count]


_pools: dict[tuple[bytes, Cores], ThreadPool] = {}
_pools_lock = ForkSafeLock()


def pool_of(code: memoryview, cores: Cores = ()) -> ThreadPool:
    """Return the pool of the process that runs the given code on some cores, or on all."""
    key = hashlib.sha256(code).digest(), cores
    with _pools_lock:
        if key not in _pools:
            _pools[key] = ThreadPool(code, cores)
        return _pools[key]


def checked_threads(threads: object, cores: Cores = ()) -> int:
    """Return a number of threads, by default that of the cores; raise RunError for what is none."""
    if threads is None:
        return default_threads(cores)
    return checked_number("threads", threads, 1, MOST_THREADS)


@cache
def default_threads(cores: Cores = ()) -> int:
    """Return how many threads suit this process: one for each core that it may use, or of these."""
    if not hasattr(os, "sched_getaffinity"):  # outside of Linux, where no step uses threads
        return 1
    apart = {_siblings(cpu) for cpu in cores or os.sched_getaffinity(0)}
    return max(1, min(len(apart), _quota()))


def _siblings(cpu: int) -> str:
    """Return what all logical processors of one core have in common."""
    try:
        return _text_of(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    except OSError:
        return str(cpu)


def _quota() -> int:
    """Return how many processors the control group of this process may use at a time."""
    try:
        quota, period = _text_of("/sys/fs/cgroup/cpu.max").split()
        return -(-int(quota) // int(period))
    except (OSError, ValueError):
        return sys.maxsize


def _text_of(path: str) -> str:
    with open(path) as file:
        return file.read()
