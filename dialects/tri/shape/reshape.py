"""Ops that move elements to other places, or repeat them, and leave their values alone."""

import math
from collections.abc import Sequence

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.quantized import with_axis, with_part
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need, need_if_any, need_same, need_same_shape
from ...core.tensor import Array, Shape, Tensor, need_broadcast, normalize_axis, same_dtype
from ..dialect import TriOp
from ..numeric import span


def need_length(what: str, values: Sequence[object], length: int) -> None:
    """Raise Invalid unless an attribute has one entry for each of `length` things."""
    if len(values) != length:
        raise Invalid(f"{what} has {len(values)} entries, must have {length}")


class Reshape(TriOp):
    """Give the elements, in row-major order, another shape."""

    x: Operand
    shape: tuple[int, ...]
    y: Result

    quantized = "any"

    def infer(self, x: Tensor) -> Tensor:
        for size in self.shape:
            need(size, 0, f"shape is {list(self.shape)}, must not be negative")
        count = math.prod(self.shape)
        need_same(count, x.size, f"shape {list(self.shape)} has {count} elements, x has {x.size}")
        return Tensor(self.shape, _reshaped(x, self.shape))

    def reference(self, x: Array) -> Array:
        return np.reshape(x, self.shape)


def _reshaped(x: Tensor, shape: Shape) -> str:
    """Find the axis of scales in another shape: of the same size, with as much in front of it."""

    def moved(axis: int) -> int:
        before, size = math.prod(x.shape[:axis]), x.shape[axis]
        for other, found in enumerate(shape):
            if found == size and math.prod(shape[:other]) == before:
                return other
        raise Invalid(f"shape {list(shape)} does not keep axis {axis} of {x}, which has scales")

    return with_axis(x.dtype, moved)


class Transpose(TriOp):
    """Reorder the axes: axis i of the result is axis `permutation[i]` of `x`."""

    x: Operand
    permutation: tuple[int, ...]
    y: Result

    quantized = "any"

    def infer(self, x: Tensor) -> Tensor:
        if sorted(self.permutation) != list(range(x.rank)):
            listed = list(self.permutation)
            raise Invalid(f"permutation {listed} does not name each of {x.rank} axes once")
        shape = tuple(x.shape[axis] for axis in self.permutation)
        return Tensor(shape, with_axis(x.dtype, self.permutation.index))

    def reference(self, x: Array) -> Array:
        return np.transpose(x, self.permutation)


class Slice(TriOp):
    """Take `sizes[d]` elements of each axis d, from `starts[d]` on, `steps[d]` apart.

    A negative step goes backwards. Where a size is zero, start and step do not matter.
    """

    x: Operand
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    y: Result

    quantized = "any"

    def infer(self, x: Tensor) -> Tensor:
        for what, values in (("starts", self.starts), ("sizes", self.sizes), ("steps", self.steps)):
            need_length(what, values, x.rank)
        for axis, (start, size, step) in enumerate(
            zip(self.starts, self.sizes, self.steps, strict=True)
        ):
            fault = f"axis {axis} has size {size} and step {step}, must be >= 0 and not 0"
            if step == 0:
                raise Invalid(fault)
            need(size, 0, fault)
            _need_inside(axis, x.shape[axis], start, size, step)
        return Tensor(self.sizes, with_part(x.dtype, self._range))

    def reference(self, x: Array) -> Array:
        return x[tuple(map(self._range, range(x.ndim)))]

    def _range(self, axis: int) -> slice:
        start, size, step = self.starts[axis], self.sizes[axis], self.steps[axis]
        stop = start + size * step
        return slice(start, stop if stop >= 0 else None, step) if size else slice(0, 0)


def _need_inside(axis: int, elements: Size, start: Size, size: Size, step: Size) -> None:
    """Require the first and the last element that a slice takes of an axis to be there."""
    last = start + (size - 1) * step
    fault = f"takes elements {start} to {last} of the {elements} of axis {axis}"
    for place in (start, last):
        need_if_any(size, place, 0, fault)
        need_if_any(size, elements, place + 1, fault)


