"""Lowerings of comparisons."""

from ...dialects import tri
from .number import Number
from .target import elementwise


@elementwise(tri.Equal)
def lower_equal(op: tri.Equal, a: Number, b: Number) -> Number:
    return a.equal(b)


@elementwise(tri.Less)
def lower_less(op: tri.Less, a: Number, b: Number) -> Number:
    return a.less(b)


@elementwise(tri.Greater)
def lower_greater(op: tri.Greater, a: Number, b: Number) -> Number:
    return a.greater(b)


@elementwise(tri.LessEqual)
def lower_less_equal(op: tri.LessEqual, a: Number, b: Number) -> Number:
    return a.less_equal(b)


@elementwise(tri.GreaterEqual)
def lower_greater_equal(op: tri.GreaterEqual, a: Number, b: Number) -> Number:
    return a.greater_equal(b)
