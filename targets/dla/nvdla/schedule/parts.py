"""Parts of results: the rows or columns of images that their windows read."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Shape
from ..dialect.moves import ROWS, Window


@dataclass(frozen=True)
class Windows:
    """Windows of an image: `reach` is the rows and columns of one; pads as those of ops."""

    reach: Shape
    strides: Shape
    pads: Shape

    def part(self, image: ir.Value, axis: int, first: int, last: int) -> tuple[ir.Value, Shape]:
        """Build what the results from `first` to `last` read, and return it with its pads."""
        spatial, size = axis - ROWS, tensor_of(image.type).shape[axis]
        start = first * self.strides[spatial] - self.pads[spatial]
        end = (last - 1) * self.strides[spatial] - self.pads[spatial] + self.reach[spatial]
        inside = max(start, 0), min(end, size)
        pads = list(self.pads)
        pads[spatial], pads[spatial + 2] = inside[0] - start, max(end - size, 0)
        assert pads[spatial + 2] <= self.pads[spatial + 2], "windows end within the padding"
        return window(image, axis, *inside), tuple(pads)


def window(image: ir.Value, axis: int, first: int, last: int) -> ir.Value:
    """Build the rows or columns from `first` to `last` of an image."""
    start, sizes = [0, 0, 0], list(tensor_of(image.type).shape[1:])
    start[axis - 1], sizes[axis - 1] = first, last - first
    return Window.build(image, start=tuple(start), sizes=tuple(sizes)).y


def even(size: int, most: int) -> Sequence[tuple[int, int]]:
    """Return ranges of nearly as many elements each."""
    parts = -(-size // most)
    bounds = [part * size // parts for part in range(parts + 1)]
    return list(pairwise(bounds))