class Concat(TriOp):
    """Join tensors along an axis; they agree in all other axes and in element type."""

    xs: Sequence[Operand]
    axis: int
    y: Result

    quantized = "one scale"

    def infer(self, xs: Sequence[Tensor]) -> Tensor:
        return joined(xs, self.axis)

    def reference(self, xs: Sequence[Array]) -> Array:
        return np.concatenate(xs, self.axis)


def joined(xs: Sequence[Tensor], axis: int) -> Tensor:
    """Return the type of tensors joined along an axis; raise Invalid for those that do not fit."""
    if not xs:
        raise Invalid("has no operands, must have at least 1")
    first, dtype = xs[0], same_dtype(*xs)
    axis = normalize_axis(axis, first.rank)
    for x in xs:
        fault = f"joins {first} and {x}, must differ in axis {axis} only"
        if x.rank != first.rank:
            raise Invalid(fault)
        need_same_shape(_without(x.shape, axis), _without(first.shape, axis), fault)
    size = sum(x.shape[axis] for x in xs)
    return Tensor((*first.shape[:axis], size, *first.shape[axis + 1 :]), dtype)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


class Split(TriOp):
    """Cut a tensor along an axis into consecutive parts of the given sizes."""

    x: Operand
    axis: int
    sizes: tuple[int, ...]
    ys: Sequence[Result]

    quantized = "one scale"

    def infer(self, x: Tensor) -> tuple[Tensor, ...]:
        axis = normalize_axis(self.axis, x.rank)
        listed, total = list(self.sizes), sum(self.sizes)
        for size in self.sizes:
            need(size, 0, f"sizes are {listed}, must not be negative")
        need_same(
            total, x.shape[axis], f"sizes {listed} add up to {total}, must be {x.shape[axis]}"
        )
        before, after = x.shape[:axis], x.shape[axis + 1 :]
        return tuple(Tensor((*before, size, *after), x.dtype) for size in self.sizes)

    def reference(self, x: Array) -> tuple[Array, ...]:
        ends = [sum(self.sizes[: i + 1]) for i in range(len(self.sizes))]
        return tuple(np.split(x, ends[:-1], self.axis)) if self.sizes else ()


class Expand(TriOp):
    """Repeat `x` to the given shape, by numpy's broadcasting; `shape` is the result's."""

    x: Operand
    shape: tuple[int, ...]
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        listed = list(self.shape)
        for size in self.shape:
            need(size, 0, f"shape is {listed}, must not be negative")
        need_broadcast(x.shape, self.shape, f"x is {x}, must broadcast to shape {listed}")
        return Tensor(self.shape, x.dtype)

    def reference(self, x: Array) -> Array:
        return np.broadcast_to(x, self.shape)


class Tile(TriOp):
    """Repeat the whole tensor `repeats[d]` times along each axis d."""

    x: Operand
    repeats: tuple[int, ...]
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        need_length("repeats", self.repeats, x.rank)
        for count in self.repeats:
            need(count, 0, f"repeats are {list(self.repeats)}, must not be negative")
        return Tensor(tuple(d * r for d, r in zip(x.shape, self.repeats, strict=True)), x.dtype)

    def reference(self, x: Array) -> Array:
        return np.tile(x, self.repeats)


class Trilu(TriOp):
    """Keep the upper or lower triangle of each matrix, from diagonal `k` on; zero elsewhere.

    Diagonal 0 is the main one, positive ones are above it.
    """

    x: Operand
    k: int = 0
    upper: bool = True
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        if x.rank < 2:
            raise Invalid(f"x has rank {x.rank}, must have at least 2")
        return x

    def reference(self, x: Array) -> Array:
        rows, columns = x.shape[-2:]
        distance = span(columns) - span(rows)[:, None]
        return np.where(
            distance >= self.k if self.upper else distance <= self.k, x, np.zeros((), x.dtype)
        )
