"""The planar data processor: maximum, minimum and average of windows."""

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import PdpOperation
from .arithmetic import Integers, saturate, shift_right
from .pdp_fp16 import pool_fp16
from .pools import AVERAGE, MAXIMUM, MINIMUM, Axis, axes

_ONE = 1 << 16
"""Reciprocals have 16 bits behind the point."""

_BITS = {Precision.INT8: 8, Precision.INT16: 16}


def unsupported(operation: PdpOperation) -> str | None:
    """Explain what of an operation is not computed here, None if all is."""
    if operation.mode > MINIMUM:
        return f"pools of mode {operation.mode}"
    if operation.precision == Precision.FP16 and any(operation.pad_values):
        return "padding of fp16 with other values than 0"
    return None


def pool(image: npt.NDArray[np.generic], operation: PdpOperation) -> npt.NDArray[np.generic]:
    """Return the results [C, H', W'] of an image [C, H, W]: int64, or float16 for fp16.

    Padding counts in an average, not in a maximum or minimum. An average is a sum times the
    reciprocals of the window's width and height, each rounded down, and each product rounded.
    Raises ValueError for windows that are padding alone.
    """
    if operation.precision == Precision.FP16:
        return pool_fp16(image, operation)
    rows, columns = axes(image.shape, operation)
    bits = _BITS[Precision(operation.precision)]
    limit = 1 << bits - 1
    fill = {AVERAGE: 0, MAXIMUM: -limit, MINIMUM: limit - 1}[operation.mode]
    pads = (
        (0, 0),
        (operation.pad_top, operation.pad_bottom),
        (operation.pad_left, operation.pad_right),
    )
    padded = np.pad(image.astype(np.int64), pads, constant_values=fill)
    sizes = rows.window, columns.window
    windows = np.lib.stride_tricks.sliding_window_view(padded, sizes, (1, 2))
    windows = windows[:, :: operation.stride_y, :: operation.stride_x]
    if operation.mode == MAXIMUM:
        return windows.max((3, 4))
    if operation.mode == MINIMUM:
        return windows.min((3, 4))
    total = windows.sum((3, 4)) + _padding(rows, columns, operation)
    values = shift_right(total * (_ONE // sizes[1]), 16)
    return saturate(shift_right(values * (_ONE // sizes[0]), 16), bits)


def _padding(rows: Axis, columns: Axis, operation: PdpOperation) -> Integers:
    """Return what padding adds to the sum of each window, [H', W'].

    The descriptor has a value for each number of elements that are padding in a row. It is added
    for each row of data, and for rows that are padding once, times the width.
    """
    values = np.asarray((0, *operation.pad_values), np.int64)
    across, down = columns.padding, rows.padding
    if max(across.max(), down.max()) >= len(values):
        raise ValueError(f"has more than {len(values) - 1} elements of padding in a window")
    of_rows = (rows.window - down)[:, None] * values[across]
    return of_rows + columns.window * values[down][:, None]
