"""Rules for operators that read or write at indices of one axis."""

import math

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.atoms import is_symbolic
from ......dialects.core.sizes.checks import need, need_same
from ......dialects.core.tensor import Array, Shape, broadcast
from ....core.values import cast, tensor
from ...promotion import Operand, as_type, promote
from ...registry import Complex, Value, torch_op
from ...views import (
    Ints,
    axis_of,
    cut_axes,
    expand,
    gather,
    in_line,
    parts,
    rank_of,
    reshape,
    shape_of,
    take,
)

Tensor = Value | Complex

LONGEST = 1 << 24
"""More elements by their places than this are taken for a mistake."""


@torch_op("nn.Embedding", "F.embedding", renamed={"indices": "input"})
def embedding(
    input: Value,
    weight: Value,
    *,
    max_norm: float | None = None,
    norm_type: float = 2.0,
) -> tri.Gather:
    if max_norm is not None:
        raise Invalid("has max_norm, which changes the weights in training; must be None")
    return tri.Gather.build(weight, input, axis=0)


@torch_op("torch.gather")
def gather_(input: Value, dim: int, index: Value, *, sparse_grad: bool = False) -> Value:
    if tensor(input).rank == tensor(index).rank == 0:
        return input
    if tensor(index).size == 0:  # torch has no rule for the rank of such indices
        return reshape(take(flat(input), np.zeros(0, np.int64), 0), tensor(index).shape)
    x = in_line(input)
    made = tri.GatherElements.build(x, in_line(index), axis=axis_of(x, dim)).y
    return reshape(made, tensor(index).shape)


@torch_op("torch.take_along_dim")
def take_along_dim(input: Value, indices: Value, dim: int) -> tri.GatherElements:
    axis = axis_of(input, dim)
    shapes = [list(tensor(x).shape) for x in (input, indices)]
    for shape in shapes:
        shape[axis] = 1
    common = list(broadcast(*map(tuple, shapes)))
    x, at = (
        expand(v, [*common[:axis], tensor(v).shape[axis], *common[axis + 1 :]])
        for v in (input, indices)
    )
    return tri.GatherElements.build(x, at, axis=axis)


@torch_op("torch.index_select")
def index_select(input: Tensor, dim: int, index: Value) -> Tensor:
    x = in_line(input)
    taken = gather(x, in_line(index), axis_of(x, dim))
    return taken if rank_of(input) else reshape(taken, ())


def scatter_by(x: Value, dim: int, index: Value, src: Operand, reduction: str) -> Value:
    """Write elements at indices of an axis; the source may be larger than the indices."""
    if not tensor(x).rank:
        src = in_line(src) if isinstance(src, Value) else src
        return reshape(scatter_by(in_line(x), 0, in_line(index), src, reduction), ())
    sizes = tensor(index).shape
    if isinstance(src, Value):
        src = cut_axes(src, {axis: slice(0, size) for axis, size in enumerate(sizes)})
        updates = cast(src, tensor(x).dtype)
    else:
        updates = expand(as_type(src, tensor(x).dtype), sizes)
    reduction = reduction_of(reduction, tensor(x).dtype)
    return tri.ScatterElements.build(x, index, updates, axis=axis_of(x, dim), reduction=reduction).y


def reduction_of(name: str, dtype: str) -> str:
    """Return a reduction for an element type: sums of bools are maxima, products are minima."""
    return {"add": "max", "mul": "min"}.get(name, name) if dtype == "i1" else name


@torch_op("torch.scatter_add")
def scatter_add(input: Value, dim: int, index: Value, src: Value) -> Value:
    return scatter_by(input, dim, index, src, "add")


REDUCTIONS = {"none": "none", "add": "add", "multiply": "mul"}
"""Torch's reductions of `scatter` and ours."""


@torch_op("torch.scatter", "aten::scatter.value", "aten::scatter.src")
@torch_op("aten::scatter.reduce", "aten::scatter.value_reduce")
def scatter(
    input: Value,
    dim: int,
    index: Value,
    src: Value | None = None,
    value: Operand = 0.0,
    *,
    reduce: str = "none",
) -> Value:
    if reduce not in REDUCTIONS:
        raise Invalid(f"has reduction '{reduce}', must be add or multiply")
    return scatter_by(input, dim, index, value if src is None else src, REDUCTIONS[reduce])


def flat(x: Value) -> Value:
    return reshape(x, (tensor(x).size,))


