"""Lowerings of ops that compute each element from the elements at its place."""

from ...dialects import tri
from .number import Number, math
from .target import elementwise


@elementwise(tri.Relu)
def lower_relu(op: tri.Relu, x: Number) -> Number:
    return x.maximum(0)


@elementwise(tri.Add)
def lower_add(op: tri.Add, a: Number, b: Number) -> Number:
    return a + b


@elementwise(tri.Sqrt)
def lower_sqrt(op: tri.Sqrt, x: Number) -> Number:
    return x.apply(math.sqrt)
