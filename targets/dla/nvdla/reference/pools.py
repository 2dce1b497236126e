"""The codes of PDP, and where its windows are."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..format.operations import PdpOperation

AVERAGE, MAXIMUM, MINIMUM = range(3)


@dataclass(frozen=True)
class Axis:
    """The windows along an axis; `starts` has the places of their first elements."""

    size: int
    window: int
    starts: npt.NDArray[np.int64]

    @property
    def outputs(self) -> int:
        """Return the number of windows."""
        return len(self.starts)

    @property
    def padding(self) -> npt.NDArray[np.int64]:
        """Return how many elements of each window are padding."""
        first, last = np.maximum(self.starts, 0), np.minimum(self.starts + self.window, self.size)
        return self.window - (last - first)


def axes(shape: tuple[int, ...], operation: PdpOperation) -> tuple[Axis, Axis]:
    """Return the windows along height and width of an image [C, H, W].

    Raises ValueError for windows that are padding alone, for which the hardware has no result.
    """
    _, height, width = shape
    rows = _axis(
        height,
        operation.window_height + 1,
        operation.stride_y,
        operation.pad_top,
        operation.pad_bottom,
    )
    columns = _axis(
        width,
        operation.window_width + 1,
        operation.stride_x,
        operation.pad_left,
        operation.pad_right,
    )
    for axis in (rows, columns):
        if (axis.padding >= axis.window).any():
            raise ValueError("has a window that is padding alone, must have an element in each")
    return rows, columns


def _axis(size: int, window: int, stride: int, before: int, after: int) -> Axis:
    outputs = (size + before + after - window) // stride + 1
    return Axis(size, window, np.arange(outputs, dtype=np.int64) * stride - before)
