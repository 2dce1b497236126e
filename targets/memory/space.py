"""`MemorySpace`: a memory that a target's kernels read and write."""

from dataclasses import dataclass, field

from ...runtime.contents import PROCESS


@dataclass(frozen=True)
class CopyCost:
    """Estimate copies between a memory space and the memory of the process."""

    start_seconds: float = 0.0
    bytes_per_second: float = float("inf")

    def seconds(self, size: int) -> float:
        """Return how long a copy of some bytes takes."""
        return self.start_seconds + size / self.bytes_per_second


@dataclass(frozen=True)
class MemorySpace:
    """Name a memory, the alignment in bytes of values in it, and the cost of copies.

    Each has an arena and constants of its own. At run time, the class of `trivium.memory_spaces`
    that is registered under its name allocates them and copies from and to other memories
    (`runtime/memory_space.py`).
    """

    name: str
    alignment: int = 64
    copy_cost: CopyCost = field(default_factory=CopyCost)


PROCESS_MEMORY = MemorySpace(PROCESS)
"""The memory of the process, in which a model's inputs and outputs are."""
