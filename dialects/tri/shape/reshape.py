"""Ops that move elements to other places, or repeat them, and leave their values alone."""

import math
from collections.abc import Sequence

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.quantized import with_axis, with_part
from ...core.sizes.checks import need, need_same
from ...core.tensor import Array, Shape, Tensor, broadcast, normalize_axis, same_dtype
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
            if size < 0 or step == 0:
                raise Invalid(
                    f"axis {axis} has size {size} and step {step}, must be >= 0 and not 0"
                )
            last = start + (size - 1) * step
            if size and not (0 <= start < x.shape[axis] and 0 <= last < x.shape[axis]):
                raise Invalid(
                    f"takes elements {start} to {last} of the {x.shape[axis]} of axis {axis}"
                )
        ranges = tuple(map(_range, self.starts, self.sizes, self.steps))
        return Tensor(self.sizes, with_part(x.dtype, ranges))

    def reference(self, x: Array) -> Array:
        return x[tuple(map(_range, self.starts, self.sizes, self.steps))]


def _range(start: int, size: int, step: int) -> slice:
    stop = start + size * step
    return slice(start, stop if stop >= 0 else None, step) if size else slice(0, 0)


class Concat(TriOp):
    """Join tensors along an axis; they agree in all other axes and in element type."""

    xs: Sequence[Operand]
    axis: int
    y: Result

    quantized = "one scale"

    def infer(self, xs: Sequence[Tensor]) -> Tensor:
        if not xs:
            raise Invalid("has no operands, must have at least 1")
        first, dtype = xs[0], same_dtype(*xs)
        axis = normalize_axis(self.axis, first.rank)
        for x in xs:
            if x.rank != first.rank or _without(x.shape, axis) != _without(first.shape, axis):
                raise Invalid(f"joins {first} and {x}, must differ in axis {axis} only")
        size = sum(x.shape[axis] for x in xs)
        return Tensor((*first.shape[:axis], size, *first.shape[axis + 1 :]), dtype)

    def reference(self, xs: Sequence[Array]) -> Array:
        return np.concatenate(xs, self.axis)


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
        if min(self.sizes, default=0) < 0:
            raise Invalid(f"sizes are {list(self.sizes)}, must not be negative")
        if sum(self.sizes) != x.shape[axis]:
            raise Invalid(
                f"sizes {list(self.sizes)} add up to {sum(self.sizes)}, must be {x.shape[axis]}"
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
        if min(self.shape, default=0) < 0:
            raise Invalid(f"shape is {list(self.shape)}, must not be negative")
        if broadcast(x.shape, self.shape) != self.shape:
            raise Invalid(f"x is {x}, must broadcast to shape {list(self.shape)}")
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
        if min(self.repeats, default=0) < 0:
            raise Invalid(f"repeats are {list(self.repeats)}, must not be negative")
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
