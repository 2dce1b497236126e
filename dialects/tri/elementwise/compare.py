"""Comparisons, and logic on their results."""

import numpy as np

from ...core.tensor import Array, Tensor, broadcast, is_string, same_dtype
from ..numeric import need_number, need_wide
from .base import Binary, BoolBinary


class Comparison(Binary, abstract=True):
    """Base of ops that compare numbers and make bools; every comparison with NaN is false."""

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        same_dtype(need_number(a), b)
        return Tensor(broadcast(a.shape, b.shape), "i1")


class Equal(Binary):
    """Report whether a == b; of numbers, of bools, or of strings."""

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        same_dtype(a if is_string(a.dtype) else need_wide(a), b)
        return Tensor(broadcast(a.shape, b.shape), "i1")

    def reference(self, a: Array, b: Array) -> Array:
        return np.equal(a, b).astype(bool, copy=False)


class Less(Comparison):
    """Report whether a < b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.less(a, b)


class Greater(Comparison):
    """Report whether a > b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.greater(a, b)


class LessEqual(Comparison):
    """Report whether a <= b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.less_equal(a, b)


class GreaterEqual(Comparison):
    """Report whether a >= b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.greater_equal(a, b)


class And(BoolBinary):
    """Compute the logical and."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.logical_and(a, b)


class Or(BoolBinary):
    """Compute the logical or."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.logical_or(a, b)


class Xor(BoolBinary):
    """Compute the exclusive or."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.logical_xor(a, b)
