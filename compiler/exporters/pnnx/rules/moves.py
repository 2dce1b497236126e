"""PNNX rules for ops that move elements: shapes, parts, and places that a tensor names."""

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Shape, numpy_dtype
from ....frontends.pnnx import Operand
from ..graph import PnnxGraph, exports

Ints = tuple[int, ...]


@exports(tri.Reshape)
def reshape(op: tri.Reshape, graph: PnnxGraph) -> None:
    graph.add("Tensor.reshape", {"input": op.x}, [op.y], shape=op.shape or None)


@exports(tri.Transpose)
def transpose(op: tri.Transpose, graph: PnnxGraph) -> None:
    graph.add("Tensor.permute", {"input": op.x}, [op.y], dims=op.permutation or None)


@exports(tri.Slice)
def slice_(op: tri.Slice, graph: PnnxGraph) -> None:
    """Turn axes around whose steps go backwards, since torch's steps go forwards."""
    shape = tensor_of(op.x.type).shape
    back = tuple(axis for axis, step in enumerate(op.steps) if step < 0 and op.sizes[axis])
    x: ir.Value | Operand = op.x
    starts = list(op.starts)
    if back:
        x = graph.between(op.x, shape, "turned")
        graph.add("torch.flip", {"input": op.x}, [x], dims=back)
        for axis in back:
            starts[axis] = shape[axis] - 1 - starts[axis]
    cut(graph, x, shape, op.y, tuple(starts), op.sizes, tuple(map(abs, op.steps)))


def cut(
    graph: PnnxGraph,
    x: ir.Value | Operand,
    shape: Shape,
    y: ir.Value | Operand,
    starts: Ints,
    sizes: Ints,
    steps: Ints | None = None,
) -> None:
    """Take a part of a tensor of some shape: so many elements of each axis, from a place on."""
    steps = steps or (1,) * len(sizes)
    parts = enumerate(zip(starts, sizes, steps, strict=True))
    cuts = [(axis, *part) for axis, part in parts if part != (0, shape[axis], 1)]
    if not cuts:
        graph.add("torch.clone", {"input": x}, [y])
        return
    ends = tuple(start + (size - 1) * step + 1 if size else start for _, start, size, step in cuts)
    if len(cuts) == 1:
        ((axis, start, _, step),) = cuts
        part = {"dim": axis, "start": start, "end": ends[0], "step": step}
        graph.add("Tensor.slice", {"input": x}, [y], **part)
        return
    graph.add(
        "Tensor.slice",
        {"input": x},
        [y],
        dims=tuple(axis for axis, *_ in cuts),
        starts=tuple(start for _, start, *_ in cuts),
        ends=ends,
        steps=tuple(step for *_, step in cuts),
        selects=(2**31 - 1,) * len(cuts),  # PNNX's word for none
    )


@exports(tri.Concat)
def concat(op: tri.Concat, graph: PnnxGraph) -> None:
    graph.add("torch.cat", list(op.xs), [op.y], dim=op.axis)


@exports(tri.Stack)
def stack(op: tri.Stack, graph: PnnxGraph) -> None:
    graph.add("torch.stack", list(op.xs), [op.y], dim=op.axis)


@exports(tri.Unbind)
def unbind(op: tri.Unbind, graph: PnnxGraph) -> None:
    graph.add("torch.unbind", {"input": op.x}, list(op.ys), dim=op.axis)


@exports(tri.Roll)
def roll(op: tri.Roll, graph: PnnxGraph) -> None:
    if not op.axes:
        graph.add("torch.clone", {"input": op.x}, [op.y])
        return
    graph.add("torch.roll", {"input": op.x}, [op.y], shifts=op.shifts, dims=op.axes)


@exports(tri.Split)
def split(op: tri.Split, graph: PnnxGraph) -> None:
    graph.add(
        "torch.split",
        {"tensor": op.x},
        list(op.ys),
        split_size_or_sections=op.sizes,
        dim=op.axis,
    )


@exports(tri.Expand)
def expand(op: tri.Expand, graph: PnnxGraph) -> None:
    graph.add("Tensor.expand", {"input": op.x}, [op.y], sizes=op.shape or None)


@exports(tri.Tile)
def tile(op: tri.Tile, graph: PnnxGraph) -> None:
    if not op.repeats:
        graph.add("torch.clone", {"input": op.x}, [op.y])
        return
    graph.add("torch.tile", {"input": op.x}, [op.y], dims=op.repeats)


MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@exports(tri.Pad)
def pad(op: tri.Pad, graph: PnnxGraph) -> None:
    rank = tensor_of(op.x.type).rank
    begins, ends = op.pads[:rank], op.pads[rank:]
    around = [n for b, e in zip(begins[::-1], ends[::-1], strict=True) for n in (b, e)]
    while around and not any(around[-2:]):
        del around[-2:]
    if not around:
        graph.add("torch.clone", {"input": op.x}, [op.y])
        return
    if op.mode != "constant":
        around += [0] * (2 * (rank - 2) - len(around))
        _need_mirror(op, around)
    fill = {"mode": MODES[op.mode], "value": op.value if op.mode == "constant" else None}
    graph.add("F.pad", {"input": op.x}, [op.y], pad=tuple(around), **fill)


def _need_mirror(op: tri.Pad, around: list[int]) -> None:
    """Check the conditions of torch for addends that come from the tensor itself."""
    shape, axes = tensor_of(op.x.type).shape, len(around) // 2
    if axes > 3 or len(shape) not in (axes + 1, axes + 2) or min(op.pads) < 0:
        raise Unsupported(f"pads {op.pads} in mode '{op.mode}', torch the last 1 to 3 axes")
    room = [size - (op.mode == "reflect") for size in shape]
    if op.mode != "edge" and any(n > r for n, r in zip(op.pads, (*room, *room), strict=True)):
        raise Unsupported(f"pads {op.pads} in mode '{op.mode}' to sizes {shape}, torch less")


@exports(tri.Trilu)
def trilu(op: tri.Trilu, graph: PnnxGraph) -> None:
    """Choose by a mask between the matrix and zero."""
    x = tensor_of(op.x.type)
    keep = np.ones(x.shape[-2:], np.bool_)
    keep = np.triu(keep, op.k) if op.upper else np.tril(keep, op.k)
    mask, zero = (
        graph.constant("triangle", keep),
        graph.constant("zero", np.zeros((), numpy_dtype(x.dtype))),
    )
    graph.add("torch.where", {"condition": mask, "input": op.x, "other": zero}, [op.y])


# -- places that a tensor names ---------------------------------------------------------------


@exports(tri.Gather)
def gather(op: tri.Gather, graph: PnnxGraph) -> None:
    """Write an embedding for rows of a table, otherwise a selection along one axis."""
    x, at = tensor_of(op.x.type), tensor_of(op.indices.type)
    axis = op.axis % x.rank
    known = graph.array(op.indices)
    if known is not None and not known.ndim:
        index = int(known.item())
        graph.add("Tensor.select", {"input": op.x}, [op.y], dim=axis, index=index)
        return
    indices = _places(op.indices, x.shape[axis], graph)
    if axis == 0 and x.rank == 2:
        graph.add("F.embedding", {"input": indices, "weight": op.x}, [op.y])
        return
    if at.rank == 1:
        graph.add("torch.index_select", {"input": op.x, "index": indices}, [op.y], dim=axis)
        return
    flat = graph.between(op.indices, (at.size,), "flat")
    graph.add("Tensor.reshape", {"input": indices}, [flat], shape=(at.size,))
    shape = (*x.shape[:axis], at.size, *x.shape[axis + 1 :])
    made = graph.between(op.x, shape, "rows")
    graph.add("torch.index_select", {"input": op.x, "index": flat}, [made], dim=axis)
    whole = tensor_of(op.y.type).shape or None
    graph.add("Tensor.reshape", {"input": made}, [op.y], shape=whole)


@exports(tri.GatherElements)
def gather_elements(op: tri.GatherElements, graph: PnnxGraph) -> None:
    axis = op.axis % tensor_of(op.x.type).rank
    index = _places(op.indices, tensor_of(op.x.type).shape[axis], graph)
    graph.add("torch.gather", {"input": op.x, "index": index}, [op.y], dim=axis)


@exports(tri.ScatterElements)
def scatter_elements(op: tri.ScatterElements, graph: PnnxGraph) -> None:
    if op.reduction not in ("none", "add"):
        raise Unsupported(f"combines by '{op.reduction}', which torch's scatters do not")
    axis = op.axis % tensor_of(op.x.type).rank
    index = _places(op.indices, tensor_of(op.x.type).shape[axis], graph)
    name = "torch.scatter" if op.reduction == "none" else "torch.scatter_add"
    inputs = {"input": op.x, "index": index, "src": op.updates}
    graph.add(name, inputs, [op.y], dim=axis)


def _places(indices: ir.Value, size: int, graph: PnnxGraph) -> ir.Value | Operand:
    """Make negative indices count from the beginning, since torch takes no others here."""
    known, tensor = graph.array(indices), tensor_of(indices.type)
    if known is not None and (not known.size or known.min() >= 0):
        return indices
    made = graph.between(indices, tensor.shape, "places")
    graph.add("pnnx.Expression", [indices], [made], expr=f"remainder(@0,{max(size, 1)})")
    return made
