"""`MemorySpace`: a memory that a target's kernels read and write."""

from dataclasses import dataclass

from ..runtime.contents import PROCESS


@dataclass(frozen=True)
class MemorySpace:
    """Name a memory, and the alignment in bytes of values in it.

    Each has an arena and constants of its own. At run time, the class of `trivium.memory_spaces`
    that is registered under its name allocates them and copies from and to other memories
    (`runtime/memory_space.py`).
    """

    name: str
    alignment: int = 64


PROCESS_MEMORY = MemorySpace(PROCESS)
"""The memory of the process, in which a model's inputs and outputs are."""
