"""Share work among processes: this one and forks of it.

The bindings hold Python's lock while MLIR and LLVM compile, so threads would take turns. For the
same reason no other thread is inside of MLIR or LLVM, and holds a lock of theirs, when this one
forks. A fork has all IR of its parent; only results are sent.
"""

import gc
import os
import signal
import struct
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

_NUMBER = struct.Struct("<I")
_HEAD = struct.Struct("<IQ")

_MOST_TASKS = 8192
"""How many numbers fit in a pipe that nobody reads yet: 64 KiB hold twice as many."""

MOST_PROCESSES = 16
"""The most processes that work at once: each needs memory of its own."""


def map_here(
    function: Callable[[int], bytes], count: int, started: Callable[[int], None]
) -> list[bytes]:
    """Return `function` of each number below `count` as `map_forked` does, in this process."""
    results: list[bytes] = []
    for number in range(count):
        started(number)
        results.append(function(number))
    return results


def map_forked(
    function: Callable[[int], bytes], count: int, started: Callable[[int], None]
) -> list[bytes]:
    """Return `function` of each number below `count`, computed in as many processes as fit.

    Each process takes the lowest number that nobody has taken. `started` is called in this process,
    with all numbers in order. What a fork fails to compute is computed here, where exceptions
    reach the caller.
    """
    results: list[bytes] = []
    for first in range(0, count, _MOST_TASKS):
        numbers = range(first, min(count, first + _MOST_TASKS))
        results += _map(function, numbers, started)
    return results


def _map(
    function: Callable[[int], bytes], numbers: Sequence[int], started: Callable[[int], None]
) -> list[bytes]:
    tasks = _Tasks(numbers)
    forks: list[_Fork] = []
    announced = numbers[0] if numbers else 0
    found: dict[int, bytes] = {}
    try:
        for _ in range(min(_processes(), len(numbers)) - 1):
            fork = _Fork.start(function, tasks)
            if fork is None:
                break
            forks.append(fork)
        while (number := tasks.take()) is not None:
            for each in range(announced, number + 1):
                started(each)
            announced = number + 1
            found[number] = function(number)
        for fork in forks:
            found |= fork.results()
    finally:
        tasks.close()
        for fork in forks:
            fork.end()
    for each in range(announced, numbers[-1] + 1 if numbers else 0):
        started(each)
    return [found[each] if each in found else function(each) for each in numbers]


def _processes() -> int:
    if not hasattr(os, "fork") or not hasattr(os, "sched_getaffinity"):
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


class _Tasks:
    """Numbers in a pipe: whoever reads one has taken it."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._source, sink = os.pipe()
        os.write(sink, b"".join(map(_NUMBER.pack, numbers)))
        os.close(sink)

    def take(self) -> int | None:
        data = os.read(self._source, _NUMBER.size)
        return _NUMBER.unpack(data)[0] if data else None

    def close(self) -> None:
        os.close(self._source)


@dataclass
class _Fork:
    """A child process, and the pipe through which its results come."""

    process: int
    pipe: BinaryIO = field(repr=False)

    @staticmethod
    def start(function: Callable[[int], bytes], tasks: _Tasks) -> "_Fork | None":
        """Start a fork that works until no task is left; return None where the system has none."""
        source, sink = os.pipe()
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of all forks of processes with threads: see above.
                warnings.simplefilter("ignore", DeprecationWarning)
                process = os.fork()
        except OSError:
            os.close(source)
            os.close(sink)
            return None
        if process == 0:
            _work(function, tasks, sink)
        os.close(sink)
        return _Fork(process, open(source, "rb"))

    def results(self) -> dict[int, bytes]:
        """Return what the child computed, when it has ended."""
        found: dict[int, bytes] = {}
        while len(head := self.pipe.read(_HEAD.size)) == _HEAD.size:
            number, size = _HEAD.unpack(head)
            data = self.pipe.read(size)
            if len(data) == size:
                found[number] = data
        return found

    def end(self) -> None:
        """End the child, which has nothing left to do unless this process failed."""
        self.pipe.close()
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.process, 0)


def _work(function: Callable[[int], bytes], tasks: _Tasks, sink: int) -> None:
    """Compute results and send them, then leave without any of the parent's clean-up."""
    found: list[tuple[int, bytes]] = []
    try:
        gc.freeze()  # a collection would write to, and so copy, all objects of the parent
        while (number := tasks.take()) is not None:
            found.append((number, function(number)))
    finally:
        # Results are sent at the end: the parent may be busy, and a pipe holds little.
        with suppress(BaseException), open(sink, "wb") as pipe:
            for number, data in found:
                pipe.write(_HEAD.pack(number, len(data)))
                pipe.write(data)
        os._exit(0)
