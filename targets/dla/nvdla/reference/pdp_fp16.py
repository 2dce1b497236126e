"""Pools of fp16: averages are sums in 17 bits times the reciprocals of the window's sizes."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ..format.operations import PdpOperation
from .floats import FP16, FP17, Bits, add, bits_of, float16_of, maximum, minimum, multiply, narrow
from .floats import widen as widened
from .pools import AVERAGE, MAXIMUM, Axis, axes

Join = Callable[[Bits, Bits], Bits]
_RECIPROCALS = (0x7C00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000)
"""1, 1/2, 1/3 ... in 17 bits, as the firmware writes them."""


def pool_fp16(image: npt.NDArray[np.generic], operation: PdpOperation) -> npt.NDArray[np.float16]:
    """Return the results [C, H', W'], float16, of a float16 image [C, H, W].

    Rows are reduced from left to right, then from top to bottom. Padding is 0 in an average, and
    has no part in a maximum or minimum.
    """
    rows, columns = axes(image.shape, operation)
    bits = bits_of(image)
    if operation.mode == AVERAGE:
        across = _reduced(widened(bits, FP16, FP17), columns, 2, _plus)
        total = _reduced(across, rows, 1, _plus_before)
        scaled = multiply(total, _reciprocal(total, operation.window_width), FP17)
        scaled = multiply(scaled, _reciprocal(total, operation.window_height), FP17)
        return float16_of(narrow(scaled, FP17, FP16))
    choose = maximum if operation.mode == MAXIMUM else minimum
    across = _reduced(bits, columns, 2, lambda first, new: choose(first, new, FP16))
    return float16_of(_reduced(across, rows, 1, lambda first, new: choose(new, first, FP16)))


def _plus(first: Bits, new: Bits) -> Bits:
    return add(first, new, FP17)


def _plus_before(first: Bits, new: Bits) -> Bits:
    return add(new, first, FP17)


def _reciprocal(like: Bits, window: int) -> Bits:
    return np.full_like(like, _RECIPROCALS[window])


def _reduced(values: Bits, axis: Axis, number: int, join: Join) -> Bits:
    """Reduce the elements of each window along an axis of [C, H, W]."""
    total: Bits | None = None
    seen = np.zeros(axis.outputs, bool)
    for place, inside in _steps(axis):
        new = np.take(values, np.clip(place, 0, axis.size - 1), number)
        if total is None:
            total = new
        shape = [1, 1, 1]
        shape[number] = axis.outputs
        has, more = seen.reshape(shape), inside.reshape(shape)
        total = np.where(more & has, join(total, new), np.where(more, new, total))
        seen |= inside
    assert total is not None, "a window has one element or more"
    return total


def _steps(axis: Axis) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]:
    """Yield the places of the windows' elements, and which of them are not padding."""
    for step in range(axis.window):
        place = axis.starts + step
        yield place, (place >= 0) & (place < axis.size)
