"""How kernels move over the rows and columns of an image, as packets say it."""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.tensor import Array, Shape
from ....passes.rewriting import NoMatch
from ..schedule.halo import extent


@dataclass(frozen=True)
class KernelWindow:
    """Hold a kernel's size and its steps; pads are top, left, bottom, right."""

    kernel: Shape = (1, 1)
    strides: Shape = (1, 1)
    dilations: Shape = (1, 1)
    pads: Shape = (0, 0, 0, 0)

    @staticmethod
    def of(kernel: Shape, strides: Shape, dilations: Shape, pads: Shape) -> "KernelWindow":
        """Make one for an op over one or two axes; images without rows have one row."""
        if len(kernel) == 2:
            return KernelWindow(kernel, strides, dilations, pads)
        if len(kernel) != 1:
            raise NoMatch(f"slides over {len(kernel)} axes, must be rows and columns")
        begin, end = pads
        return KernelWindow((1, *kernel), (1, *strides), (1, *dilations), (0, begin, 0, end))

    def check(self) -> None:
        """Refuse windows that may have nothing of an image: a tile of them would have none."""
        for pad, span in zip(self.pads, (*self.extents, *self.extents), strict=True):
            if pad >= span:
                raise NoMatch(f"pads by {pad}, must be less than the kernel spans, {span}")

    @property
    def extents(self) -> Shape:
        """Return how many rows and columns the kernel spans."""
        return tuple(map(extent, self.kernel, self.dilations))

    def reaching(self, sizes: Shape, out: Shape) -> "KernelWindow":
        """Return the window that makes `out` rows and columns, with more padding at the ends."""
        ends: list[int] = []
        for axis in (0, 1):
            reach = (out[axis] - 1) * self.strides[axis] + self.extents[axis]
            ends.append(max(reach - self.pads[axis] - sizes[axis], self.pads[axis + 2]))
        pads = (*self.pads[:2], *ends)
        return KernelWindow(self.kernel, self.strides, self.dilations, pads)

    def counts(self, sizes: Shape, out: Shape) -> Array:
        """Return how many pixels of an image each window has."""
        rows, columns = (self._counts(axis, sizes[axis], out[axis]) for axis in (0, 1))
        return rows[:, None] * columns

    def _counts(self, axis: int, size: int, out: int) -> Array:
        first = np.arange(out) * self.strides[axis] - self.pads[axis]
        taps = first[:, None] + np.arange(self.kernel[axis]) * self.dilations[axis]
        return ((taps >= 0) & (taps < size)).sum(axis=1)
