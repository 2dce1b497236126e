"""ONNX rules for reductions, searches and running sums along axes."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from .....dialects import tri
from .....dialects.core.tensor import normalize_axes, normalize_axis
from ...core.sizes.run_time_axes import along_axis, reduced
from ...core.values import only, tensor
from ..registry import Node, Value, onnx_op

REDUCTIONS: tuple[tuple[str, int, type[tri.Reduction]], ...] = (
    ("ReduceL1", 18, tri.ReduceL1),
    ("ReduceL2", 18, tri.ReduceL2),
    ("ReduceLogSum", 18, tri.ReduceLogSum),
    ("ReduceLogSumExp", 18, tri.ReduceLogSumExp),
    ("ReduceMax", 18, tri.ReduceMax),
    ("ReduceMean", 18, tri.ReduceMean),
    ("ReduceMin", 18, tri.ReduceMin),
    ("ReduceProd", 18, tri.ReduceProd),
    ("ReduceSum", 13, tri.ReduceSum),
    ("ReduceSumSquare", 18, tri.ReduceSumSquare),
)
"""ONNX's name, the version that made the axes an input, op."""


def _by_attribute(op: type[tri.Reduction]) -> Callable[..., tri.Reduction]:
    def rule(x: Value, *, axes: tuple[int, ...] = (), keepdims: int = 1) -> tri.Reduction:
        return _reduce(op, x, axes or range(tensor(x).rank), keepdims)

    return rule


def _by_input(op: type[tri.Reduction]) -> Callable[..., tri.Reduction | Value]:
    def rule(
        x: Value,
        axes: Value | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
        node: Node,
    ) -> tri.Reduction | Value:
        known = [] if axes is None else node.found.known(axes)
        every = range(tensor(x).rank)
        if axes is not None and None in known:
            if len(known) == len(every):
                return _reduce(op, x, every, keepdims)
            rows = partial(_rows, op)
            return reduced(x, axes, node.found, rows, keepdims=bool(keepdims))
        given = () if axes is None else node.sizes(axes, "input 'axes'")
        none = () if noop_with_empty_axes else every
        return _reduce(op, x, given or none, keepdims)

    return rule


def _reduce(
    op: type[tri.Reduction], x: Value, axes: tuple[int, ...] | range, keepdims: int
) -> tri.Reduction:
    return op.build(x, axes=normalize_axes(axes, tensor(x).rank), keepdims=bool(keepdims))


def _rows(op: type[tri.Reduction], x: Value) -> Value:
    return op.build(x, axes=(1,)).y


for _op_type, _since, _op in REDUCTIONS:
    onnx_op(_op_type, since=1)(_by_attribute(_op))
    onnx_op(_op_type, since=_since)(_by_input(_op))


@onnx_op("ArgMax", since=1)
def argmax(x: Value, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> tri.ArgMax:
    axis = normalize_axis(axis, tensor(x).rank)
    last = bool(select_last_index)
    return tri.ArgMax.build(x, axis=axis, keepdims=bool(keepdims), select_last_index=last)


@onnx_op("ArgMin", since=1)
def argmin(x: Value, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> tri.ArgMin:
    axis = normalize_axis(axis, tensor(x).rank)
    last = bool(select_last_index)
    return tri.ArgMin.build(x, axis=axis, keepdims=bool(keepdims), select_last_index=last)


@onnx_op("CumSum", since=11)
def cumsum(
    x: Value, axis: Value, *, exclusive: int = 0, reverse: int = 0, node: Node
) -> tri.CumSum | Value:
    return _scan(tri.CumSum, x, axis, bool(exclusive), bool(reverse), node)


@onnx_op("CumProd", since=26)
def cumprod(
    x: Value, axis: Value, *, exclusive: int = 0, reverse: int = 0, node: Node
) -> tri.CumProd | Value:
    return _scan(tri.CumProd, x, axis, bool(exclusive), bool(reverse), node)


Scan = TypeVar("Scan", tri.CumSum, tri.CumProd)


def _scan(
    op: type[Scan], x: Value, axis: Value, exclusive: bool, reverse: bool, node: Node
) -> Scan | Value:
    """Run along an axis; one that a run chooses is in the middle of three meanwhile."""

    def rows(x: Value) -> Value:
        return op.build(x, axis=1, exclusive=exclusive, reverse=reverse).y

    if node.found.known(axis) == [None]:
        return along_axis(x, axis, node.found, rows)
    along = normalize_axis(only(node.sizes(axis, "input 'axis'")), tensor(x).rank)
    return op.build(x, axis=along, exclusive=exclusive, reverse=reverse)


@onnx_op("TopK", since=1)
def top_k_attribute(x: Value, *, k: int, axis: int = -1) -> tri.TopK:
    return tri.TopK.build(x, k=k, axis=normalize_axis(axis, tensor(x).rank))


@onnx_op("TopK", since=10)
def top_k(
    x: Value, k: Value, *, axis: int = -1, largest: int = 1, sorted: int = 1, node: Node
) -> tri.TopK:
    axis = normalize_axis(axis, tensor(x).rank)
    count = only(node.found.compute(k, [tensor(x).shape[axis]] * tensor(k).size))
    return tri.TopK.build(x, k=count, axis=axis, largest=bool(largest), sorted=bool(sorted))
