"""Steps of native code: a function that runs on the threads of a session."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents
from ..errors import PackageError
from ..loader import Loader
from ..state import SessionState
from ..step import Bind, Run, Step
from .choose_code import choose_code
from .elf import NativeLibrary, load_objects
from .part import CpuPart
from .thread_pool import CODE, ParallelProgram, pool_of

_MOST_PHASES = 1 << 24


@dataclass(frozen=True, kw_only=True)
class CpuStep(Step):
    """Call the native function `symbol`, which does not list the buffers that it works on.

    `phases` is how often its threads wait for one another; without any it runs on one thread.
    """

    kind: ClassVar[str] = "cpu"
    at_load: ClassVar[bool] = True
    lists_buffers: ClassVar[bool] = False

    symbol: str
    phases: int = 0

    def check(self, contents: Contents, where: str) -> None:
        if not self.symbol:
            raise PackageError(f"'{where}.symbol' is empty, must name a function")
        if not 0 <= self.phases <= _MOST_PHASES:
            raise PackageError(
                f"'{where}.phases' is {self.phases}, must be from 0 to {_MOST_PHASES}"
            )

    def load(self, loader: Loader) -> Bind:
        if not any(name.startswith("cpu/") for name in loader.entries):
            raise PackageError(
                f"step '{self.symbol}' is native, but the package has no native code"
            )
        library = loader.once("cpu", lambda: _load(loader))
        library.address(self.symbol)  # a function that is missing is found now
        pool, own = pool_of(loader.entries[CODE]), loader.contents.memory.thread_bytes

        def bind(state: SessionState) -> Run:
            threads = state.threads if self.phases else 1
            work = (library.address(self.symbol), self.phases, state.values(own), threads)
            return ParallelProgram(library, state.bases, pool, *work).run

        return bind

    def operation(self, contents: Contents) -> str:
        return self.symbol

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return ""  # the part of the manifest counts its kernels


def _load(loader: Loader) -> NativeLibrary:
    if CODE not in loader.entries:
        raise PackageError(f"the package has native code, but no '{CODE}'")
    chosen = choose_code(loader.contents.part(CpuPart).machines)
    loader.machine = chosen.machine
    return load_objects(
        {
            name: data
            for name, data in loader.entries.items()
            if name == CODE or name.rpartition("/")[0] + "/" == chosen.folder
        }
    )
