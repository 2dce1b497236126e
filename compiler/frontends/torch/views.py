"""Moving elements about: the same for real and for complex tensors, which have an axis more."""

from collections.abc import Sequence
from typing import Any, TypeVar

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import Array, Shape, normalize_axis
from ..core.slices import element, sliced
from ..core.values import cast, constant, number, tensor
from .registry import Complex, Value

Tensor = TypeVar("Tensor", Value, Complex, Value | Complex)

Ints = tuple[int, ...]
"""Integers that may be sizes, which depend on symbols."""


def parts(x: Value | Complex) -> Value:
    """Return the real tensor that holds `x`."""
    return x.parts if isinstance(x, Complex) else x


def _like(x: Tensor, moved: Value) -> Tensor:
    made: Any = Complex(moved) if isinstance(x, Complex) else moved
    return made


def shape_of(x: Value | Complex) -> Shape:
    """Return the shape of a tensor, without the axis of the parts of complex numbers."""
    shape = tensor(parts(x)).shape
    return shape[:-1] if isinstance(x, Complex) else shape


def rank_of(x: Value | Complex) -> int:
    return len(shape_of(x))


def axis_of(x: Value | Complex, axis: int) -> int:
    """Return an axis as a number that is not negative; Invalid for one that there is not."""
    return normalize_axis(axis, rank_of(x))


def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    tail = (2,) if isinstance(x, Complex) else ()
    if tuple(shape) == shape_of(x):
        return x
    return _like(x, tri.Reshape.build(parts(x), shape=(*shape, *tail)).y)


def in_line(x: Tensor) -> Tensor:
    """Return a tensor with an axis: torch takes one without any for one element in line."""
    return x if rank_of(x) else reshape(x, (1,))


def transpose(x: Tensor, permutation: Sequence[int]) -> Tensor:
    order = tuple(permutation)
    if order == tuple(range(len(order))):
        return x
    order = (*order, len(order)) if isinstance(x, Complex) else order
    return _like(x, tri.Transpose.build(parts(x), permutation=order).y)


def swap(x: Tensor, first: int, second: int) -> Tensor:
    """Exchange two axes."""
    order = list(range(rank_of(x)))
    order[first], order[second] = order[second], order[first]
    return transpose(x, order)


def move(x: Tensor, source: int, target: int) -> Tensor:
    """Move an axis to another position."""
    order = [axis for axis in range(rank_of(x)) if axis != source]
    order.insert(target, source)
    return transpose(x, order)


def cut(x: Tensor, axis: int, start: Size, end: Size, step: int = 1) -> Tensor:
    """Take a slice of one axis; start and end are clamped as Python's are."""
    return cut_axes(x, {axis: slice(start, end, step)})


def taken_by(wanted: slice, size: Size) -> tuple[Size, Size]:
    """Return the first element that a slice takes of an axis, and how many it takes."""
    return sliced(wanted.start, wanted.stop, 1 if wanted.step is None else wanted.step, size)


def cut_axes(x: Tensor, slices: dict[int, slice]) -> Tensor:
    """Take slices of some axes."""
    shape = tensor(parts(x)).shape
    starts, sizes, steps = [0] * len(shape), list(shape), [1] * len(shape)
    for axis, wanted in slices.items():
        normalize_axis(axis, rank_of(x))
        steps[axis] = 1 if wanted.step is None else wanted.step
        starts[axis], sizes[axis] = taken_by(wanted, shape[axis])
    if sizes == list(shape) and all(step == 1 for step in steps):
        return x
    return _like(
        x, tri.Slice.build(parts(x), starts=tuple(starts), sizes=tuple(sizes), steps=tuple(steps)).y
    )


def select(x: Tensor, axis: int, index: Size) -> Tensor:
    """Take one element of an axis, and drop the axis."""
    return gather(x, number(element(index, shape_of(x)[axis])), axis)


def concat(xs: Sequence[Value | Complex], axis: int) -> Value | Complex:
    """Join tensors along an axis; all become complex when one is."""
    if not any(isinstance(x, Complex) for x in xs):
        return xs[0] if len(xs) == 1 else tri.Concat.build([parts(x) for x in xs], axis=axis).y
    joined = [parts(as_complex(x)) for x in xs]
    return Complex(tri.Concat.build(joined, axis=axis).y)


def expand(x: Tensor, shape: Sequence[int]) -> Tensor:
    tail = (2,) if isinstance(x, Complex) else ()
    if tuple(shape) == shape_of(x):
        return x
    if isinstance(x, Complex):
        aligned = reshape(x, (*[1] * (len(shape) - rank_of(x)), *shape_of(x)))
        return _like(x, tri.Expand.build(parts(aligned), shape=(*shape, *tail)).y)
    return _like(x, tri.Expand.build(parts(x), shape=tuple(shape)).y)


def gather(x: Tensor, indices: Value, axis: int) -> Tensor:
    """Take elements of an axis by their indices; the axes of the indices take its place."""
    return _like(x, tri.Gather.build(parts(x), indices, axis=axis).y)


def take(x: Tensor, indices: Array, axis: int) -> Tensor:
    """Take elements of an axis by indices that are known."""
    return gather(x, constant(indices), axis)


def as_complex(x: Value | Complex) -> Complex:
    """Return a tensor as a complex one; a real one has no imaginary part."""
    if isinstance(x, Complex):
        return x
    real = tensor(x).dtype
    x = x if real in ("f32", "f64", "f16") else cast(x, "f32")
    pads = (0,) * (2 * tensor(x).rank + 1) + (1,)
    return Complex(tri.Pad.build(tri.Reshape.build(x, shape=(*tensor(x).shape, 1)).y, pads=pads).y)
