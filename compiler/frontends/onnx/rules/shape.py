"""ONNX rules for operators that change shapes."""

import math
from collections.abc import Sequence

from .....dialects import tri
from .....dialects.core.errors import Invalid, Undecided
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.sizes.checks import need, need_divides, need_same
from .....dialects.core.sizes.dim import lowest
from .....dialects.core.sizes.limits import at_least, is_same
from .....dialects.core.tensor import (
    Shape,
    Tensor,
    broadcast,
    normalize_axes,
    normalize_axis,
)
from ...core.sizes.run_time_axes import squeezed
from ...core.sizes.run_time_shapes import element, reshaped, spread, with_ones
from ...core.sizes.run_time_shapes import sliced as sliced_at_run_time
from ...core.sizes.target_shapes import resolved
from ...core.slices import equal_parts, sliced
from ...core.values import counted, tensor
from ..control_flow.squeezing import MOST_UNKNOWN, RankUndecided
from ..registry import ComputedSizes, Node, Size, Sizes, Value, onnx_op


@onnx_op("Reshape", since=5)
def reshape(x: Value, shape: Value, *, allowzero: int = 0, node: Node) -> tri.Reshape:
    known = node.found.known(shape)
    if None in known:  # whether that is 0 or -1 is not known
        sizes = reshaped(x, shape, allowzero=bool(allowzero))
        return tri.Reshape.build(x, shape=node.found.compute(sizes))
    wanted = node.sizes(shape, "input 'shape'")
    return tri.Reshape.build(x, shape=_resolved(tensor(x), wanted, bool(allowzero)))


def _resolved(x: Tensor, wanted: Sequence[int], allowzero: bool) -> Shape:
    """Fill in what a target shape leaves open: zeros are sizes of x, -1 is what remains."""
    shape = list(wanted)
    for axis, size in enumerate(shape):
        if not allowzero and not _keeps(x, axis, size) and _is_zero(x, axis, size):
            if axis >= x.rank:
                raise Invalid(f"takes size {axis} from {x}, which has rank {x.rank}")
            shape[axis] = x.shape[axis]
    fault = f"shape {list(wanted)} does not fit the {x.size} elements of {x}"
    return resolved(shape, x.size, fault)


def _is_zero(x: Tensor, axis: int, size: Size) -> bool:
    """Return whether a size is 0; one that depends on a run must not be, unless that of x is 0."""
    answer = is_same(size, 0)
    if answer is None:
        fault = f"computes size {size} for axis {axis}, must not be 0: that means to keep it"
        kept = x.shape[axis] if axis < x.rank else 1
        if at_least(kept, 1):
            need(size, 1, fault)
        else:
            need_same((1 - lowest(size, 1)) * kept, 0, fault)
    return answer is True


def _keeps(x: Tensor, axis: int, size: Size) -> bool:
    """Return whether a size is that of x, so that it need not be known whether it is 0."""
    return axis < x.rank and x.shape[axis] == size


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
        axes = _axes_of_size_1(dims)
    axes = normalize_axes(axes, len(dims))
    for axis in axes:
        need_same(dims[axis], 1, f"drops axis {axis}, which has size {dims[axis]}, must be 1")
    return tri.Reshape.build(x, shape=tuple(d for i, d in enumerate(dims) if i not in axes))


def _axes_of_size_1(dims: Shape) -> tuple[int, ...]:
    answers = [is_same(size, 1) for size in dims]
    ones = tuple(axis for axis, answer in enumerate(answers) if answer)
    unknown = [axis for axis, answer in enumerate(answers) if answer is None]
    if unknown:
        message = (
            f"drops axis {unknown[0]} where its size {dims[unknown[0]]} is 1, which is not known"
        )
        fault = f"{message} at compile time"
        raise (
            RankUndecided(fault, ones, unknown)
            if len(unknown) <= MOST_UNKNOWN
            else Undecided(fault)
        )
    return ones


@onnx_op("Squeeze", since=13)
def squeeze(x: Value, axes: Value | None = None, *, node: Node) -> tri.Reshape:
    if axes is not None and None in node.found.known(axes):
        return squeezed(x, axes, node.found)
    return squeeze_attribute(x, axes=None if axes is None else node.sizes(axes, "input 'axes'"))


@onnx_op("Unsqueeze", since=1)
def unsqueeze_attribute(x: Value, *, axes: tuple[int, ...]) -> tri.Reshape:
    dims = tensor(x).shape
    new = normalize_axes(axes, len(dims) + len(axes))
    sizes = iter(dims)
    rank = len(dims) + len(axes)
    return tri.Reshape.build(x, shape=tuple(1 if i in new else next(sizes) for i in range(rank)))


@onnx_op("Unsqueeze", since=13)
def unsqueeze(x: Value, axes: Value, *, node: Node) -> tri.Reshape:
    if None not in node.found.known(axes):
        return unsqueeze_attribute(x, axes=node.sizes(axes, "input 'axes'"))
    sizes = with_ones(tensor(x).shape, axes)
    return tri.Reshape.build(x, shape=node.found.compute(sizes))


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
    x: Value,
    starts: Value,
    ends: Value,
    axes: Value | None = None,
    steps: Value | None = None,
    *,
    node: Node,
) -> tri.Slice | Value:
    if axes is not None and None in node.found.known(axes):
        dims = tensor(x).shape
        firsts, lasts = spread(starts, axes, (0,) * len(dims)), spread(ends, axes, dims)
        apart = None if steps is None else spread(steps, axes, (1,) * len(dims))
        return slice_(x, firsts, lasts, None, apart, node=node)
    along = None if axes is None else node.sizes(axes, "input 'axes'")
    if steps is not None and None in node.found.known(steps):
        return _slice_by_steps(x, starts, ends, along, steps, node)
    strides = None if steps is None else node.sizes(steps, "input 'steps'")
    if None not in [*node.found.known(starts), *node.found.known(ends)]:
        first, last = node.sizes(starts, "input 'starts'"), node.sizes(ends, "input 'ends'")
        return _slice(x, first, last, along, strides)
    return _slice_at_run_time(x, starts, ends, along, strides, node)


