"""Rules for indexing by several tensors at once, as numpy and torch do it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.attributes import tensor_of
from ......dialects.core.errors import Invalid
from ......dialects.core.mlir import ir
from ......dialects.core.tensor import Array, Shape, broadcast
from ....core.main_function import MainFunction
from ....core.values import cast as to_type
from ....core.values import constant, constant_of, tensor
from ...node import Weight
from ...promotion import Operand, as_type
from ...registry import Complex, Value, torch_op
from ...views import expand, gather, rank_of, reshape, shape_of, transpose
from .found import true_places
from .index import reduction_of

Tensor = Value | Complex
Indices = dict[int, Value]
"""The indices of each axis that has some: integers, which broadcast with one another."""


def index_by(input: Tensor, indices: Sequence[Any], main: MainFunction) -> Tensor:
    """Take elements by indices: for each axis a list of numbers, a tensor, or None for all."""
    return _taken(input, _by_axis(indices, rank_of(input), main))


def numbers_of(given: Any) -> Array:
    """Return indices as an array; no index at all is one of integers, too."""
    try:
        array = np.array(given)
    except ValueError:
        raise Invalid(f"has indices {given}, which are no array") from None
    if array.dtype.kind not in "biu" and array.size:
        raise Invalid(f"has indices {given}, must be integers or bools")
    return array if array.dtype.kind == "b" else array.astype(np.int64)


def _by_axis(listed: Sequence[Any], rank: int, main: MainFunction) -> Indices:
    """Give each axis its indices; a mask of several axes gives as many."""
    found: Indices = {}
    axis = 0
    for each in listed:
        if each is None:
            axis += 1
            continue
        for places in _places(each, main):
            found[axis] = places
            axis += 1
    if axis > rank:
        raise Invalid(f"has indices for {axis} axes, input has {rank}")
    if not found:
        raise Invalid("has no indices")
    return found


def _places(given: Any, main: MainFunction) -> list[Value]:
    """Return indices of one axis, or, where a mask is true, of as many axes as it has."""
    if isinstance(given, Weight):
        given = given.array()
    array = constant_of(given) if isinstance(given, ir.Value) else numbers_of(given)
    if isinstance(given, ir.Value) and tensor_of(given.type).dtype == "i1" and array is None:
        return list(tri.Unbind.build(true_places(given, main), axis=0).results)
    if array is not None and array.dtype.kind == "b":
        if not array.ndim:
            raise Invalid("has one bool as a mask, must have one for each element of an axis")
        return [constant(places.astype(np.int64)) for places in np.nonzero(array)]
    if array is not None:
        return [constant(numbers_of(array))]
    return [to_type(given, "i64")]


def _together(indices: Indices) -> tuple[Value, Shape]:
    """Return the indices of all axes as tuples, in a last axis, and their shape without it."""
    shape = broadcast(*(tensor(x).shape for x in indices.values()))
    known = [constant_of(indices[axis]) for axis in sorted(indices)]
    arrays = [np.broadcast_to(array, shape) for array in known if array is not None]
    if len(arrays) == len(known):
        return constant(np.stack(arrays, axis=-1)), shape
    columns = [reshape(expand(indices[axis], shape), (*shape, 1)) for axis in sorted(indices)]
    if len(columns) == 1:
        return columns[0], shape
    return tri.Concat.build(columns, axis=len(shape)).y, shape


def _in_front(indices: Indices, rank: int) -> list[int]:
    """Return the order of axes in which those that are indexed are the first."""
    axes = sorted(indices)
    return [*axes, *(axis for axis in range(rank) if axis not in indices)]


def _taken(x: Tensor, indices: Indices) -> Tensor:
    axes = sorted(indices)
    if len(axes) == 1:
        return gather(x, indices[axes[0]], axes[0])
    tuples, shape = _together(indices)
    front = transpose(x, _in_front(indices, rank_of(x)))
    rest = shape_of(front)[len(axes) :]
    if isinstance(front, Complex):
        taken: Tensor = Complex(tri.GatherNd.build(front.parts, tuples).y)
    else:
        taken = tri.GatherNd.build(front, tuples).y
    # The new axes replace the indexed ones, or are in front when those were not adjacent.
    first = axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0
    new, old = range(len(shape)), range(len(shape), len(shape) + len(rest))
    return transpose(taken, [*old[:first], *new, *old[first:]])


@torch_op("Tensor.index_put", "aten::_unsafe_index_put")
def index_put(
    input: Value,
    indices: list[Any] | Value,
    values: Operand,
    *,
    accumulate: bool = False,
    main: MainFunction,
) -> Value:
    """Write values, which broadcast, at indices; or add them, as often as a place is named."""
    rank, dtype = tensor(input).rank, tensor(input).dtype
    found = _by_axis(indices if isinstance(indices, list) else [indices], rank, main)
    order = _in_front(found, rank)
    tuples, shape = _together(found)
    front = transpose(input, order)
    rest = tensor(front).shape[len(found) :]
    axes = sorted(found)
    # Written values have the shape of indexed ones.
    first = axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0
    taken = (*rest[:first], *shape, *rest[first:])
    updates = expand(as_type(values, dtype), taken)
    new = range(first, first + len(shape))
    updates = transpose(updates, [*new, *(a for a in range(len(taken)) if a not in new)])
    reduction = "add" if accumulate else "none"
    if math.prod(shape) == 0:
        return input
    reduction = reduction_of(reduction, tensor(front).dtype)
    made = tri.ScatterNd.build(front, tuples, updates, reduction=reduction).y
    return transpose(made, [order.index(axis) for axis in range(rank)])
