"""PNNX rules for reductions, searches and running sums along axes."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.op import Op
from .....dialects.core.tensor import is_float
from ..graph import PnnxGraph, exports

REDUCTIONS: dict[type[Op], str] = {
    tri.ReduceLogSumExp: "torch.logsumexp",
    tri.ReduceMax: "torch.amax",
    tri.ReduceMean: "torch.mean",
    tri.ReduceMin: "torch.amin",
    tri.ReduceSum: "torch.sum",
}
OF_ANY = (tri.ReduceMax, tri.ReduceMin)
"""Reductions that torch leaves in their element type, integers included."""


@exports(*REDUCTIONS)
def reduce(op: tri.Reduction, graph: PnnxGraph) -> None:
    _need_axes(op)
    name = REDUCTIONS[type(op)]
    graph.add(name, {"input": op.x}, [op.y], dim=op.axes, keepdim=op.keepdims)


@exports(tri.ReduceL1, tri.ReduceL2)
def norm(op: tri.ReduceL1 | tri.ReduceL2, graph: PnnxGraph) -> None:
    _need_axes(op)
    p = 1 if isinstance(op, tri.ReduceL1) else 2
    graph.add("torch.norm", {"input": op.x}, [op.y], p=p, dim=op.axes, keepdim=op.keepdims)


@exports(tri.ReduceSumSquare)
def sum_square(op: tri.ReduceSumSquare, graph: PnnxGraph) -> None:
    _need_axes(op)
    if tensor_of(op.x.type).dtype not in ("f64", "f32", "i64"):
        raise Unsupported("squares half types, which torch rounds before it adds them")
    squares = graph.between(op.x, tensor_of(op.x.type).shape, "squares")
    graph.add("pnnx.Expression", [op.x], [squares], expr="square(@0)")
    graph.add("torch.sum", {"input": squares}, [op.y], dim=op.axes, keepdim=op.keepdims)


@exports(tri.ReduceLogSum)
def log_sum(op: tri.ReduceLogSum, graph: PnnxGraph) -> None:
    _need_axes(op)
    total = graph.between(op.x, tensor_of(op.y.type).shape, "sum")
    graph.add("torch.sum", {"input": op.x}, [total], dim=op.axes, keepdim=op.keepdims)
    graph.add("pnnx.Expression", [total], [op.y], expr="log(@0)")


@exports(tri.ReduceProd)
def prod(op: tri.ReduceProd, graph: PnnxGraph) -> None:
    _need_axes(op)
    if len(op.axes) != 1:
        raise Unsupported(f"multiplies along axes {op.axes}, torch's prod along one")
    graph.add("torch.prod", {"input": op.x}, [op.y], dim=op.axes[0], keepdim=op.keepdims)


def _need_axes(op: tri.Reduction) -> None:
    """Check that torch reduces the same axes to the same type."""
    dtype = tensor_of(op.x.type).dtype
    sizes = [tensor_of(op.x.type).shape[axis] for axis in op.axes]
    if isinstance(op, OF_ANY) and 0 in sizes:
        raise Unsupported("looks for the greatest or least of nothing, which torch does not")
    if not op.axes:
        raise Unsupported("reduces no axes, where torch reduces all")
    if not isinstance(op, OF_ANY) and not is_float(dtype) and dtype != "i64":
        raise Unsupported(f"reduces {dtype}, which torch makes i64 or floats of")
    if not isinstance(op, (*OF_ANY, tri.ReduceSum, tri.ReduceProd)) and not is_float(dtype):
        raise Unsupported(f"reduces {dtype}, which torch makes floats of")


@exports(tri.ArgMax, tri.ArgMin)
def search(op: tri.ArgMax | tri.ArgMin, graph: PnnxGraph) -> None:
    if op.select_last_index:
        raise Unsupported("looks for the last of equal elements, torch for the first")
    name = "torch.argmax" if isinstance(op, tri.ArgMax) else "torch.argmin"
    graph.add(name, {"input": op.x}, [op.y], dim=op.axis, keepdim=op.keepdims)


@exports(tri.CumSum, tri.CumProd)
def accumulate(op: tri.CumSum | tri.CumProd, graph: PnnxGraph) -> None:
    x = tensor_of(op.x.type)
    if op.exclusive or not (is_float(x.dtype) or x.dtype == "i64"):
        raise Unsupported(f"is exclusive or of {x.dtype}, torch's is neither")
    name = "torch.cumsum" if isinstance(op, tri.CumSum) else "torch.cumprod"
    if not op.reverse:
        graph.add(name, {"input": op.x}, [op.y], dim=op.axis)
        return
    turned, made = (graph.between(op.x, x.shape, hint) for hint in ("turned", "summed"))
    graph.add("torch.flip", {"input": op.x}, [turned], dims=(op.axis,))
    graph.add(name, {"input": turned}, [made], dim=op.axis)
    graph.add("torch.flip", {"input": made}, [op.y], dims=(op.axis,))


@exports(tri.TopK)
def top_k(op: tri.TopK, graph: PnnxGraph) -> None:
    order = {"largest": op.largest, "sorted": op.sorted}
    graph.add("torch.topk", {"input": op.x}, list(op.results), k=op.k, dim=op.axis, **order)
