"""Lowerings of activation functions."""

from ...dialects import tri
from .number import Number
from .target import elementwise


@elementwise(tri.Relu)
def lower_relu(op: tri.Relu, x: Number) -> Number:
    return x.maximum(0)
