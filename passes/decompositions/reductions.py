"""Reductions in terms of sums, maxima and elementwise functions; floats only."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import is_float
from ...dialects.tri.reduction.reduce import Reduction
from ..building import absolute, add, exp, log, mul, reduce_max, reshape, shape_of, sqrt, sub, where
from ..rewriting import NoMatch
from .norms import narrowed, widened
from .registry import decomposes


@decomposes(tri.ReduceL1)
def reduce_l1(op: tri.ReduceL1) -> ir.Value:
    return narrowed(_sum(absolute(_floats(op)), op), op.y)


@decomposes(tri.ReduceL2)
def reduce_l2(op: tri.ReduceL2) -> ir.Value:
    x = _floats(op)
    return narrowed(sqrt(_sum(mul(x, x), op)), op.y)


@decomposes(tri.ReduceSumSquare)
def reduce_sum_square(op: tri.ReduceSumSquare) -> ir.Value:
    x = _floats(op)
    return narrowed(_sum(mul(x, x), op), op.y)


@decomposes(tri.ReduceLogSum)
def reduce_log_sum(op: tri.ReduceLogSum) -> ir.Value:
    return narrowed(log(_sum(_floats(op), op)), op.y)


@decomposes(tri.ReduceLogSumExp)
def reduce_log_sum_exp(op: tri.ReduceLogSumExp) -> ir.Value:
    x = _floats(op)
    top = reduce_max(x, op.axes)
    # Infinity minus infinity is NaN: shift by zero there.
    top = where(tri.IsInf.build(top).y, 0, top)
    total = _sum(exp(sub(x, top)), op)
    return narrowed(add(log(total), reshape(top, *shape_of(total))), op.y)


def _floats(op: Reduction) -> ir.Value:
    if not is_float(tensor_of(op.x.type).dtype):
        raise NoMatch("reduces integers, in which squares and logarithms lose their fraction")
    return widened(op.x)


def _sum(x: ir.Value, op: Reduction) -> ir.Value:
    return tri.ReduceSum.build(x, axes=op.axes, keepdims=op.keepdims).y
