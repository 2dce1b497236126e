"""ONNX rules for ops that move elements: shapes, parts, and places that a tensor names."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.limits import at_least
from ..graph import OnnxGraph, exports, ints
from .elementwise import as_i64, scalar

FAR = 1 << 62
"""An end that is beyond every axis."""


@exports(tri.Reshape)
def reshape(op: tri.Reshape, graph: OnnxGraph) -> None:
    graph.reshape(op.x, op.shape, op.y)


@exports(tri.Transpose)
def transpose(op: tri.Transpose, graph: OnnxGraph) -> None:
    graph.add("Transpose", [op.x], [op.y], perm=op.permutation or None)


@exports(tri.Slice)
def slice_(op: tri.Slice, graph: OnnxGraph) -> None:
    whole = tensor_of(op.x.type).shape
    parts = list(zip(op.starts, op.sizes, op.steps, strict=True))
    axes = [axis for axis, part in enumerate(parts) if part != (0, whole[axis], 1)]
    if not axes:
        graph.add("Identity", [op.x], [op.y])
        return
    starts, ends, steps = [0] * len(axes), [0] * len(axes), [1] * len(axes)
    for index, axis in enumerate(axes):
        start, size, step = parts[axis]
        if size != 0:
            starts[index], ends[index], steps[index] = start, _end(*parts[axis], whole[axis]), step
    places = [graph.sizes.vector(each) for each in (starts, ends)]
    graph.add("Slice", [op.x, *places, ints(*axes), ints(*steps)], [op.y])


def _end(start: Size, size: Size, step: int, whole: Size) -> Size:
    """Return the end of a part of an axis, as ONNX takes it."""
    if not any(map(is_symbolic, (start, size, whole))):
        end = start + (size - 1) * step + (1 if step > 0 else -1)
        return end if end >= 0 else -FAR
    if step > 0:
        return start + size * step
    if step < -1 and not at_least(size, 1):
        raise Unsupported(f"takes {size} elements backwards, which ONNX must know to be some")
    return start + (size - 1) * step - 1 - whole  # from the end of the axis: it may be before 0


@exports(tri.Concat)
def concat(op: tri.Concat, graph: OnnxGraph) -> None:
    graph.add("Concat", list(op.xs), [op.y], axis=op.axis)


@exports(tri.Split)
def split(op: tri.Split, graph: OnnxGraph) -> None:
    graph.add("Split", [op.x, graph.sizes.vector(op.sizes)], list(op.ys), axis=op.axis)


@exports(tri.Expand)
def expand(op: tri.Expand, graph: OnnxGraph) -> None:
    graph.add("Expand", [op.x, graph.sizes.vector(op.shape)], [op.y])


@exports(tri.Tile)
def tile(op: tri.Tile, graph: OnnxGraph) -> None:
    graph.add("Tile", [op.x, graph.sizes.vector(op.repeats)], [op.y])


@exports(tri.Trilu)
def trilu(op: tri.Trilu, graph: OnnxGraph) -> None:
    graph.add("Trilu", [op.x, graph.sizes.scalar(op.k)], [op.y], upper=int(op.upper))


@exports(tri.Pad)
def pad(op: tri.Pad, graph: OnnxGraph) -> None:
    value = scalar(op.value, tensor_of(op.x.type).dtype) if op.value else None
    graph.add("Pad", [op.x, graph.sizes.vector(op.pads), value], [op.y], since=19, mode=op.mode)


@exports(tri.Gather)
def gather(op: tri.Gather, graph: OnnxGraph) -> None:
    graph.add("Gather", [op.x, op.indices], [op.y], axis=op.axis)


@exports(tri.GatherElements)
def gather_elements(op: tri.GatherElements, graph: OnnxGraph) -> None:
    graph.add("GatherElements", [op.x, op.indices], [op.y], axis=op.axis)


@exports(tri.GatherNd)
def gather_nd(op: tri.GatherNd, graph: OnnxGraph) -> None:
    graph.add("GatherND", [op.x, op.indices], [op.y], batch_dims=op.batch_dims)


@exports(tri.ScatterElements)
def scatter_elements(op: tri.ScatterElements, graph: OnnxGraph) -> None:
    inputs = [op.x, op.indices, op.updates]
    graph.add("ScatterElements", inputs, [op.y], axis=op.axis, reduction=op.reduction)


@exports(tri.ScatterNd)
def scatter_nd(op: tri.ScatterNd, graph: OnnxGraph) -> None:
    graph.add("ScatterND", [op.x, op.indices, op.updates], [op.y], reduction=op.reduction)


@exports(tri.TensorScatter)
def tensor_scatter(op: tri.TensorScatter, graph: OnnxGraph) -> None:
    if op.counts is not None:
        raise Unsupported("has counts, which ONNX does not take")
    inputs = [op.x, op.updates, as_i64(op.starts, graph)]
    mode = "circular" if op.circular else "linear"
    graph.add("TensorScatter", inputs, [op.y], since=24, axis=op.axis, mode=mode)


@exports(tri.OneHot)
def one_hot(op: tri.OneHot, graph: OnnxGraph) -> None:
    if not at_least(op.depth, 1) or not tensor_of(op.indices.type).rank:
        raise Unsupported("has depth 0, or indices without an axis, which ONNX does not take")
    graph.add("OneHot", [op.indices, graph.sizes.scalar(op.depth), op.values], [op.y], axis=op.axis)


@exports(tri.ReverseSequence)
def reverse_sequence(op: tri.ReverseSequence, graph: OnnxGraph) -> None:
    axes = {"batch_axis": op.batch_axis, "time_axis": op.time_axis}
    graph.add("ReverseSequence", [op.x, as_i64(op.sequence_lens, graph)], [op.y], **axes)


@exports(tri.DepthToSpace)
def depth_to_space(op: tri.DepthToSpace, graph: OnnxGraph) -> None:
    graph.add("DepthToSpace", [op.x], [op.y], blocksize=op.blocksize, mode=op.mode)


@exports(tri.SpaceToDepth)
def space_to_depth(op: tri.SpaceToDepth, graph: OnnxGraph) -> None:
    graph.add("SpaceToDepth", [op.x], [op.y], blocksize=op.blocksize)


@exports(tri.Sizes)
def sizes(op: tri.Sizes, graph: OnnxGraph) -> None:
    values = graph.sizes.vector(op.values)
    if len(op.shape) == 1:
        graph.add("Identity", [values], [op.y])
    else:
        graph.reshape(values, op.shape, op.y)


@exports(tri.Iota)
def iota(op: tri.Iota, graph: OnnxGraph) -> None:
    ends = scalar(0, "i64"), graph.sizes.scalar(op.size), scalar(1, "i64")
    graph.add("Range", ends, [op.y])
