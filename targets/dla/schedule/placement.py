"""Say where values of the tensor form are in buffers, and which windows of them are meant."""

from dataclasses import dataclass
from operator import add

from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Shape
from ....dialects.dla.memory import ORIGIN

Ranges = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""From where to where a window goes: rows, columns, channels."""


@dataclass(frozen=True)
class Window:
    """Name a buffer and where in it a window starts."""

    buffer: ir.Value
    at: Shape = ORIGIN

    def moved(self, at: Shape) -> "Window":
        """Return the window that starts at a place in this one."""
        return Window(self.buffer, tuple(map(add, self.at, at)))


@dataclass
class Images:
    """Say where a value of the tensor form is: in sram, in dram, or in both.

    A part of another value is `within` that one, wherever it is, from `at` on.
    """

    shape: Shape
    sram: Window | None = None
    dram: Window | None = None
    within: "Images | None" = None
    at: Shape = ORIGIN


def start_of(image: int, ranges: Ranges) -> Shape:
    """Return where a window starts."""
    return image, *(first for first, _ in ranges)


def sizes_of(ranges: Ranges) -> dict[str, int]:
    """Return how many rows, columns and channels a window has, by these names."""
    names = ("rows", "columns", "channels")
    return {name: end - first for name, (first, end) in zip(names, ranges, strict=True)}
