"""The layout of planar data: a plane for each channel, of rows of pixels."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .format.network import Cube, Precision
from .surfaces import DTYPES


@dataclass(frozen=True)
class PlanarLayout:
    """The strides of planar data, in bytes."""

    channels: int
    height: int
    width: int
    line_stride: int
    plane_stride: int
    precision: Precision = Precision.INT8

    @staticmethod
    def of(cube: Cube, precision: Precision) -> "PlanarLayout":
        """Return the layout that a cube's descriptor states."""
        sizes = cube.channels, cube.height, cube.width
        return PlanarLayout(*sizes, cube.line_stride, cube.plane_stride, precision)

    @property
    def bytes(self) -> int:
        """Return the bytes from the first to the last element."""
        last = (self.channels - 1) * self.plane_stride + (self.height - 1) * self.line_stride
        return last + self.width * self.precision.bytes

    def fault(self) -> str | None:
        """Explain which stride is impossible, None if all are possible."""
        if not (self.channels and self.height and self.width):
            return f"has {self.channels}x{self.height}x{self.width} elements, must have some"
        size = self.precision.bytes
        line, plane = self.width * size, self.height * self.line_stride
        if self.line_stride < line:
            return f"has line stride {self.line_stride}, must be {line} or more"
        if self.plane_stride < plane:
            return f"has plane stride {self.plane_stride}, must be {plane} or more"
        if self.line_stride % size or self.plane_stride % size:
            strides = f"{self.line_stride} and {self.plane_stride}"
            return f"has strides {strides}, must be multiples of {size}"
        return None

    def view(self, memory: npt.NDArray[np.uint8]) -> npt.NDArray[np.generic]:
        """Return the part of memory that contains the elements, as [C, H, W]."""
        shape = self.channels, self.height, self.width
        size = self.precision.bytes
        strides = self.plane_stride, self.line_stride, size
        whole = memory[: memory.size // size * size].view(DTYPES[self.precision])
        return np.lib.stride_tricks.as_strided(whole, shape, strides)
