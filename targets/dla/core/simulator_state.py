"""The state of a simulated accelerator: memories that know which of their bytes were written."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ....dialects.core.errors import CompileError, Invalid
from .description import Description
from .extent import Extent, extent_fault, view

Bytes = npt.NDArray[np.uint8]
Values = npt.NDArray[np.int8]

MOST_BYTES = 1 << 32
"""The most bytes of all spaces together; the host needs two bytes for each of them."""


class SimulatorState:
    """The contents of all spaces: on-chip memories, and each region of DRAM.

    Every access is checked by `extent_fault`, so that none leaves its space. Raises CompileError,
    before anything is allocated, if all spaces have more than `most` bytes.
    """

    def __init__(
        self, description: Description, regions: Mapping[str, int], most: int = MOST_BYTES
    ) -> None:
        self.description = description
        sizes = {f"dram.{name}": size for name, size in regions.items()}
        sizes |= {m.name: m.bytes for m in description.memories.values() if m.name != "dram"}
        _require_room(sizes, most)
        self.data: dict[str, Bytes] = {s: np.zeros(n, np.uint8) for s, n in sizes.items()}
        self.written = {space: np.zeros(size, np.bool_) for space, size in sizes.items()}

    def fill(self, space: str, data: bytes | Bytes, start: int = 0) -> None:
        """Write constants or inputs into a space."""
        values = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        self.write(Extent(space, start, values.size), values)

    def share(self, other: "SimulatorState", space: str) -> None:
        """Use a space of another state; only a space that nothing writes can be shared."""
        self.data[space], self.written[space] = other.data[space], other.written[space]

    def read(self, extent: Extent) -> Values:
        """Return a copy of the bytes of an extent as i8, of shape counts and run.

        Raises Invalid if they are outside of the space, or were never written.
        """
        self._require(extent)
        if not view(self.written[extent.space], extent).all():
            raise Invalid(f"reads bytes of {extent.space} that were never written")
        return view(self.data[extent.space], extent).copy().view(np.int8)

    def write(self, extent: Extent, values: npt.NDArray[np.generic]) -> None:
        """Write i8 or u8 values that broadcast to an extent; raise Invalid outside of it."""
        self._require(extent)
        view(self.data[extent.space], extent)[...] = values.view(np.uint8)
        view(self.written[extent.space], extent)[...] = True

    def size(self, space: str) -> int | None:
        """Return the bytes of a space, None if there is no such space."""
        return self.data[space].size if space in self.data else None

    def _require(self, extent: Extent) -> None:
        fault = extent_fault(extent, self.size(extent.space))
        if fault is not None:
            raise Invalid(fault)


def _require_room(sizes: Mapping[str, int], most: int) -> None:
    total = sum(sizes.values())
    if total <= most:
        return
    largest = max(sizes, key=sizes.__getitem__)
    raise CompileError(
        f"the accelerator has {total} bytes, {sizes[largest]} of them in {largest}, a simulation "
        f"may have at most {most}: set `most` to simulate more"
    )
