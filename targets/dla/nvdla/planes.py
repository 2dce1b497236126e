"""The layout of planar data: a plane for each channel, of rows of pixels."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .network import Cube


@dataclass(frozen=True)
class PlanarLayout:
    """The strides of planar data of 8 bits, in bytes."""

    channels: int
    height: int
    width: int
    line_stride: int
    plane_stride: int

    @staticmethod
    def of(cube: Cube) -> "PlanarLayout":
        """Return the layout that a cube's descriptor states."""
        strides = cube.line_stride, cube.plane_stride
        return PlanarLayout(cube.channels, cube.height, cube.width, *strides)

    @property
    def bytes(self) -> int:
        """Return the bytes from the first to the last element."""
        last = (self.channels - 1) * self.plane_stride + (self.height - 1) * self.line_stride
        return last + self.width

    def fault(self) -> str | None:
        """Explain which stride is impossible, None if all are possible."""
        if not (self.channels and self.height and self.width):
            return f"has {self.channels}x{self.height}x{self.width} elements, must have some"
        if self.line_stride < self.width:
            return f"has line stride {self.line_stride}, must be {self.width} or more"
        plane = self.height * self.line_stride
        if self.plane_stride < plane:
            return f"has plane stride {self.plane_stride}, must be {plane} or more"
        return None

    def view(self, memory: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
        """Return the part of memory that contains the elements, as int8 [C, H, W]."""
        shape = self.channels, self.height, self.width
        strides = self.plane_stride, self.line_stride, 1
        return np.lib.stride_tricks.as_strided(memory.view(np.int8), shape, strides)
