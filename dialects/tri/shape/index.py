"""Ops that read or write elements at places that another tensor names.

Negative indices count from the end of the axis; an index outside of it is an error at run time.
"""

from typing import Any

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need, need_same_shape, need_static
from ...core.tensor import DTYPES, UNCOMPUTED, Array, Shape, Tensor, normalize_axis, same_dtype
from ..dialect import TriOp
from ..numeric import need_integer, span

REDUCTIONS = ("none", "add", "mul", "max", "min")


def wrap_indices(indices: Array, size: int, axis: int) -> Array:
    """Make negative indices count from the end; raise Invalid for those outside of the axis."""
    wide = indices.astype(np.int64)
    outside = (wide < -size) | (wide >= size)
    if outside.any():
        index = wide[outside].flat[0]
        raise Invalid(f"index {index} is outside [{-size}, {size}) of axis {axis}")
    return np.where(wide < 0, wide + size, wide)


class Gather(TriOp):
    """Take whole slices of `x` along an axis; the indices' axes take the place of that axis."""

    x: Operand
    indices: Operand
    axis: int = 0
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor, indices: Tensor) -> Tensor:
        axis = normalize_axis(self.axis, x.rank)
        shape = need_integer(indices).shape
        return Tensor((*x.shape[:axis], *shape, *x.shape[axis + 1 :]), x.dtype)

    def reference(self, x: Array, indices: Array) -> Array:
        return np.take(x, wrap_indices(indices, x.shape[self.axis], self.axis), self.axis)


class GatherElements(TriOp):
    """Take from `x` at the place of each index, but with the index along the axis."""

    x: Operand
    indices: Operand
    axis: int = 0
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor, indices: Tensor) -> Tensor:
        _need_inside(x, indices, normalize_axis(self.axis, x.rank))
        return Tensor(indices.shape, x.dtype)

    def reference(self, x: Array, indices: Array) -> Array:
        return x[_places(x, indices, self.axis)]


class GatherNd(TriOp):
    """Take slices of `x` at the index tuples in the last axis of `indices`.

    The first `batch_dims` axes of both are the same and go together.
    """

    x: Operand
    indices: Operand
    batch_dims: int = 0
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor, indices: Tensor) -> Tensor:
        if not 0 <= self.batch_dims < min(x.rank, need_integer(indices).rank):
            least = min(x.rank, indices.rank)
            raise Invalid(f"batch_dims is {self.batch_dims}, must be in [0, {least})")
        need_same_shape(
            x.shape[: self.batch_dims],
            indices.shape[: self.batch_dims],
            f"x is {x}, indices are {indices}, must share {self.batch_dims} batch axes",
        )
        depth = _tuple_length(x, indices, self.batch_dims)
        return Tensor((*indices.shape[:-1], *x.shape[self.batch_dims + depth :]), x.dtype)

    def reference(self, x: Array, indices: Array) -> Array:
        outer = indices.shape[:-1]
        batch = tuple(
            span(n).reshape([n if d == axis else 1 for d in range(len(outer))])
            for axis, n in enumerate(x.shape[: self.batch_dims])
        )
        return x[(*batch, *_index_tuples(x, indices, self.batch_dims))]


