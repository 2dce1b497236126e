"""PNNX rules for ops whose elements decide sizes."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from ..graph import PnnxGraph, exports


@exports(tri.Compress)
def compress(op: tri.Compress, graph: PnnxGraph) -> None:
    x, condition = tensor_of(op.x.type), tensor_of(op.condition.type)
    if x.shape != condition.shape:
        raise Unsupported(f"takes from {x} by {condition}, torch's masked_select from one shape")
    graph.add("torch.masked_select", {"input": op.x, "mask": op.condition}, [op.y])


@exports(tri.NonZero)
def non_zero(op: tri.NonZero, graph: PnnxGraph) -> None:
    """Write the indices as torch has them, a row for each element, and swap the axes."""
    indices = graph.between(op.y, tensor_of(op.y.type).shape[::-1], "rows")
    graph.add("torch.nonzero", {"input": op.x}, [indices])
    graph.add("torch.transpose", {"input": indices}, [op.y], dim0=0, dim1=1)
