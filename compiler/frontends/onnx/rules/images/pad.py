"""ONNX rules for padding."""

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.dim import highest
from ......dialects.core.tensor import Array, normalize_axis
from ....core.values import single, tensor
from ...registry import ComputedSizes, Sizes, Value, onnx_op


@onnx_op("Pad", since=2)
def pad_attribute(
    x: Value, *, pads: tuple[int, ...], mode: str = "constant", value: float = 0.0
) -> tri.Pad:
    return tri.Pad.build(x, pads=pads, mode=mode, value=value)


@onnx_op("Pad", since=11)
def pad(
    x: Value,
    pads: ComputedSizes,
    constant_value: Array | None = None,
    axes: Sizes | None = None,
    *,
    mode: str = "constant",
) -> tri.Pad:
    value = 0.0 if constant_value is None else float(single(constant_value))
    sides = pads if axes is None else _all_axes(pads, axes, tensor(x).rank)
    return tri.Pad.build(x, pads=sides, mode=mode, value=value)


def _all_axes(pads: tuple[int, ...], axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Spread the pads of some axes over all axes."""
    if len(pads) != 2 * len(axes):
        raise Invalid(f"has {len(pads)} pads, must have 2 for each of {len(axes)} axes")
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
