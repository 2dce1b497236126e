"""Kernel windows: sizes, strides, dilations and pads over rows and columns."""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.tensor import Array, Shape
from ....passes.rewriting import NoMatch
from ..schedule.halo import extent


@dataclass(frozen=True)
class KernelWindow:
    """A kernel's size, strides and dilations; pads are top, left, bottom, right."""

    kernel: Shape = (1, 1)
    strides: Shape = (1, 1)
    dilations: Shape = (1, 1)
    pads: Shape = (0, 0, 0, 0)

    @staticmethod
    def of(kernel: Shape, strides: Shape, dilations: Shape, pads: Shape) -> "KernelWindow":
        """Make the window of an op over one or two axes; one axis becomes the columns."""
        if len(kernel) == 2:
            return KernelWindow(kernel, strides, dilations, pads)
        if len(kernel) != 1:
            raise NoMatch(f"slides over {len(kernel)} axes, must be rows and columns")
        begin, end = pads
        return KernelWindow((1, *kernel), (1, *strides), (1, *dilations), (0, begin, 0, end))

    def check(self) -> None:
        """Raise NoMatch if a window may be outside of the image as a whole."""
        for pad, span in zip(self.pads, (*self.extents, *self.extents), strict=True):
            if pad >= span:
                raise NoMatch(f"pads by {pad}, must be less than the kernel spans, {span}")

    @property
    def extents(self) -> Shape:
        """Return how many rows and columns the dilated kernel covers."""
        return tuple(map(extent, self.kernel, self.dilations))

    def reaching(self, sizes: Shape, out: Shape) -> "KernelWindow":
        """Return the window with end pads for at least `out` rows and columns."""
        ends: list[int] = []
        for axis in (0, 1):
            reach = (out[axis] - 1) * self.strides[axis] + self.extents[axis]
            ends.append(max(reach - self.pads[axis] - sizes[axis], self.pads[axis + 2]))
        pads = (*self.pads[:2], *ends)
        return KernelWindow(self.kernel, self.strides, self.dilations, pads)

    def counts(self, sizes: Shape, out: Shape) -> Array:
        """Return how many pixels of an image each window contains."""
        rows, columns = (self._counts(axis, sizes[axis], out[axis]) for axis in (0, 1))
        return rows[:, None] * columns

    def _counts(self, axis: int, size: int, out: int) -> Array:
        first = np.arange(out) * self.strides[axis] - self.pads[axis]
        taps = first[:, None] + np.arange(self.kernel[axis]) * self.dilations[axis]
        return ((taps >= 0) & (taps < size)).sum(axis=1)