def _slice_by_steps(
    x: Value, starts: Value, ends: Value, axes: Sizes | None, steps: Value, node: Node
) -> Value:
    """Take elements along axes that are as far apart as a run computes."""
    dims, count = tensor(x).shape, tensor(starts).size
    axes = tuple(range(count)) if axes is None else axes
    _check_counts(count, tensor(ends).size, axes, (1,) * tensor(steps).size)
    normalize_axes(axes, len(dims))
    along = [normalize_axis(axis, len(dims)) for axis in axes]
    cut = [dims[axis] for axis in along]
    first, sizes = sliced_at_run_time(starts, ends, cut, steps)
    for place, size in enumerate(node.found.compute(sizes, cut)):
        start, step = (element(values, place) for values in (first, steps))
        far = tri.Mul.build(counted(size, (size,)), step).y
        x = tri.Gather.build(x, tri.Add.build(far, start).y, axis=along[place]).y
    return x


def _slice_at_run_time(
    x: Value, starts: Value, ends: Value, axes: Sizes | None, steps: Sizes | None, node: Node
) -> tri.Slice:
    dims, count = tensor(x).shape, tensor(starts).size
    axes = tuple(range(count)) if axes is None else axes
    steps = (1,) * count if steps is None else steps
    _check_counts(count, tensor(ends).size, axes, steps)
    along = [normalize_axis(axis, len(dims)) for axis in axes]
    cut = [dims[axis] for axis in along]
    found = [node.found.compute(each, cut) for each in sliced_at_run_time(starts, ends, cut, steps)]
    first, sizes, strides = [0] * len(dims), list(dims), [1] * len(dims)
    for axis, start, size, step in zip(along, *found, steps, strict=True):
        first[axis], sizes[axis], strides[axis] = start, size, step
    return tri.Slice.build(x, starts=tuple(first), sizes=tuple(sizes), steps=tuple(strides))


def _check_counts(starts: int, ends: int, axes: Sizes, steps: Sizes) -> None:
    if not starts == ends == len(axes) == len(steps):
        counts = f"{starts} starts, {ends} ends, {len(axes)} axes, {len(steps)} steps"
        raise Invalid(f"has {counts}, must have as many of each")
    for axis, step in zip(axes, steps, strict=True):
        if step == 0:
            raise Invalid(f"has step 0 along axis {axis}, must not be 0")


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
    _check_counts(len(starts), len(ends), axes, steps)
    normalize_axes(axes, len(dims))
    first, sizes, strides = [0] * len(dims), list(dims), [1] * len(dims)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis = normalize_axis(axis, len(dims))
        first[axis], sizes[axis] = sliced(start, end, int(step), dims[axis])
        strides[axis] = step
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


def _equal(size: Size, parts: int) -> tuple[Size, ...]:
    need_divides(size, parts, f"splits {size} elements into {parts} equal parts")
    return (size // parts,) * parts


@onnx_op("Split", since=13)
def split_13(
    x: Value, split: ComputedSizes | None = None, *, axis: int = 0, node: Node
) -> tri.Split:
    return split_attribute(x, axis=axis, split=split, node=node)


@onnx_op("Split", since=18)
def split_(
    x: Value,
    split: ComputedSizes | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
    node: Node,
) -> tri.Split:
    """Split into parts of the given sizes, or into equal parts of which the last may be smaller."""
    if split is not None and num_outputs is not None:
        raise Invalid("has both 'split' and 'num_outputs', must have one")
    axis = normalize_axis(axis, tensor(x).rank)
    parts = len(node.outputs)
    if num_outputs not in (None, parts):
        raise Invalid(f"has num_outputs {num_outputs} and {parts} outputs, must be as many")
    equal = equal_parts(tensor(x).shape[axis], parts)
    return tri.Split.build(x, axis=axis, sizes=equal if split is None else split)


@onnx_op("Expand", since=8)
def expand(x: Value, shape: Value, *, node: Node) -> tri.Expand:
    known, wanted = node.found.known(shape), list(node.found.compute(shape))
    dims = (*(1,) * (len(wanted) - tensor(x).rank), *tensor(x).shape)[-len(wanted) :]
    for axis, (size, dim) in enumerate(zip(known, dims, strict=False)):
        if size is None and not is_symbolic(dim) and dim != 1:
            found, wanted[axis] = wanted[axis], dim
            fault = f"expands {dim} elements to {found} along axis {axis}"
            need_same((found - 1) * (found - dim), 0, fault)
    return tri.Expand.build(x, shape=broadcast(tensor(x).shape, tuple(wanted)))


@onnx_op("Tile", since=6)
def tile(x: Value, repeats: ComputedSizes) -> tri.Tile:
    return tri.Tile.build(x, repeats=repeats)
