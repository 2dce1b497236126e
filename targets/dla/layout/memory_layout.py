"""How images and tables lie in the memories of an accelerator, as its description says."""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.tensor import Array, Shape
from ....dialects.dla.types import BufferType
from ..core.description import Description
from ..registry import choose_instructions


@dataclass(frozen=True)
class MemoryLayout:
    """Say how large things are: channels of a pixel are padded to whole grains."""

    description: Description

    @property
    def grain(self) -> int:
        """Return what channels are padded to: whole atoms, at addresses that memories allow."""
        memories = self.description.memories
        return max(self.description.atom, memories["dram"].alignment, memories["sram"].alignment)

    def padded(self, channels: int) -> int:
        """Return how many bytes the channels of a pixel take in a buffer."""
        return -(-channels // self.grain) * self.grain

    def images(self, shape: Shape, space: str) -> BufferType:
        """Return the buffer of images [N, rows, columns, channels] in a space."""
        return BufferType((*shape[:3], self.padded(shape[3])), "i8", space)

    def aligned(self, size: int) -> int:
        """Return so many bytes with those that bring the next ones to an address."""
        memories = self.description.memories
        unit = max(memories["dram"].alignment, memories["weights"].alignment)
        return -(-size // unit) * unit

    def capacity(self, memory: str) -> int:
        """Return how many bytes a memory has."""
        return self.description.memories[memory].bytes

    def packed_images(self, array: Array) -> Array:
        """Return constant images with their channels padded by zeros."""
        extra = self.padded(array.shape[-1]) - array.shape[-1]
        return np.pad(array, [(0, 0)] * 3 + [(0, extra)])


def layout_of(target: str, file: str) -> MemoryLayout:
    """Return the layout of an accelerator, as its own description or a user's file has it."""
    return MemoryLayout(choose_instructions(f"{target}:{file}").description)
