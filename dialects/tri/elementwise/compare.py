"""Comparisons, and logic on their results."""

from typing import Any

import numpy as np

from ...core.tensor import Array, Tensor, broadcast, same_dtype
from ..numeric import need_number
from .base import Binary, BoolBinary


class Comparison(Binary, abstract=True):
    """Base of ops that compare numbers and make bools; every comparison with NaN is false."""

    @staticmethod
    def infer(a: Tensor, b: Tensor, **attributes: Any) -> Tensor:
        same_dtype(need_number(a), b)
        return Tensor(broadcast(a.shape, b.shape), "i1")


class Equal(Binary):
    """Say whether a == b; of numbers or of bools."""

    @staticmethod
    def infer(a: Tensor, b: Tensor, **attributes: Any) -> Tensor:
        same_dtype(a, b)
        return Tensor(broadcast(a.shape, b.shape), "i1")

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.equal(a, b)


class Less(Comparison):
    """Say whether a < b."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.less(a, b)


class Greater(Comparison):
    """Say whether a > b."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.greater(a, b)


class LessEqual(Comparison):
    """Say whether a <= b."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.less_equal(a, b)


class GreaterEqual(Comparison):
    """Say whether a >= b."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.greater_equal(a, b)


class And(BoolBinary):
    """Say whether both hold."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.logical_and(a, b)


class Or(BoolBinary):
    """Say whether either holds."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.logical_or(a, b)


class Xor(BoolBinary):
    """Say whether exactly one holds."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return np.logical_xor(a, b)
