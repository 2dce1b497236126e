"""ONNX rules for resampling."""

import math
from typing import TypeVar

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.atoms import is_symbolic
from ......dialects.core.tensor import Array, Shape, normalize_axis
from ....core.resampling import CROP, Sampling, resample
from ....core.scales import scale_between, scaled
from ....core.values import tensor
from ...computed_scales import computed_parts, scaled_axes, sized_axes
from ...registry import Node, Value, onnx_op

Floats = tuple[float, ...]
Ints = tuple[int, ...]
T = TypeVar("T")

POLICIES = ("stretch", "not_larger", "not_smaller")


@onnx_op("Upsample", since=7)
def upsample_by_attribute(x: Value, *, scales: Floats, mode: str = "nearest") -> tri.Resize:
    return _resize_by_position(x, scales, mode)


@onnx_op("Upsample", since=9)
@onnx_op("Resize", since=10)
def resize_by_scales(
    x: Value, scales: Value, *, mode: str = "nearest", node: Node
) -> tri.Resize | Value:
    known = node.evaluate(scales)
    if known is not None:
        return _resize_by_position(x, _floats(known), mode)
    how = Sampling(mode, "asymmetric", "simple")
    axes = range(tensor(x).rank)
    return resample(x, scaled_axes(x, scales, axes, (), how, node), how)


@onnx_op("Resize", since=11)
def resize(
    x: Value,
    roi: Value | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
    *,
    antialias: int = 0,
    axes: Ints | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
    node: Node,
) -> tri.Resize | Value:
    shape = tensor(x).shape
    if keep_aspect_ratio_policy not in POLICIES:
        known = ", ".join(POLICIES)
        raise Invalid(f"has keep_aspect_ratio_policy '{keep_aspect_ratio_policy}', not in {known}")
    chosen, crops = _axes(axes, shape), coordinate_transformation_mode == CROP
    part = node.evaluate(roi) if crops and roi is not None else None
    given = scales if scales is not None and tensor(scales).size else sizes
    if given is None or not tensor(given).size:
        raise Invalid("has neither scales nor sizes")
    parts = _parts(part, chosen, shape) if crops and (part is not None or roi is None) else ()
    target: tuple[Shape, Floats] | None = None
    if parts or not crops:
        fixed = (given is scales, chosen, shape, parts, keep_aspect_ratio_policy)
        target = _target(given, *fixed, node)
    if target is not None:
        return tri.Resize.build(
            x,
            sizes=target[0],
            scales=target[1],
            mode=mode,
            coordinate_transform=coordinate_transformation_mode,
            nearest_mode=nearest_mode,
            cubic_coeff_a=cubic_coeff_a,
            exclude_outside=bool(exclude_outside),
            antialias=bool(antialias),
            extrapolation_value=extrapolation_value,
            roi=parts,
        )
    how = Sampling(
        mode,
        coordinate_transformation_mode,
        nearest_mode,
        cubic_coeff_a,
        bool(exclude_outside),
        extrapolation_value,
        bool(antialias),
    )
    spans = computed_parts(roi, chosen) if crops and roi is not None else ()
    if given is scales:
        return resample(x, scaled_axes(x, given, chosen, spans, how, node), how)
    axes_to_fit = sized_axes(x, given, chosen, keep_aspect_ratio_policy, spans, how, node)
    return resample(x, axes_to_fit, how)


def _target(
    given: Value,
    by_scales: bool,
    axes: Ints,
    shape: Shape,
    parts: Floats,
    policy: str,
    node: Node,
) -> tuple[Shape, Floats] | None:
    """Return sizes and scales of the result; None where the scales are not known."""
    if by_scales:
        known = node.evaluate(given)
        if known is None:
            return None
        scales = _spread(_floats(known), axes, (1.0,) * len(shape), "scales")
        return _scaled_sizes(shape, scales, parts), scales
    if None in node.found.known(given):
        return None
    wanted = _spread(node.sizes(given, "input 'sizes'"), axes, shape, "sizes")
    return _fit(shape, wanted, axes, policy)


