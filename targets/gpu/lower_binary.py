"""Lowerings of arithmetic of two tensors."""

from ...dialects import tri
from .number import Number
from .target import elementwise


@elementwise(tri.Add)
def lower_add(op: tri.Add, a: Number, b: Number) -> Number:
    return a + b


@elementwise(tri.Sub)
def lower_sub(op: tri.Sub, a: Number, b: Number) -> Number:
    return a - b


@elementwise(tri.Mul)
def lower_mul(op: tri.Mul, a: Number, b: Number) -> Number:
    return a * b
