"""ONNX rules for operators that read or write at indices."""

import math

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.tensor import dtype_of, is_integer, normalize_axis, numpy_dtype
from ...core.values import cast, constant, number, only, single, tensor
from ..registry import Node, Value, onnx_op


@onnx_op("Gather", since=1)
def gather(x: Value, indices: Value, *, axis: int = 0) -> tri.Gather:
    return tri.Gather.build(x, indices, axis=normalize_axis(axis, tensor(x).rank))


@onnx_op("GatherElements", since=11)
def gather_elements(x: Value, indices: Value, *, axis: int = 0) -> tri.GatherElements:
    return tri.GatherElements.build(x, indices, axis=normalize_axis(axis, tensor(x).rank))


@onnx_op("GatherND", since=11)
def gather_nd(x: Value, indices: Value, *, batch_dims: int = 0) -> tri.GatherNd:
    return tri.GatherNd.build(x, indices, batch_dims=batch_dims)


@onnx_op("Scatter", since=9)
@onnx_op("ScatterElements", since=11)
def scatter_elements(
    x: Value, indices: Value, updates: Value, *, axis: int = 0, reduction: str = "none"
) -> tri.ScatterElements:
    axis = normalize_axis(axis, tensor(x).rank)
    return tri.ScatterElements.build(x, indices, updates, axis=axis, reduction=reduction)


@onnx_op("ScatterND", since=11)
def scatter_nd(
    x: Value, indices: Value, updates: Value, *, reduction: str = "none"
) -> tri.ScatterNd:
    return tri.ScatterNd.build(x, indices, updates, reduction=reduction)


@onnx_op("OneHot", since=9)
def one_hot_9(
    indices: Value, depth: Value, values: Value, *, axis: int = -1, node: Node
) -> tri.OneHot:
    """Before version 11 no index counts from the end: let negative ones point past the end."""
    indices = _integers(indices)
    dtype = numpy_dtype(tensor(indices).dtype)
    negative = tri.Less.build(indices, constant(np.array(0, dtype))).y
    size = _depth(depth, node)
    known = not is_symbolic(size)
    past = constant(np.array(size, dtype)) if known else cast(number(size), dtype_of(dtype))
    indices = tri.Where.build(negative, past, indices).y
    return tri.OneHot.build(indices, values, depth=size, axis=axis)


@onnx_op("OneHot", since=11)
def one_hot(
    indices: Value, depth: Value, values: Value, *, axis: int = -1, node: Node
) -> tri.OneHot:
    size = _depth(depth, node)
    return tri.OneHot.build(_integers(indices), values, depth=size, axis=axis)


def _depth(depth: Value, node: Node) -> Size:
    known = node.evaluate(depth)
    if known is None:
        return only(node.found.compute(cast(depth, "i64")))
    given = float(single(known))
    if not math.isfinite(given):
        raise Invalid(f"has depth {given}, must be finite")
    return int(given)


def _integers(indices: Value) -> Value:
    integer = is_integer(tensor(indices).dtype)
    return indices if integer else tri.Cast.build(indices, to="i64").y


@onnx_op("TensorScatter", since=24)
def tensor_scatter(
    cache: Value,
    update: Value,
    write_indices: Value | None = None,
    *,
    mode: str = "linear",
    axis: int = -2,
) -> tri.TensorScatter:
    """Write each sample's update into the cache from its own index on, perhaps around the end."""
    if mode not in ("linear", "circular"):
        raise Invalid(f"has mode '{mode}', must be linear or circular")
    starts = write_indices
    if starts is None:
        zero = constant(np.array(0, np.int64))
        starts = tri.Expand.build(zero, shape=tensor(cache).shape[:1]).y
    return tri.TensorScatter.build(cache, update, starts, axis=axis, circular=mode == "circular")
