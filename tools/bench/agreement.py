"""Report how far the outputs of one runtime are from those of another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outputs = Sequence[NDArray[Any]]


def error(outputs: Outputs, expected: Outputs) -> float:
    """Return the largest difference relative to the largest number of its output.

    Infinite where numbers or shapes of outputs differ, or where only one side is not finite.
    """
    if len(outputs) != len(expected):
        return np.inf
    return max(map(_error, outputs, expected), default=0.0)


def _error(y: NDArray[Any], expected: NDArray[Any]) -> float:
    if y.shape != expected.shape:
        return np.inf
    wide, wanted = y.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(wanted)
    if not np.array_equal(wide[~finite], wanted[~finite], equal_nan=True):
        return np.inf
    wide, wanted = wide[finite], wanted[finite]
    if not wanted.size:
        return 0.0
    if not np.isfinite(wide).all():
        return np.inf
    difference, largest = np.abs(wide - wanted).max(), np.abs(wanted).max()
    return float(difference / largest if largest else difference)
