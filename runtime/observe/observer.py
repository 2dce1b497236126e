"""Observe the runs of a session: leave out calls, and note how long each takes."""

from collections.abc import Collection, Mapping
from time import perf_counter_ns
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contents import PROCESS, Contents
from ..cpu.thread_pool import Observed
from ..memory_space import SessionMemory
from ..step import Run, Step
from .calls import Call, CallTable

NOTHING_SKIPPED: Mapping[int, Collection[int]] = MappingProxyType({})


class Observation(NamedTuple):
    """Hold what was seen of a step once: when it began and ended, in nanoseconds.

    `calls` are those of native code, which has written `words`; other steps have none.
    """

    step: Step
    begin: int
    end: int
    calls: tuple[Call, ...]
    words: NDArray[np.int64]


class Observer:
    """Watch the steps of one package.

    `skipped` are the numbers of calls that are not made, by the `id` of their step.
    `seen` gets an observation for each step that runs, if it is not None.
    """

    def __init__(
        self,
        calls: CallTable,
        skipped: Mapping[int, Collection[int]] = NOTHING_SKIPPED,
        seen: list[Observation] | None = None,
    ) -> None:
        self.calls = calls
        self._skipped = skipped
        self.seen = seen
        self._words: dict[int, NDArray[np.int64]] = {}

    def timed(self, seen: list[Observation]) -> "Observer":
        """Return an observer that leaves out the same calls, and notes what it sees."""
        return Observer(self.calls, self._skipped, seen)

    def words(self, step: Step) -> NDArray[np.int64]:
        """Return words for native code to read and write as it makes the calls of a step."""
        count = len(self.calls.of(step))
        if not count:
            return np.empty(0, np.int64)
        words = np.zeros(Observed.CALLS + count * Observed.CALL_WORDS, np.int64)
        for number in self._skipped.get(id(step), ()):
            words[Observed.CALLS + number * Observed.CALL_WORDS + Observed.SKIPPED] = 1
        self._words[id(step)] = words
        return words

    def watch(
        self, contents: Contents, spaces: Mapping[str, SessionMemory], step: Step, run: Run
    ) -> Run:
        """Return what does a step, which was just bound, and notes what is seen of it.

        What a step does in the queue of a device is waited for.
        """
        words, seen = self._words.pop(id(step), np.empty(0, np.int64)), self.seen
        if seen is None:
            return run
        queue, calls = step.queue(contents), self.calls.of(step)
        wait = None if queue == PROCESS else spaces[queue].synchronize

        def watched() -> None:
            begin = perf_counter_ns()
            run()
            if wait is not None:
                wait()
            seen.append(Observation(step, begin, perf_counter_ns(), calls, words.copy()))

        return watched
