"""Layout of images and tables in the memories of an accelerator."""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.tensor import Array, Shape
from ....dialects.dla.types import BufferType
from ..core.description import Description


@dataclass(frozen=True)
class MemoryLayout:
    """Sizes of images and tables; the channels of a pixel are padded to whole grains."""

    description: Description

    @property
    def grain(self) -> int:
        """Return the unit that channels are padded to: whole atoms, at aligned addresses."""
        memories = self.description.memories
        return max(self.description.atom, memories["dram"].alignment, memories["sram"].alignment)

    def padded(self, channels: int) -> int:
        """Return the bytes of the channels of a pixel."""
        return -(-channels // self.grain) * self.grain

    def images(self, shape: Shape, space: str) -> BufferType:
        """Return the buffer type of images [N, rows, columns, channels] in a space."""
        return BufferType((*shape[:3], self.padded(shape[3])), "i8", space)

    def aligned(self, size: int) -> int:
        """Round a size up to the alignment of DRAM and of the memory of weights."""
        memories = self.description.memories
        unit = max(memories["dram"].alignment, memories["weights"].alignment)
        return -(-size // unit) * unit

    def capacity(self, memory: str) -> int:
        """Return the bytes of a memory."""
        return self.description.memories[memory].bytes

    def packed_images(self, array: Array) -> Array:
        """Return constant images with their channels padded by zeros."""
        extra = self.padded(array.shape[-1]) - array.shape[-1]
        return np.pad(array, [(0, 0)] * 3 + [(0, extra)])
