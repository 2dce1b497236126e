"""ONNX rules for operators that change shapes."""

import math
from collections.abc import Sequence

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import (
    Array,
    Shape,
    Tensor,
    broadcast,
    normalize_axes,
    normalize_axis,
)
from ...core.values import ints, tensor
from ..registry import Node, Value, onnx_op


@onnx_op("Reshape", since=5)
def reshape(x: Value, shape: Array, *, allowzero: int = 0) -> tri.Reshape:
    return tri.Reshape.build(x, shape=_resolved(tensor(x), ints(shape), bool(allowzero)))


def _resolved(x: Tensor, wanted: Sequence[int], allowzero: bool) -> Shape:
    """Fill in what a target shape leaves open: zeros are sizes of x, -1 is what remains."""
    shape = list(wanted)
    for axis, size in enumerate(shape):
        if size == 0 and not allowzero:
            if axis >= x.rank:
                raise Invalid(f"takes size {axis} from {x}, which has rank {x.rank}")
            shape[axis] = x.shape[axis]
    if -1 not in shape:
        return tuple(shape)
    known = math.prod(size for size in shape if size != -1)
    if shape.count(-1) > 1 or known == 0 or x.size % known:
        raise Invalid(f"shape {list(wanted)} does not fit the {x.size} elements of {x}")
    return tuple(x.size // known if size == -1 else size for size in shape)


@onnx_op("Flatten", since=1)
def flatten(x: Value, *, axis: int = 1) -> tri.Reshape:
    dims = tensor(x).shape
    if not -len(dims) <= axis <= len(dims):
        raise Invalid(f"has axis {axis}, must be in [{-len(dims)}, {len(dims)}]")
    axis = axis + len(dims) if axis < 0 else axis
    return tri.Reshape.build(x, shape=(math.prod(dims[:axis]), math.prod(dims[axis:])))


@onnx_op("Squeeze", since=1)
def squeeze_attribute(x: Value, *, axes: tuple[int, ...] | None = None) -> tri.Reshape:
    dims = tensor(x).shape
    if axes is None:
        axes = tuple(axis for axis, size in enumerate(dims) if size == 1)
    axes = normalize_axes(axes, len(dims))
    for axis in axes:
        if dims[axis] != 1:
            raise Invalid(f"drops axis {axis}, which has size {dims[axis]}, must be 1")
    return tri.Reshape.build(x, shape=tuple(d for i, d in enumerate(dims) if i not in axes))


@onnx_op("Squeeze", since=13)
def squeeze(x: Value, axes: Array | None = None) -> tri.Reshape:
    return squeeze_attribute(x, axes=None if axes is None else ints(axes))


@onnx_op("Unsqueeze", since=1)
def unsqueeze_attribute(x: Value, *, axes: tuple[int, ...]) -> tri.Reshape:
    dims = tensor(x).shape
    new = normalize_axes(axes, len(dims) + len(axes))
    sizes = iter(dims)
    rank = len(dims) + len(axes)
    return tri.Reshape.build(x, shape=tuple(1 if i in new else next(sizes) for i in range(rank)))


@onnx_op("Unsqueeze", since=13)
def unsqueeze(x: Value, axes: Array) -> tri.Reshape:
    return unsqueeze_attribute(x, axes=ints(axes))


@onnx_op("Transpose", since=1)
def transpose(x: Value, *, perm: tuple[int, ...] | None = None) -> tri.Transpose:
    reverse = tuple(reversed(range(tensor(x).rank)))
    return tri.Transpose.build(x, permutation=reverse if perm is None else perm)


@onnx_op("Slice", since=1)
def slice_attribute(
    x: Value, *, starts: tuple[int, ...], ends: tuple[int, ...], axes: tuple[int, ...] | None = None
) -> tri.Slice:
    return _slice(x, starts, ends, axes, None)


@onnx_op("Slice", since=10)
def slice_(
    x: Value, starts: Array, ends: Array, axes: Array | None = None, steps: Array | None = None
) -> tri.Slice:
    given = (None if array is None else ints(array) for array in (axes, steps))
    return _slice(x, ints(starts), ints(ends), *given)


def _slice(
    x: Value,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...] | None,
    steps: tuple[int, ...] | None,
) -> tri.Slice:
    """Resolve ends to sizes; counting from the end and clamping are those of Python's slices."""
    dims = tensor(x).shape
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        counts = f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes, {len(steps)} steps"
        raise Invalid(f"has {counts}, must have as many of each")
    normalize_axes(axes, len(dims))
    first, sizes, strides = [0] * len(dims), list(dims), [1] * len(dims)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == 0:
            raise Invalid(f"has step 0 along axis {axis}, must not be 0")
        axis = normalize_axis(axis, len(dims))
        taken = range(*slice(start, end, step).indices(dims[axis]))
        first[axis], sizes[axis], strides[axis] = taken.start, len(taken), step
    return tri.Slice.build(x, starts=tuple(first), sizes=tuple(sizes), steps=tuple(strides))


@onnx_op("Concat", since=4)
def concat(*xs: Value, axis: int) -> tri.Concat:
    return tri.Concat.build(xs, axis=normalize_axis(axis, tensor(xs[0]).rank))


@onnx_op("Split", since=2)
def split_attribute(
    x: Value, *, axis: int = 0, split: tuple[int, ...] | None = None, node: Node
) -> tri.Split:
    axis = normalize_axis(axis, tensor(x).rank)
    sizes = _equal(tensor(x).shape[axis], len(node.outputs)) if split is None else split
    return tri.Split.build(x, axis=axis, sizes=sizes)


def _equal(size: int, parts: int) -> tuple[int, ...]:
    if size % parts:
        raise Invalid(f"splits {size} elements into {parts} equal parts")
    return (size // parts,) * parts


@onnx_op("Split", since=13)
def split_13(x: Value, split: Array | None = None, *, axis: int = 0, node: Node) -> tri.Split:
    return split_attribute(x, axis=axis, split=None if split is None else ints(split), node=node)


@onnx_op("Split", since=18)
def split_(
    x: Value,
    split: Array | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
    node: Node,
) -> tri.Split:
    """Split into parts of the given sizes, or into equal parts of which the last may be smaller."""
    if split is not None and num_outputs is not None:
        raise Invalid("has both 'split' and 'num_outputs', must have one")
    axis = normalize_axis(axis, tensor(x).rank)
    size, parts = tensor(x).shape[axis], len(node.outputs)
    if num_outputs not in (None, parts):
        raise Invalid(f"has num_outputs {num_outputs} and {parts} outputs, must be as many")
    part = -(-size // parts)
    rest = tuple(max(min(part, size - i * part), 0) for i in range(parts))
    return tri.Split.build(x, axis=axis, sizes=rest if split is None else ints(split))


@onnx_op("Expand", since=8)
def expand(x: Value, shape: Array) -> tri.Expand:
    return tri.Expand.build(x, shape=broadcast(tensor(x).shape, ints(shape)))


@onnx_op("Tile", since=6)
def tile(x: Value, repeats: Array) -> tri.Tile:
    return tri.Tile.build(x, repeats=ints(repeats))
