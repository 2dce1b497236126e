"""Comparisons, and logic on their results."""

import numpy as np

from ...core.tensor import Array, Tensor, broadcast, same_dtype
from ..numeric import need_number
from .base import Binary, BoolBinary


class Comparison(Binary, abstract=True):
    """Base of ops that compare numbers and make bools; every comparison with NaN is false."""

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        same_dtype(need_number(a), b)
        return Tensor(broadcast(a.shape, b.shape), "i1")


class Equal(Binary):
    """Say whether a == b; of numbers or of bools."""

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        same_dtype(a, b)
        return Tensor(broadcast(a.shape, b.shape), "i1")

    def reference(self, a: Array, b: Array) -> Array:
        return np.equal(a, b)


class Less(Comparison):
    """Say whether a < b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.less(a, b)


class Greater(Comparison):
    """Say whether a > b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.greater(a, b)


class LessEqual(Comparison):
    """Say whether a <= b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.less_equal(a, b)


class GreaterEqual(Comparison):
    """Say whether a >= b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.greater_equal(a, b)


class And(BoolBinary):
    """Say whether both hold."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.logical_and(a, b)


class Or(BoolBinary):
    """Say whether either holds."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.logical_or(a, b)


class Xor(BoolBinary):
    """Say whether exactly one holds."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.logical_xor(a, b)
