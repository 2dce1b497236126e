"""Ops that compute each element from the elements at the same place, with broadcasting."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.tensor import Array, Tensor, broadcast, is_float, same_dtype
from .dialect import TriOp


class Unary(TriOp, abstract=True):
    """Base of ops that map each element of `x`, keeping its type."""

    x: Operand
    y: Result

    @staticmethod
    def infer(x: Tensor) -> Tensor:
        return x


class Binary(TriOp, abstract=True):
    """Base of ops on two tensors of one element type that broadcast to each other."""

    a: Operand
    b: Operand
    y: Result

    @staticmethod
    def infer(a: Tensor, b: Tensor) -> Tensor:
        return Tensor(broadcast(a.shape, b.shape), same_dtype(a, b))


class Relu(Unary):
    """Compute max(x, 0) of each element; NaN stays NaN."""

    @staticmethod
    def reference(x: Array) -> Array:
        return np.maximum(x, np.zeros((), x.dtype))


class Add(Binary):
    """Compute a + b; integers wrap around."""

    @staticmethod
    def reference(a: Array, b: Array) -> Array:
        return a + b


class Sqrt(Unary):
    """Compute the square root of each element; NaN below zero."""

    @staticmethod
    def infer(x: Tensor) -> Tensor:
        if not is_float(x.dtype):
            raise Invalid(f"element type is {x.dtype}, must be a float")
        return x

    @staticmethod
    def reference(x: Array) -> Array:
        return np.sqrt(x)
