"""Short words for building ops at the insertion point, with numbers as operands."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.mlir import ir
from ..dialects.core.tensor import Shape, numpy_dtype

Operand = ir.Value | float


def number(value: float, like: ir.Value) -> ir.Value:
    """Build a constant of no axes, of the element type of another value."""
    return constant(value, tensor_of(like.type).dtype)


def constant(value: float | Sequence[float], dtype: str) -> ir.Value:
    """Build a constant of one number, or of a list of numbers; integers wrap around."""
    return tri.Constant.build(value=np.array(value).astype(numpy_dtype(dtype))).y


def shape_of(value: ir.Value) -> Shape:
    return tensor_of(value.type).shape


def _binary(cls: Any) -> Callable[[Operand, Operand], ir.Value]:
    def build(a: Operand, b: Operand) -> ir.Value:
        if not isinstance(a, ir.Value):
            assert isinstance(b, ir.Value)
            a = number(a, b)
        if not isinstance(b, ir.Value):
            b = number(b, a)
        return cls.build(a, b).y

    return build


def _unary(cls: Any) -> Callable[[ir.Value], ir.Value]:
    return lambda x: cls.build(x).y


def _reduction(cls: Any) -> Callable[[ir.Value, Sequence[int]], ir.Value]:
    def build(x: ir.Value, axes: Sequence[int]) -> ir.Value:
        return cls.build(x, axes=tuple(axes), keepdims=True).y

    return build


add, sub, mul, div = map(_binary, (tri.Add, tri.Sub, tri.Mul, tri.Div))
maximum, minimum = map(_binary, (tri.Maximum, tri.Minimum))
less, less_equal, greater = map(_binary, (tri.Less, tri.LessEqual, tri.Greater))
equal = _binary(tri.Equal)
exp, log, tanh, erf, sqrt = map(_unary, (tri.Exp, tri.Log, tri.Tanh, tri.Erf, tri.Sqrt))
neg, absolute, sigmoid = map(_unary, (tri.Neg, tri.Abs, tri.Sigmoid))
reduce_sum, reduce_mean, reduce_max = map(
    _reduction, (tri.ReduceSum, tri.ReduceMean, tri.ReduceMax)
)


def where(condition: ir.Value, a: Operand, b: Operand) -> ir.Value:
    if not isinstance(a, ir.Value):
        assert isinstance(b, ir.Value)
        a = number(a, b)
    if not isinstance(b, ir.Value):
        b = number(b, a)
    return tri.Where.build(condition, a, b).y


def reshape(x: ir.Value, *shape: int) -> ir.Value:
    return tri.Reshape.build(x, shape=shape).y


def transpose(x: ir.Value, *permutation: int) -> ir.Value:
    return tri.Transpose.build(x, permutation=permutation).y


def expand(x: ir.Value, *shape: int) -> ir.Value:
    return tri.Expand.build(x, shape=shape).y


def mat_mul(a: ir.Value, b: ir.Value) -> ir.Value:
    return tri.MatMul.build(a, b).y


def cast(x: ir.Value, dtype: str) -> ir.Value:
    """Build a cast, unless the element type is right already."""
    return x if tensor_of(x.type).dtype == dtype else tri.Cast.build(x, to=dtype).y


def scaled(rows: ir.Value, scales: ir.Value) -> ir.Value:
    """Return what rows of bytes stand for, given the scale of each row."""
    return mul(cast(rows, "f32"), reshape(scales, *shape_of(scales), 1))


def per_channel(x: ir.Value, rank: int) -> ir.Value:
    """Give a vector with one number per channel the axes to broadcast to [N, C, …]."""
    return reshape(x, *shape_of(x), *[1] * (rank - 2))
