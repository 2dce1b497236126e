"""Memory spaces beside that of the process: what a package and a session have in one."""

from types import TracebackType
from typing import Any, ClassVar

from .contents import Contents, MemorySpace
from .errors import RunError
from .kinds import Kind
from .loader import Loader
from .memory import Place


class SessionMemory:
    """Base of what one session has in a memory space: an arena, and a queue of work in it.

    `addresses` are those of arena and weights, by base. A run is `with` this around it. `ports`
    takes arrays of the caller that are in this memory, None where it has none.
    """

    addresses: dict[int, int]
    ports: Any = None

    def copy(self, target: Place, source: Place, size: int) -> None:
        """Copy bytes within this memory, or between it and the process, in the queue's order."""
        raise NotImplementedError

    def grow(self, size: int) -> bool:
        """Make the arena at least as large; return whether it is elsewhere now.

        What was in it is lost. Only packages with symbols ask for it.
        """
        raise NotImplementedError

    def grow_stage(self, base: int, size: int) -> int:
        """Make the arena of a stage at least as large; return where it is.

        Only packages that find sizes ask for it, and only before what they do in the stage.
        """
        raise NotImplementedError

    def heap(self, keeps_arena: bool) -> Any:
        """Return memory for values that a strategy allocates one by one: `allocation/strategy.py`.

        Unless the arena is kept for values that stay in it, it is planned to be empty and must not
        grow. Raises RunError where all memory is planned.
        """
        raise RunError(
            "the package has memory of a device that is planned: memory must be 'static'"
        )

    def trim(self) -> None:
        """Free arenas that grow, which must grow before the next run."""

    def synchronize(self) -> None:
        """Wait until all work in the queue is done; raise RunError for what went wrong."""

    def finish(self) -> None:
        """End a run: wait until all of it is done."""
        self.synchronize()

    def close(self) -> None:
        """Free the memory."""

    def __enter__(self) -> "SessionMemory":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class PackageMemory(Kind):
    """Base of what one package has in a memory space: its weights, for all of its sessions.

    The kind of a subclass is the name of the memory space.
    """

    group: ClassVar[str] = "trivium.memory_spaces"
    module: ClassVar[str] = "space"

    def __init__(self, loader: Loader, space: MemorySpace) -> None:
        """Copy the weights of a package to the memory; raise RunError where there is none."""
        raise NotImplementedError

    def open(self, contents: Contents, in_process: frozenset[int]) -> SessionMemory:
        """Return memory for one session.

        `in_process` are the bases of inputs and outputs that steps read or write in the process.
        """
        raise NotImplementedError
