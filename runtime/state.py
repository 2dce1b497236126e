"""The state of a session: memory, threads, and its memory in other spaces."""

import ctypes
from collections.abc import Mapping
from dataclasses import field
from itertools import groupby
from typing import Any, NoReturn, Protocol

from numpy.typing import NDArray

from .contents import ARENA, PROCESS, Contents
from .dtypes import TEXT
from .frozen import Frozen
from .memory import Bases, Buffers, Place, allocate
from .memory_space import SessionMemory
from .sizes.values import STATIC, Values
from .strings import Strings


class Enter(Protocol):
    """Begin the stage of a run in which steps of `nodes` find sizes."""

    def __call__(
        self,
        state: "SessionState",
        sizes: Mapping[str, int],
        nodes: tuple[str, ...],
        /,
    ) -> "SessionState":
        """Return the state of the stage, given that before it and the sizes of its symbols.

        The arenas of the stage are new, but for those of what a loop carries: these keep their
        content.
        """
        ...


class Watcher(Protocol):
    """Watch the steps of a session: `observe/observer.py` does."""

    def words(self, step: Any) -> NDArray[Any]:
        """Return words for native code to read and write as it makes the calls of a step."""
        ...

    def watch(
        self, contents: Contents, spaces: Mapping[str, SessionMemory], step: Any, run: Any
    ) -> Any:
        """Return what does a step, which was just bound, and notes what is seen of it."""
        ...


def _no_stages(*_: object) -> NoReturn:
    raise AssertionError("the package finds no sizes")


class Allocation(Protocol):
    """Allocate the values of a session one by one: `allocation/one_by_one.py` does."""

    @property
    def use(self) -> Any:
        """Return what was allocated so far."""
        ...

    def trim(self) -> None:
        """Give all memory back."""
        ...

    def calls_in(self, step: Any) -> int:
        """Return how many calls a step of native code makes."""
        ...

    def locator(self, step: Any, state: Any) -> Any:
        """Return what finds the values of the calls of a step, at the sizes of a state."""
        ...

    def bind(self, steps: Any, binds: Any, state: Any, last: Any) -> Any:
        """Return what does a run, and `last` before its values are freed."""
        ...


class SessionState(Frozen):
    """Hold the memory of a session; `spaces` are its memory spaces beside the process, by name.

    Steps that are bound to a plan get its `values`, and buffers with numbers for sizes. Where a
    package has text, `strings` knows it. An `observer` watches the steps of whoever asked for it.
    Where an `allocation` gives values memory of their own, steps are done call by call.
    """

    bases: Bases
    threads: int = 1
    spaces: Mapping[str, SessionMemory] = field(default_factory=dict[str, SessionMemory])
    values: Values = STATIC
    stage: Enter = _no_stages
    strings: Strings | None = None
    observer: Watcher | None = None
    allocation: Allocation | None = None

    def enter(self, sizes: Mapping[str, int], nodes: tuple[str, ...]) -> "SessionState":
        """Return the state of the stage that begins as steps of `nodes` find some sizes."""
        return self.stage(self, sizes, nodes)

    def at(self, buffers: Buffers, values: Values) -> "SessionState":
        """Return the same memory for steps of a plan."""
        return self.changed(bases=self.bases.at(buffers), values=values)

    def read(self, index: int) -> NDArray[Any]:
        """Return the tensor in a buffer, in place; text as an array of Python strings."""
        array = self.bases.view(index)
        if self.strings is None or self.bases.dtype(index) != TEXT:
            return array
        return self.strings.texts(array)

    def stored(self, index: int, array: NDArray[Any]) -> NDArray[Any]:
        """Return what memory has for an array that is to be written to a buffer."""
        if self.strings is None or self.bases.dtype(index) != TEXT or array.dtype != object:
            return array
        return self.strings.handles(array)

    def grow(self, arenas: Mapping[int, int]) -> None:
        """Make arenas at least as large as the bytes given for their bases."""
        self.bases.grow(arenas.get(ARENA, 0))
        for name, memory in self.spaces.items():
            grown = [base for base in memory.addresses if base in arenas]
            for base in grown:
                if memory.grow(arenas[base]):
                    self.bases.move(base, Place(memory.addresses[base], name))

    def grow_stage(self, base: int, space: str, size: int) -> None:
        """Make the arena of a stage, in a memory space, at least as large as some bytes."""
        if space == PROCESS:
            self.bases.grow_stage(base, size)
        else:
            address = self.spaces[space].grow_stage(base, size)
            self.bases.move(base, Place(address, space))

    def trim(self) -> None:
        """Free the arenas, which must grow before the next run."""
        self.bases.trim()
        if self.allocation is not None:
            self.allocation.trim()
        for memory in self.spaces.values():
            memory.trim()

    def copy(self, target: Place, source: Place, size: int) -> None:
        """Copy bytes from any place to any other; in the process where neither is on a device."""
        spaces = [name for name, _ in groupby((target.space, source.space)) if name != PROCESS]
        match spaces:
            case []:
                if size:
                    ctypes.memmove(target.address, source.address, size)
            case [name]:
                self.spaces[name].copy(target, source, size)
            case _:
                self._copy_between(target, source, size)

    def _copy_between(self, target: Place, source: Place, size: int) -> None:
        """Copy from one device to another, by way of the process."""
        staging = allocate(size, "a copy between devices")
        between = Place(staging.ctypes.data, PROCESS)
        self.spaces[source.space].copy(between, source, size)
        self.spaces[source.space].synchronize()
        self.spaces[target.space].copy(target, between, size)
        self.spaces[target.space].synchronize()
