"""ONNX rules for reductions, searches and running sums along axes."""

from .....dialects import tri
from .....dialects.core.errors import Unsupported
from .....dialects.core.op import Op
from ..graph import OnnxGraph, exports, ints
from .elementwise import scalar

REDUCTIONS: dict[type[Op], str] = {
    tri.ReduceL1: "ReduceL1",
    tri.ReduceL2: "ReduceL2",
    tri.ReduceLogSum: "ReduceLogSum",
    tri.ReduceLogSumExp: "ReduceLogSumExp",
    tri.ReduceMax: "ReduceMax",
    tri.ReduceMean: "ReduceMean",
    tri.ReduceMin: "ReduceMin",
    tri.ReduceProd: "ReduceProd",
    tri.ReduceSum: "ReduceSum",
    tri.ReduceSumSquare: "ReduceSumSquare",
}
SAME_OF_ONE = (tri.ReduceMax, tri.ReduceMean, tri.ReduceMin, tri.ReduceProd, tri.ReduceSum)
"""Reductions that leave an element by itself as it is: over no axes they do nothing."""


@exports(*REDUCTIONS)
def reduce(op: tri.Reduction, graph: OnnxGraph) -> None:
    if not op.axes and not isinstance(op, SAME_OF_ONE):
        raise Unsupported("reduces no axes, where ONNX would compute nothing")
    if not op.axes:
        graph.add("Identity", [op.x], [op.y])
        return
    since = 20 if isinstance(op, (tri.ReduceMax, tri.ReduceMin)) else 18
    inputs = [op.x, ints(*op.axes)]
    graph.add(REDUCTIONS[type(op)], inputs, [op.y], since=since, keepdims=int(op.keepdims))


@exports(tri.ArgMax, tri.ArgMin)
def search(op: tri.ArgMax | tri.ArgMin, graph: OnnxGraph) -> None:
    name = "ArgMax" if isinstance(op, tri.ArgMax) else "ArgMin"
    last = int(op.select_last_index) or None
    keep = int(op.keepdims)
    graph.add(name, [op.x], [op.y], axis=op.axis, keepdims=keep, select_last_index=last)


@exports(tri.CumSum, tri.CumProd)
def accumulate(op: tri.CumSum | tri.CumProd, graph: OnnxGraph) -> None:
    name, since = ("CumSum", 14) if isinstance(op, tri.CumSum) else ("CumProd", 26)
    inputs = [op.x, scalar(op.axis, "i64")]
    exclusive, reverse = int(op.exclusive), int(op.reverse)
    graph.add(name, inputs, [op.y], since=since, exclusive=exclusive, reverse=reverse)


@exports(tri.TopK)
def top_k(op: tri.TopK, graph: OnnxGraph) -> None:
    order = {"largest": int(op.largest), "sorted": int(op.sorted)}
    graph.add("TopK", [op.x, graph.sizes.vector((op.k,))], list(op.results), axis=op.axis, **order)
