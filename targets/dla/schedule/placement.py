"""Placement of images in buffers, and windows of these."""

from dataclasses import dataclass
from operator import add

from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Shape
from ....dialects.dla.memory import ORIGIN

Ranges = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""A half-open range of rows, one of columns and one of channels."""


@dataclass(frozen=True)
class BufferWindow:
    """A buffer and the offset at which a window starts in it."""

    buffer: ir.Value
    at: Shape = ORIGIN

    def moved(self, at: Shape) -> "BufferWindow":
        """Return the window that starts at an offset in this one."""
        return BufferWindow(self.buffer, tuple(map(add, self.at, at)))


@dataclass
class ImagePlacement:
    """Locate images in SRAM, in DRAM, or in both; a subview is stored in `parent`, from `at` on."""

    shape: Shape
    sram: BufferWindow | None = None
    dram: BufferWindow | None = None
    parent: "ImagePlacement | None" = None
    at: Shape = ORIGIN


def start_of(image: int, ranges: Ranges) -> Shape:
    """Return the offset at which a window starts."""
    return image, *(first for first, _ in ranges)


def sizes_of(ranges: Ranges) -> dict[str, int]:
    """Return the sizes of a window as the packet fields `rows`, `columns` and `channels`."""
    names = ("rows", "columns", "channels")
    return {name: end - first for name, (first, end) in zip(names, ranges, strict=True)}
