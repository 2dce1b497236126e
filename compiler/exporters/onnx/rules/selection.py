"""ONNX rules for ops whose elements decide sizes."""

from .....dialects import tri
from ..graph import OnnxGraph, element_type, exports, ints


@exports(tri.NonZero)
def non_zero(op: tri.NonZero, graph: OnnxGraph) -> None:
    graph.add("NonZero", [op.x], [op.y])


@exports(tri.Compress)
def compress(op: tri.Compress, graph: OnnxGraph) -> None:
    graph.add("Compress", [op.x, op.condition], [op.y], axis=op.axis)


@exports(tri.Unique)
def unique(op: tri.Unique, graph: OnnxGraph) -> None:
    graph.add("Unique", [op.x], list(op.results), axis=op.axis, sorted=int(op.sorted))


@exports(tri.NonMaxSuppression)
def non_max_suppression(op: tri.NonMaxSuppression, graph: OnnxGraph) -> None:
    inputs = [op.boxes, op.scores, ints(op.limit), op.overlap, op.least]
    centered = int(op.centered) or None
    graph.add("NonMaxSuppression", inputs, [op.y], center_point_box=centered)


@exports(tri.DefineSizes)
def define_sizes(op: tri.DefineSizes, graph: OnnxGraph) -> None:
    """Write the numbers alone: limits hold for all that computes them."""
    graph.add("Cast", [op.x], [op.y], since=19, to=element_type("i64"))
