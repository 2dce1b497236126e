"""Rounding of floats to whole numbers."""

import numpy as np

from ...core.tensor import Array
from ..numeric import rounded
from .base import FloatUnary


class Floor(FloatUnary):
    """Round down to a whole number."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.floor(x)


class Ceil(FloatUnary):
    """Round up to a whole number."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.ceil(x)


class Round(FloatUnary):
    """Round to the nearest whole number, halves to the even one."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.rint(x)


class Trunc(FloatUnary):
    """Round toward zero to a whole number."""

    @rounded
    def reference(self, x: Array) -> Array:
        return np.trunc(x)
