"""Rules for overloads that write into a tensor: by indices, by a mask, along a diagonal."""

import math
from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import broadcast, integer_range, is_float, numpy_dtype
from ....core.values import cast, constant, tensor
from ...expressions import apply
from ...promotion import as_type
from ...registry import Value, torch_op
from ...views import Ints, axis_of, expand, move, reshape
from ..indexing.index import flat, reduction_of, scatter_by, strided_places

REDUCTIONS = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}
"""Torch's reductions and ours."""


@torch_op("aten::scatter_reduce.two")
def scatter_reduce(
    self: Value, dim: int, index: Value, src: Value, reduce: str, *, include_self: bool = True
) -> Value:
    """Combine elements with what is written to their places; without `self`, that alone."""
    if reduce not in REDUCTIONS:
        raise Invalid(f"has reduction '{reduce}', must be one of {', '.join(REDUCTIONS)}")
    x = self if include_self else scatter_by(self, dim, index, _neutral(self, reduce), "none")
    y = scatter_by(x, dim, index, src, REDUCTIONS[reduce])
    return _divided(y, self, dim, index, include_self) if reduce == "mean" else y


def _neutral(x: Value, reduce: str) -> Any:
    """Return the number that does not change what a reduction makes of others."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    dtype = tensor(x).dtype
    if dtype == "i1":
        return reduce == "amin"
    least, greatest = (-math.inf, math.inf) if is_float(dtype) else integer_range(dtype)
    return least if reduce == "amax" else greatest


def _divided(total: Value, x: Value, dim: int, index: Value, include_self: bool) -> Value:
    """Divide sums by the number of their terms; integers are rounded down."""
    one = constant(np.ones((), numpy_dtype(tensor(x).dtype)))
    ones = expand(one, tensor(x).shape)
    first = ones if include_self else scatter_by(ones, dim, index, 0, "none")
    terms = scatter_by(first, dim, index, 1, "add")
    # Nothing was written where there is no term.
    terms = tri.Maximum.build(terms, one).y
    function = "div" if is_float(tensor(x).dtype) else "floor_divide"
    return apply(f"{function}(@0,@1)", total, terms)


@torch_op("aten::index_reduce")
def index_reduce(
    self: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    """Combine slices of an axis with those of the source, whose places are indices."""
    if not tensor(self).rank:
        line = (reshape(x, (1,)) for x in (self, index, source))
        x, at, src = line
        return reshape(index_reduce(x, 0, at, src, reduce, include_self=include_self), ())
    axis = axis_of(self, dim)
    aligned = reshape(index, (tensor(index).size, *[1] * (tensor(self).rank - 1 - axis)))
    places = expand(aligned, tensor(source).shape)
    return scatter_reduce(self, axis, places, source, reduce, include_self=include_self)


@torch_op("aten::put")
def put(self: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """Write to places in the order of all elements."""
    reduction = reduction_of("add" if accumulate else "none", tensor(self).dtype)
    operands = (flat(self), flat(index), flat(source))
    made = tri.ScatterElements.build(*operands, axis=0, reduction=reduction)
    return reshape(made.y, tensor(self).shape)


@torch_op("aten::masked_scatter")
def masked_scatter(self: Value, mask: Value, source: Value) -> Value:
    """Write the elements of the source in order to where the mask is true."""
    shape = broadcast(tensor(self).shape, tensor(mask).shape)
    x, chosen = expand(self, shape), expand(mask, shape)
    if not tensor(source).size:
        return x
    before = tri.CumSum.build(cast(flat(chosen), "i64"), axis=0, exclusive=True).y
    last = as_type(tensor(source).size - 1, "i64")
    taken = tri.Gather.build(flat(source), tri.Minimum.build(before, last).y, axis=0).y
    return tri.Where.build(chosen, reshape(taken, shape), x).y


@torch_op("aten::diagonal_scatter")
def diagonal_scatter(
    self: Value, src: Value, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    """Write over a diagonal of two axes; the last axis of the source is along it."""
    first, second = axis_of(self, dim1), axis_of(self, dim2)
    shape = tensor(self).shape
    down, right = max(-offset, 0), max(offset, 0)
    count = max(min(shape[first] - down, shape[second] - right), 0)
    if not count:
        return self
    places = constant(np.arange(count)[:, None] + np.array([down, right]))
    order = [first, second, *(a for a in range(len(shape)) if a not in (first, second))]
    front = tri.Transpose.build(self, permutation=tuple(order)).y
    updates = move(src, tensor(src).rank - 1, 0)
    made = tri.ScatterNd.build(front, places, updates).y
    back = tuple(order.index(axis) for axis in range(len(shape)))
    return tri.Transpose.build(made, permutation=back).y


@torch_op("aten::as_strided_scatter")
def as_strided_scatter(
    self: Value, src: Value, size: Ints, stride: Ints, storage_offset: int | None = None
) -> Value:
    """Write to places in memory, which is in row-major order."""
    places = strided_places(size, stride, storage_offset, tensor(self).size).reshape(-1)
    made = tri.ScatterElements.build(flat(self), constant(places), flat(src), axis=0)
    return reshape(made.y, tensor(self).shape)