@torch_op("torch.repeat_interleave")
def repeat_interleave(
    input: Tensor, repeats: Array, *, dim: int | None = None, output_size: int | None = None
) -> Tensor:
    """Repeat each element of an axis, or of all elements in order."""
    x = reshape(input, (math.prod(shape_of(input)),)) if dim is None else input
    axis = 0 if dim is None else axis_of(x, dim)
    size = shape_of(x)[axis]
    if repeats.size == 1 and is_symbolic(size):
        return _repeated(x, repeats.item(), axis)
    if repeats.size not in (1, size) or repeats.min(initial=0) < 0:
        raise Invalid(f"has repeats {repeats.tolist()} for {size} elements")
    if int(repeats.sum()) * (size if repeats.size == 1 else 1) > LONGEST:
        raise Invalid(f"repeats {size} elements to more than {LONGEST}")
    return take(x, np.repeat(np.arange(size), repeats.reshape(-1)), axis)


def _repeated(x: Tensor, count: int, axis: int) -> Tensor:
    """Repeat each element of an axis equally often."""
    need(count, 0, f"has repeats {count}, must not be negative")
    before, (size, *after) = shape_of(x)[:axis], shape_of(x)[axis:]
    wide = expand(reshape(x, (*before, size, 1, *after)), (*before, size, count, *after))
    return reshape(wide, (*before, size * count, *after))


@torch_op("torch.roll")
def roll(input: Tensor, shifts: Ints, dims: Ints | None = None) -> Tensor:
    """Turn axes around; without any, all elements in order."""
    if dims is None:
        flat = reshape(input, (math.prod(shape_of(input)),))
        return reshape(_rolled(flat, shifts, (0,)), shape_of(input))
    return _rolled(input, shifts, tuple(axis_of(input, dim) for dim in dims))


def _rolled(x: Tensor, shifts: Ints, axes: Ints) -> Tensor:
    y = tri.Roll.build(parts(x), shifts=shifts, axes=axes).y
    return Complex(y) if isinstance(x, Complex) else y


@torch_op("torch.flip")
def flip(input: Tensor, dims: Ints) -> Tensor:
    axes = [axis_of(input, dim) for dim in dims]
    return cut_axes(input, {axis: slice(None, None, -1) for axis in axes}) if axes else input


@torch_op("torch.cross", "torch.linalg.cross")
def cross(input: Value, other: Value, *, dim: int | None = None) -> tri.Sub:
    """Multiply vectors of three elements along an axis; the first one of size 3 by default."""
    a, b = promote(input, other)
    shape = broadcast(tensor(a).shape, tensor(b).shape)
    a, b = expand(a, shape), expand(b, shape)
    axis = _first_of_three(shape) if dim is None else axis_of(a, dim)
    need_same(shape[axis], 3, f"has size {shape[axis]} in axis {axis}, must be 3")
    next_, last = np.array([1, 2, 0]), np.array([2, 0, 1])
    forward = tri.Mul.build(take(a, next_, axis), take(b, last, axis)).y
    return tri.Sub.build(forward, tri.Mul.build(take(a, last, axis), take(b, next_, axis)).y)


def _first_of_three(shape: Shape) -> int:
    for axis, size in enumerate(shape):
        if not size - 3:
            return axis
    raise Invalid(f"has operands of shape {list(shape)}, must have an axis of size 3")


@torch_op("torch.as_strided")
def as_strided(input: Value, size: Ints, stride: Ints, storage_offset: int | None = None) -> Value:
    """Take elements by their places in memory, which is in row-major order."""
    places = strided_places(size, stride, storage_offset, tensor(input).size)
    return take(flat(input), places, 0)


def strided_places(size: Ints, stride: Ints, storage_offset: int | None, whole: int) -> Array:
    """Return the place of each element of a view in memory, which has so many elements."""
    if len(size) != len(stride):
        raise Invalid(f"has size {size} and stride {stride}, must be as many")
    if not 0 <= math.prod(size) <= LONGEST:
        raise Invalid(f"takes elements of size {size}, must be at most {LONGEST} of them")
    places: Array = np.array(storage_offset or 0)
    for count, step in zip(size, stride, strict=True):
        places = places[..., None] + np.arange(count) * step
    if places.size and not 0 <= places.min() <= places.max() < whole:
        raise Invalid(f"reaches beyond the {whole} elements of its input")
    return places.astype(np.int64)
