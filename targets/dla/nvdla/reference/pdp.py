"""The planar data processor: maximum, minimum and average of windows."""

import numpy as np
import numpy.typing as npt

from ..operations import PdpOperation
from .arithmetic import Integers, saturate, shift_right

AVERAGE, MAXIMUM, MINIMUM = range(3)
_ONE = 1 << 16
"""Reciprocals have 16 bits behind the point."""


def unsupported(operation: PdpOperation) -> str | None:
    """Explain what of an operation is not computed here, None if all is."""
    if operation.precision:
        return "other precisions than int8"
    if operation.mode > MINIMUM:
        return f"pools of mode {operation.mode}"
    if operation.mode == AVERAGE and any(operation.pad_values):
        return "averages with other padding than 0"
    return None


def pool(image: npt.NDArray[np.generic], operation: PdpOperation) -> Integers:
    """Return the results [C, H', W'], in the range of int8, of an image [C, H, W].

    Padding counts in an average, not in a maximum or minimum. An average is a sum times the
    reciprocals of the window's width and height, each rounded down, and each product rounded.
    """
    fill = {AVERAGE: 0, MAXIMUM: -128, MINIMUM: 127}[operation.mode]
    pads = (
        (0, 0),
        (operation.pad_top, operation.pad_bottom),
        (operation.pad_left, operation.pad_right),
    )
    padded = np.pad(image.astype(np.int64), pads, constant_values=fill)
    sizes = operation.window_height + 1, operation.window_width + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, sizes, (1, 2))
    windows = windows[:, :: operation.stride_y, :: operation.stride_x]
    if operation.mode == MAXIMUM:
        return windows.max((3, 4))
    if operation.mode == MINIMUM:
        return windows.min((3, 4))
    values = shift_right(windows.sum((3, 4)) * (_ONE // sizes[1]), 16)
    return saturate(shift_right(values * (_ONE // sizes[0]), 16), 8)