class ScatterElements(TriOp):
    """Copy `x` and write each update at its own place, but with the index along the axis.

    Where several updates meet, `reduction` combines them with the element of `x`; with "none" the
    last one in row-major order wins.
    """

    x: Operand
    indices: Operand
    updates: Operand
    axis: int = 0
    reduction: str = "none"
    y: Result

    def infer(self, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        _need_inside(x, indices, normalize_axis(self.axis, x.rank))
        _need_updates(x, updates, indices.shape, self.reduction)
        return x

    def reference(self, x: Array, indices: Array, updates: Array) -> Array:
        return _scatter(x, _places(x, indices, self.axis), updates, self.reduction)


class ScatterNd(TriOp):
    """Copy `x` and write slices at the index tuples in the last axis of `indices`.

    Where several updates meet, `reduction` combines them with the element of `x`; with "none" the
    last one in row-major order wins.
    """

    x: Operand
    indices: Operand
    updates: Operand
    reduction: str = "none"
    y: Result

    def infer(self, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        if need_integer(indices).rank == 0 or x.rank == 0:
            raise Invalid(f"x is {x}, indices are {indices}, must have rank 1 at least")
        depth = _tuple_length(x, indices, 0)
        _need_updates(x, updates, (*indices.shape[:-1], *x.shape[depth:]), self.reduction)
        return x

    def reference(self, x: Array, indices: Array, updates: Array) -> Array:
        return _scatter(x, tuple(_index_tuples(x, indices, 0)), updates, self.reduction)


class OneHot(TriOp):
    """Put `values[1]` at the index and `values[0]` elsewhere, along a new axis of size `depth`.

    Indices outside of [-depth, depth) put `values[0]` everywhere.
    """

    indices: Operand
    values: Operand
    depth: int
    axis: int = -1
    y: Result

    def infer(self, indices: Tensor, values: Tensor) -> Tensor:
        axis = normalize_axis(self.axis, need_integer(indices).rank + 1)
        need(self.depth, 0, f"depth is {self.depth}, must not be negative")
        need_same_shape(values.shape, (2,), f"values are {values}, must have shape 2")
        shape = indices.shape
        return Tensor((*shape[:axis], self.depth, *shape[axis:]), values.dtype)

    def reference(self, indices: Array, values: Array) -> Array:
        wide = indices.astype(np.int64)
        wide = np.expand_dims(np.where(wide < 0, wide + self.depth, wide), self.axis)
        places = span(self.depth).reshape(
            [self.depth if d == self.axis % wide.ndim else 1 for d in range(wide.ndim)]
        )
        off, on = values[:1].reshape(()), values[1:].reshape(())
        return np.where(wide == places, on, off)


def _need_inside(x: Tensor, indices: Tensor, axis: int) -> None:
    """Check that indices have the rank of x, and its sizes at most on all other axes."""
    if need_integer(indices).rank != x.rank:
        raise Invalid(f"indices have rank {indices.rank}, x has rank {x.rank}, must be the same")
    for d, (have, most) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if d != axis:
            need(most, have, f"indices have size {have} on axis {d}, must be at most {most}")


def _need_updates(x: Tensor, updates: Tensor, shape: Shape, reduction: str) -> None:
    need_one_of("reduction", reduction, REDUCTIONS)
    same_dtype(x, updates)
    have = list(updates.shape)
    need_same_shape(have, shape, f"updates have shape {have}, must have {list(shape)}")
    kind = DTYPES[x.dtype].kind
    if reduction in ("add", "mul") and kind == "bool":
        raise Invalid(f"reduction is '{reduction}' of {x.dtype}, must be of numbers")
    if reduction != "none" and kind in UNCOMPUTED:
        raise Invalid(f"reduction is '{reduction}' of {x.dtype}, must be of a type to compute with")


def _tuple_length(x: Tensor, indices: Tensor, batch_dims: int) -> int:
    depth = need_static(indices.shape[-1], "length of index tuples")
    if not 1 <= depth <= x.rank - batch_dims:
        most = x.rank - batch_dims
        raise Invalid(f"index tuples have {depth} entries, must have 1 to {most}")
    return depth


def _index_tuples(x: Array, indices: Array, batch_dims: int) -> list[Array]:
    """Split the last axis of `indices`: one array of indices for each axis of x."""
    axes = range(batch_dims, batch_dims + indices.shape[-1])
    return [wrap_indices(indices[..., i], x.shape[a], a) for i, a in enumerate(axes)]


def _places(x: Array, indices: Array, axis: int) -> tuple[Any, ...]:
    """Return the index of each element's place, with the given indices along the axis."""
    axis %= x.ndim
    places: list[Any] = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    places[axis] = wrap_indices(indices, x.shape[axis], axis)
    return tuple(places)


def _scatter(x: Array, places: Any, updates: Array, reduction: str) -> Array:
    if reduction == "none":
        y = x.copy()
        y[places] = updates
        return y
    ufuncs = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    wide = np.array(widen(x))
    ufuncs[reduction].at(wide, places, widen(updates))
    return narrow(wide, x)
