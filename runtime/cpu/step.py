"""Steps of native code: a function that runs on the threads of a session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..contents import Contents
from ..errors import PackageError
from ..frozen import Frozen
from ..kinds import LEFT_OUT
from ..loader import Loader
from ..sizes.size_expressions import Size
from ..sizes.values import SizeArray
from ..state import SessionState
from ..step import Bind, CallRuns, Run, SizedRun, Step
from .calls_one_by_one import PHASE, constant_table, divide, words_of
from .choose_code import choose_code
from .code import CpuRequirements
from .elf import NativeLibrary, load_objects
from .part import CpuPart
from .thread_pool import CODE, ParallelProgram, ThreadPool, pool_of

_MOST_PHASES = 1 << 24
_NO_WORDS = np.empty(0, np.int64)


class SizeTable(Frozen):
    """Hold the numbers that a native function reads at the sizes of a plan.

    `words` are its calls, `ranges` the iterations of each phase, and how many chunks its work is
    worth: it has at least one, and at most as many as iterations.
    """

    words: tuple[Size, ...] = ()
    ranges: tuple[Size, ...] = ()


class SizedProgram(SizedRun):
    """Run a program at sizes that may change: on one thread, it reads them anew in each call.

    `program` prepares it for a number of threads. Those of several may be late: they get numbers
    that nobody changes.
    """

    def __init__(
        self,
        program: Callable[[SessionState, NDArray[np.int64], int], Run],
        sizes: SizeArray,
        state: SessionState,
        split: int,
        threads: int,
    ) -> None:
        self._program = program
        self._sizes = sizes
        self._split = split
        self._threads = threads
        self._numbers = sizes.at(state.values)
        self._alone: Run | None = None
        self._run = self._chosen(state)

    def __call__(self) -> None:
        self._run()

    def resize(self, state: SessionState) -> None:
        self._sizes.fill(self._numbers, state.values)
        self._run = self._chosen(state)

    def _chosen(self, state: SessionState) -> Run:
        """Return what runs on one thread, if there is no work for two."""
        if self._threads > 1 and _cut(self._numbers[self._split :]):
            return self._program(state, self._numbers.copy(), self._threads)
        if self._alone is None:
            self._alone = self._program(state, self._numbers, 1)
        return self._alone


@dataclass(frozen=True, kw_only=True)
class CpuStep(Step):
    """Call the native function `symbol`, which does not list the buffers that it works on.

    `phases` is how often its threads wait for one another; without any it runs on one thread.
    `tables` has one for each machine of the package where sizes depend on symbols. `thread_bytes`
    is for each thread but the first, where the package does not know it before a run.
    """

    kind: ClassVar[str] = "cpu"
    at_load: ClassVar[bool] = True
    lists_buffers: ClassVar[bool] = False
    by_address: ClassVar[bool] = True

    symbol: str
    phases: int = 0
    tables: tuple[SizeTable, ...] = field(default=(), metadata=LEFT_OUT)
    thread_bytes: Size = field(default=0, metadata=LEFT_OUT)

    def check(self, contents: Contents, where: str) -> None:
        if not self.symbol:
            raise PackageError(f"'{where}.symbol' is empty, must name a function")
        if not 0 <= self.phases <= _MOST_PHASES:
            raise PackageError(
                f"'{where}.phases' is {self.phases}, must be from 0 to {_MOST_PHASES}"
            )
        self._check_tables(contents, where)

    def _check_tables(self, contents: Contents, where: str) -> None:
        machines = len(contents.part(CpuPart).machines)
        if len(self.tables) not in (0, machines):
            raise PackageError(
                f"'{where}.tables' has {len(self.tables)} tables, must have one for each of "
                f"{machines} machines"
            )
        for i, table in enumerate(self.tables):
            if self.phases and len(table.ranges) != PHASE * self.phases:
                raise PackageError(
                    f"'{where}.tables[{i}].ranges' has {len(table.ranges)} numbers, must have "
                    f"{PHASE} for each of {self.phases} phases"
                )

    def load(self, loader: Loader) -> Bind:
        if not any(name.startswith("cpu/") for name in loader.entries):
            raise PackageError(
                f"step '{self.symbol}' is native, but the package has no native code"
            )
        library = loader.once("cpu", lambda: _load(loader))
        address = library.address(self.symbol)
        pool = pool_of(loader.entries[CODE], loader.options.get("cores", ()))
        own_bytes = loader.contents.memory.thread_bytes
        table = self._table(loader)
        made, split = loader.array((*table.words, *table.ranges)), len(table.words)

        def bind(state: SessionState) -> Run:
            words = _NO_WORDS if state.observer is None else state.observer.words(self)

            def program(state: SessionState, numbers: NDArray[np.int64], threads: int) -> Run:
                own = max(state.values(own_bytes), state.values(self.thread_bytes))
                work = (address, self.phases, own, threads, numbers, split, words)
                return ParallelProgram(library, state.bases, pool, *work).run

            threads = state.threads if self.phases else 1
            if state.allocation is not None:
                return self._one_by_one(library, pool, own_bytes, made, split, threads, state)
            if self.tables:
                return SizedProgram(program, made, state, split, threads)
            return program(state, made.at(state.values), threads)

        return bind

    def _one_by_one(
        self,
        library: NativeLibrary,
        pool: ThreadPool,
        own_bytes: Size,
        made: SizeArray,
        split: int,
        threads: int,
        state: SessionState,
    ) -> CallRuns:
        """Return what makes each call alone, with values that have memory of their own."""
        assert state.allocation is not None
        calls, locate = state.allocation.calls_in(self), state.allocation.locator(self, state)
        address, own = library.address(self.symbol), state.values(own_bytes)
        own = max(own, state.values(self.thread_bytes))
        if self.tables:
            numbers = made.at(state.values)
            _cut(numbers[split:])
        else:
            numbers = constant_table(library.address(words_of(self.symbol)), calls)

        def call_at(row: int, phase: int, phases: int) -> Run:
            used = threads if phases else 1
            work = (address, phases, own, used, numbers, split + PHASE * phase)
            return ParallelProgram(library, state.bases, pool, *work, row=row).run

        return divide(numbers, calls, not self.tables, locate, call_at)

    def _table(self, loader: Loader) -> SizeTable:
        """Return the sizes for the code in use; none where they do not depend on symbols."""
        if not self.tables:
            return SizeTable()
        return self.tables[loader.contents.part(CpuPart).machines.index(_choose(loader))]

    def operation(self, contents: Contents) -> str:
        return self.symbol

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return ""  # the part of the manifest counts its kernels


def _load(loader: Loader) -> NativeLibrary:
    if CODE not in loader.entries:
        raise PackageError(f"the package has native code, but no '{CODE}'")
    chosen = _choose(loader)
    loader.machine = chosen.machine
    return load_objects(
        {
            name: loader.entries[name]
            for name in loader.entries
            if name == CODE or name.rpartition("/")[0] + "/" == chosen.folder
        }
    )


def _choose(loader: Loader) -> CpuRequirements:
    machines = loader.contents.part(CpuPart).machines
    return loader.once("cpu machine", lambda: choose_code(machines))


def _cut(ranges: NDArray[np.int64]) -> bool:
    """Limit the chunks of phases by their iterations; return whether any has work for two."""
    chunks = ranges[1::PHASE]
    np.minimum(chunks, ranges[::PHASE], out=chunks)
    np.maximum(chunks, 1, out=chunks)
    return bool(chunks.max(initial=1) > 1)
