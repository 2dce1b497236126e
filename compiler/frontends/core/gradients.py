"""Gradients of values by others: reverse accumulation over ops of `tri`.

Each op that has one is in a table, with what a gradient of its result is for its operands. Source:
A. Griewank and A. Walther, "Evaluating Derivatives", 2008, chapter 3.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from typing import cast as cast_type

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view
from ....dialects.core.tensor import DTYPES, Tensor, numpy_dtype
from .values import cast, constant, filled, number, tensor

Value = ir.Value
Adjoint = Callable[[Any, Value], tuple[Value | None, ...]]
"""Returns the gradient of each operand of an op, given that of its result; None for none."""

ADJOINTS: dict[type[Op], Adjoint] = {}


def adjoint(kind: type[Op]) -> Callable[[Adjoint], Adjoint]:
    """Register the decorated function as the adjoint of an op."""

    def register(function: Adjoint) -> Adjoint:
        ADJOINTS[kind] = function
        return function

    return register


def gradients(y: Value, xs: Sequence[Value]) -> list[Value]:
    """Return the gradient of the sum of `y` by each of `xs`, zeros where it does not depend on one.

    Raises Unsupported for ops that have no adjoint here.
    """
    found: dict[Value, Value] = {y: _all(1, tensor(y))}
    for op in reversed(_between(y, xs)):
        (result,) = op.results
        if (given := found.get(result)) is None:
            continue
        operands = list(op.operation.operands)
        for operand, part in zip(operands, ADJOINTS[type(op)](op, given), strict=True):
            if part is not None:
                more = _summed(part, tensor(operand))
                found[operand] = tri.Add.build(found[operand], more).y if operand in found else more
    return [found[x] if x in found else _all(0, tensor(x)) for x in xs]


def recomputed(y: Value, given: Mapping[Value, Value]) -> Value:
    """Return what `y` is where other values are in the place of some that it depends on."""
    values = dict(given)
    for op in _between(y, [*given]):
        operands = [_replaced(group, values) for group in op.operand_groups()]
        made = type(op).build(*operands, **op.attributes)
        values.update(zip(op.results, made.results, strict=True))
    return values.get(y, y)


def _replaced(group: Any, values: Mapping[Value, Value]) -> Any:
    if isinstance(group, list):
        return [_replaced(each, values) for each in cast_type("list[Any]", group)]
    return values.get(group, group)


def _between(y: Value, xs: Sequence[Value]) -> list[Op]:
    """List the ops by which `y` depends on `xs`, each after those that it depends on."""
    needed: dict[Value, bool] = dict.fromkeys(xs, True)
    listed: list[Op] = []

    def depends(value: Value) -> bool:
        if value not in needed:
            op = view(value.owner) if isinstance(value, ir.OpResult) else None
            operands = [] if op is None else [each for each in op.operation.operands if each]
            needed[value] = any([depends(each) for each in operands])
            if op is not None and needed[value]:
                if type(op) not in ADJOINTS:
                    raise Unsupported(f"needs the gradient of '{op.op_name}', which is not there")
                listed.append(op)
        return needed[value]

    depends(y)
    return listed


def _all(value: int, like: Tensor) -> Value:
    made = filled(like.shape, np.array(value, numpy_dtype(like.dtype)))
    return made.results[0] if isinstance(made, Op) else constant(made)


def _summed(x: Value, like: Tensor) -> Value:
    """Sum over the axes along which an operand was repeated."""
    shape = tensor(x).shape
    more = len(shape) - like.rank
    kept = zip(shape[more:], like.shape, strict=True)
    repeated = [more + i for i, (size, own) in enumerate(kept) if size != own]
    axes = (*range(more), *repeated)
    if axes:
        x = tri.ReduceSum.build(x, axes=axes, keepdims=True).y
    return tri.Reshape.build(x, shape=like.shape).y if more else x


# -- elementwise ----------------------------------------------------------------------------------


def _real(value: float, like: Value) -> Value:
    return constant(np.array(value, numpy_dtype(tensor(like).dtype)))


def _times(a: Value, *others: Value) -> Value:
    for b in others:
        a = tri.Mul.build(a, b).y
    return a


def _negative(x: Value) -> Value:
    return tri.Neg.build(x).y


@adjoint(tri.Add)
def _add(op: tri.Add, dy: Value) -> tuple[Value, Value]:
    return dy, dy


@adjoint(tri.Sub)
def _sub(op: tri.Sub, dy: Value) -> tuple[Value, Value]:
    return dy, _negative(dy)


@adjoint(tri.Mul)
def _mul(op: tri.Mul, dy: Value) -> tuple[Value, Value]:
    return _times(dy, op.b), _times(dy, op.a)


@adjoint(tri.Div)
def _div(op: tri.Div, dy: Value) -> tuple[Value, Value]:
    part = tri.Div.build(dy, op.b).y
    return part, _negative(_times(part, op.y))


@adjoint(tri.Pow)
def _pow(op: tri.Pow, dy: Value) -> tuple[Value, Value]:
    less = tri.Sub.build(op.b, _real(1, op.b)).y
    base = _times(dy, cast(op.b, tensor(op.a).dtype), tri.Pow.build(op.a, less).y)
    exponent = cast(_times(dy, op.y, tri.Log.build(op.a).y), tensor(op.b).dtype)
    return base, exponent


@adjoint(tri.Where)
def _where(op: tri.Where, dy: Value) -> tuple[None, Value, Value]:
    zero = _real(0, dy)
    chosen = tri.Where.build(op.condition, dy, zero).y
    return None, chosen, tri.Where.build(op.condition, zero, dy).y


def _chosen(op: Any, dy: Value, chooses: type[tri.GreaterEqual] | type[tri.LessEqual]) -> Any:
    zero, first = _real(0, dy), chooses.build(op.a, op.b).y
    return tri.Where.build(first, dy, zero).y, tri.Where.build(first, zero, dy).y


@adjoint(tri.Maximum)
def _maximum(op: tri.Maximum, dy: Value) -> tuple[Value, Value]:
    return _chosen(op, dy, tri.GreaterEqual)


@adjoint(tri.Minimum)
def _minimum(op: tri.Minimum, dy: Value) -> tuple[Value, Value]:
    return _chosen(op, dy, tri.LessEqual)


def _slope(kind: type[Op], slope: Callable[[Any], Value]) -> None:
    """Register the adjoint of an op of one operand, given its derivative."""
    ADJOINTS[kind] = lambda op, dy: (_times(dy, slope(op)),)


def _one_less(x: Value) -> Value:
    return tri.Sub.build(_real(1, x), x).y


_slope(tri.Neg, lambda op: _real(-1, op.x))
_slope(tri.Exp, lambda op: op.y)
_slope(tri.Log, lambda op: tri.Reciprocal.build(op.x).y)
_slope(tri.Sqrt, lambda op: tri.Div.build(_real(0.5, op.x), op.y).y)
_slope(tri.Reciprocal, lambda op: _negative(_times(op.y, op.y)))
_slope(tri.Sin, lambda op: tri.Cos.build(op.x).y)
_slope(tri.Cos, lambda op: _negative(tri.Sin.build(op.x).y))
_slope(tri.Tanh, lambda op: _one_less(_times(op.y, op.y)))
_slope(tri.Sigmoid, lambda op: _times(op.y, _one_less(op.y)))
_slope(tri.Softplus, lambda op: tri.Sigmoid.build(op.x).y)
_slope(tri.Abs, lambda op: tri.Sign.build(op.x).y)
_slope(tri.Relu, lambda op: cast(tri.Greater.build(op.x, _real(0, op.x)).y, tensor(op.x).dtype))
_slope(
    tri.Erf,
    lambda op: _times(
        _real(2 / math.sqrt(math.pi), op.x), tri.Exp.build(_negative(_times(op.x, op.x))).y
    ),
)


@adjoint(tri.Cast)
def _cast(op: tri.Cast, dy: Value) -> tuple[Value | None]:
    has = DTYPES[tensor(op.x).dtype].kind == "float" == DTYPES[op.to].kind
    return (cast(dy, tensor(op.x).dtype) if has else None,)


# -- products, sums and shapes --------------------------------------------------------------------


@adjoint(tri.MatMul)
def _mat_mul(op: tri.MatMul, dy: Value) -> tuple[Value, Value]:
    if min(tensor(op.a).rank, tensor(op.b).rank) < 2:
        raise Unsupported("needs the gradient of a product of vectors, which is not there")
    return tri.MatMul.build(dy, _swapped(op.b)).y, tri.MatMul.build(_swapped(op.a), dy).y


def _swapped(x: Value) -> Value:
    axes = [*range(tensor(x).rank)]
    axes[-2:] = axes[:-3:-1]
    return tri.Transpose.build(x, permutation=tuple(axes)).y


@adjoint(tri.ReduceSum)
def _reduce_sum(op: tri.ReduceSum, dy: Value) -> tuple[Value]:
    x = tensor(op.x)
    kept = tuple(1 if axis in op.axes else size for axis, size in enumerate(x.shape))
    return (tri.Expand.build(tri.Reshape.build(dy, shape=kept).y, shape=x.shape).y,)


@adjoint(tri.ReduceMean)
def _reduce_mean(op: tri.ReduceMean, dy: Value) -> tuple[Value]:
    x = tensor(op.x)
    count = Tensor(tuple(x.shape[axis] for axis in op.axes), x.dtype).size
    kept = tuple(1 if axis in op.axes else size for axis, size in enumerate(x.shape))
    spread = tri.Expand.build(tri.Reshape.build(dy, shape=kept).y, shape=x.shape).y
    return (tri.Div.build(spread, cast(number(count), x.dtype)).y,)


@adjoint(tri.Softmax)
def _softmax(op: tri.Softmax, dy: Value) -> tuple[Value]:
    part = _times(dy, op.y)
    total = tri.ReduceSum.build(part, axes=(op.axis % tensor(op.x).rank,), keepdims=True).y
    return (tri.Sub.build(part, _times(op.y, total)).y,)


@adjoint(tri.LogSoftmax)
def _log_softmax(op: tri.LogSoftmax, dy: Value) -> tuple[Value]:
    total = tri.ReduceSum.build(dy, axes=(op.axis % tensor(op.x).rank,), keepdims=True).y
    return (tri.Sub.build(dy, _times(tri.Exp.build(op.y).y, total)).y,)


@adjoint(tri.Reshape)
def _reshape(op: tri.Reshape, dy: Value) -> tuple[Value]:
    return (tri.Reshape.build(dy, shape=tensor(op.x).shape).y,)


@adjoint(tri.Expand)
def _expand(op: tri.Expand, dy: Value) -> tuple[Value]:
    return (dy,)


@adjoint(tri.Transpose)
def _transpose(op: tri.Transpose, dy: Value) -> tuple[Value]:
    order = np.argsort(op.permutation)
    return (tri.Transpose.build(dy, permutation=tuple(map(int, order))).y,)


@adjoint(tri.Concat)
def _concat(op: tri.Concat, dy: Value) -> tuple[Value, ...]:
    sizes = tuple(tensor(x).shape[op.axis] for x in op.xs)
    return tuple(tri.Split.build(dy, axis=op.axis, sizes=sizes).ys)