@onnx_op("GridSample", since=16)
def grid_sample(
    x: Value,
    grid: Value,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> tri.GridSample:
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return tri.GridSample.build(
        x, grid, mode=mode, padding_mode=padding_mode, align_corners=bool(align_corners)
    )


def _resize_by_position(x: Value, scales: Floats, mode: str) -> tri.Resize:
    """Resize as operators before opset 11 do: element i comes from i / scale.

    ONNX did not define the nearest element; ONNX Runtime takes the lower one when an axis
    grows and the upper one when it shrinks.
    """
    shape = tensor(x).shape
    if len(scales) != len(shape):
        raise Invalid(f"has {len(scales)} scales, input has rank {len(shape)}")
    shrinks = any(scale < 1 for scale in scales)
    if mode == "nearest" and shrinks and any(scale > 1 for scale in scales):
        raise Unsupported(f"has scales {scales}, must all be at most 1 or all at least 1")
    return tri.Resize.build(
        x,
        sizes=_scaled_sizes(shape, scales, ()),
        scales=scales,
        mode=mode,
        coordinate_transform="asymmetric",
        nearest_mode="ceil" if shrinks else "floor",
    )


def _floats(array: Array) -> Floats:
    return tuple(float(element) for element in array.reshape(-1))


def _axes(axes: Ints | None, shape: Shape) -> Ints:
    if axes is None:
        return tuple(range(len(shape)))
    chosen = tuple(normalize_axis(axis, len(shape)) for axis in axes)
    if len(set(chosen)) != len(chosen):
        raise Invalid(f"has axes {axes}, must name each axis once")
    return chosen


def _spread(values: tuple[T, ...], axes: Ints, rest: tuple[T, ...], name: str) -> tuple[T, ...]:
    """Put values at their axes; the other axes keep what they have."""
    if len(values) != len(axes):
        raise Invalid(f"has {len(values)} {name}, must have {len(axes)}")
    spread = list(rest)
    for axis, value in zip(axes, values, strict=True):
        spread[axis] = value
    return tuple(spread)


def _parts(roi: Array | None, axes: Ints, shape: Shape) -> Floats:
    """Return the part of each axis that is resized: all starts, then all ends."""
    given = () if roi is None else _floats(roi)
    if len(given) != 2 * len(axes):
        raise Invalid(f"has {len(given)} entries in roi, must have {2 * len(axes)}")
    starts = _spread(given[: len(axes)], axes, (0.0,) * len(shape), "starts")
    return starts + _spread(given[len(axes) :], axes, (1.0,) * len(shape), "ends")


def _scaled_sizes(shape: Shape, scales: Floats, parts: Floats) -> Shape:
    if not all(0 < scale < math.inf for scale in scales):
        raise Invalid(f"has scales {scales}, must be above 0")
    spans = [1.0] * len(shape)
    if parts:
        starts, ends = parts[: len(shape)], parts[len(shape) :]
        spans = [end - start for start, end in zip(starts, ends, strict=True)]
    return tuple(map(scaled, shape, spans, scales))


def _fit(shape: Shape, wanted: Shape, axes: Ints, policy: str) -> tuple[Shape, Floats] | None:
    """Return the sizes that the policy allows, and the scales that lead there.

    Returns None where the scales depend on a run.
    """
    ratios = tuple(map(scale_between, wanted, shape))
    found = tuple(ratio for ratio in ratios if ratio is not None)
    if len(found) < len(shape) or (policy != "stretch" and any(map(is_symbolic, shape))):
        return None
    if policy == "stretch":
        return wanted, found
    choose = min if policy == "not_larger" else max
    scale = choose(found[axis] for axis in axes)
    scales = tuple(scale if axis in axes else 1.0 for axis in range(len(shape)))
    rounded = (math.floor(size * s + 0.5) for size, s in zip(shape, scales, strict=True))
    return tuple(rounded), scales
