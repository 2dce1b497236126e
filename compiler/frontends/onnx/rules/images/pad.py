"""ONNX rules for padding."""

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.dim import highest, lowest
from ......dialects.core.tensor import normalize_axis
from ....core.sizes.run_time_shapes import listed, spread
from ....core.values import cast, number, single, tensor
from ...registry import ComputedSizes, Node, Size, Sizes, Value, onnx_op


@onnx_op("Pad", since=2)
def pad_attribute(
    x: Value, *, pads: tuple[int, ...], mode: str = "constant", value: float = 0.0
) -> tri.Pad:
    return tri.Pad.build(x, pads=pads, mode=mode, value=value)


@onnx_op("Pad", since=11)
def pad(
    x: Value,
    pads: Value,
    constant_value: Value | None = None,
    axes: Value | None = None,
    *,
    mode: str = "constant",
    node: Node,
) -> tri.Pad | Value:
    if axes is not None and None in node.found.known(axes):
        pads, axes = _spread(pads, axes, tensor(x).rank), None
    along = None if axes is None else node.sizes(axes, "input 'axes'")
    x, sides = _cut_at_run_time(x, pads, along, node)
    if constant_value is None or mode != "constant":
        return tri.Pad.build(x, pads=sides, mode=mode)
    if (value := node.evaluate(constant_value)) is not None:
        return tri.Pad.build(x, pads=sides, value=float(single(value)))
    return _joined(x, sides, tri.Reshape.build(constant_value, shape=()).y)


def _joined(x: Value, pads: Sizes, scalar: Value) -> Value:
    """Pad with a number that a run computes."""
    rank = tensor(x).rank
    if any(lowest(pad, 0) != 0 for pad in pads):
        x = tri.Pad.build(x, pads=tuple(lowest(pad, 0) for pad in pads)).y
    for axis in range(rank):
        before, after = (_border(x, axis, pads[place], scalar) for place in (axis, rank + axis))
        x = tri.Concat.build([*before, x, *after], axis=axis).y if before or after else x
    return x


def _border(x: Value, axis: int, pad: Size, scalar: Value) -> list[Value]:
    """Return what is beside a tensor along an axis, nothing where nothing is added."""
    size = highest(pad, 0)
    shape = (*tensor(x).shape[:axis], size, *tensor(x).shape[axis + 1 :])
    return [tri.Expand.build(scalar, shape=shape).y] if size != 0 else []


def _cut_at_run_time(x: Value, pads: Value, axes: Sizes | None, node: Node) -> tuple[Value, Sizes]:
    """Cut off what pads below 0 say that a run computes; return the pads that are left."""
    known, dims = node.found.known(pads), tensor(x).shape
    if None not in known:
        return x, _all_axes(node.sizes(pads, "input 'pads'"), axes, len(dims))
    along = range(len(dims)) if axes is None else [normalize_axis(a, len(dims)) for a in axes]
    _need_pads(len(known), len(along))
    more, fewer = (_at_least_0(each) for each in (pads, tri.Neg.build(pads).y))
    before, after = tri.Split.build(fewer, axis=0, sizes=(len(along),) * 2).results
    cut = [dims[axis] for axis in along]
    rest = tri.Sub.build(tri.Sub.build(listed(cut), before).y, after).y
    found = node.found.compute(
        tri.Concat.build((before, rest, more), axis=0).y, (*cut, *cut, *(None,) * len(known))
    )
    starts, sizes = [0] * len(dims), list(dims)
    for place, axis in enumerate(along):
        starts[axis], sizes[axis] = found[place], found[len(along) + place]
    steps = (1,) * len(dims)
    left = tri.Slice.build(x, starts=tuple(starts), sizes=tuple(sizes), steps=steps).y
    return left, _all_axes(found[2 * len(along) :], tuple(along), len(dims))


def _at_least_0(numbers: Value) -> Value:
    return tri.Maximum.build(cast(numbers, "i64"), number(0)).y


def _spread(pads: Value, axes: Value, rank: int) -> Value:
    """Return pads of all axes, where a run chooses the axes that have some."""
    count = tensor(axes).size
    _need_pads(tensor(pads).size, count)
    both = tri.Split.build(pads, axis=0, sizes=(count, count)).results
    spread_out = [spread(each, axes, (0,) * rank) for each in both]
    return tri.Concat.build(spread_out, axis=0).y


def _need_pads(pads: int, axes: int) -> None:
    if pads != 2 * axes:
        raise Invalid(f"has {pads} pads, must have 2 for each of {axes} axes")


def _all_axes(pads: Sizes, axes: Sizes | None, rank: int) -> Sizes:
    """Spread the pads of some axes over all axes."""
    if axes is None:
        return pads
    _need_pads(len(pads), len(axes))
    sides = [0] * (2 * rank)
    for index, axis in enumerate(axes):
        axis = normalize_axis(axis, rank)
        sides[axis], sides[rank + axis] = pads[index], pads[len(axes) + index]
    return tuple(sides)


@onnx_op("CenterCropPad", since=18)
def center_crop_pad(
    x: Value, shape: ComputedSizes, *, axes: tuple[int, ...] | None = None
) -> tri.Pad:
    """Pad with zeros, or cut, evenly; an odd element comes after, or is cut after."""
    dims, sizes = tensor(x).shape, shape
    axes = tuple(range(len(dims))) if axes is None else axes
    if len(sizes) != len(axes):
        raise Invalid(f"has {len(sizes)} sizes for {len(axes)} axes, must be as many")
    sides = [0] * (2 * len(dims))
    for axis, size in zip(axes, sizes, strict=True):
        axis = normalize_axis(axis, len(dims))
        more = size - dims[axis]
        before = highest(more, 0) // 2 - highest(-more, 0) // 2
        sides[axis], sides[len(dims) + axis] = before, more - before
    return tri.Pad.build(x, pads=tuple(sides))
