"""ONNX rules for detection and for images that are moved about."""

import math

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.checks import need
from ......dialects.core.tensor import numpy_dtype
from ....core.folding import fold_blocks
from ....core.grids import affine_grid as grid_of
from ....core.values import constant, tensor
from ...registry import ComputedSizes, Value, onnx_op
from ...windows import Ints, window
from ..conv import kernel_of


@onnx_op("AffineGrid", since=20)
def affine_grid(theta: Value, size: ComputedSizes, *, align_corners: int = 0) -> Value:
    return grid_of(theta, size, align_corners=bool(align_corners))


@onnx_op("Col2Im", since=18)
def col2im(
    x: Value,
    image_shape: ComputedSizes,
    block_shape: ComputedSizes,
    *,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Value:
    """Add up blocks where they overlap."""
    seen = window(image_shape, block_shape, strides, pads, dilations, "NOTSET")
    return fold_blocks(x, image_shape, block_shape, **seen.attributes)


@onnx_op("MaxUnpool", since=9)
def max_unpool(
    x: Value,
    indices: Value,
    output_shape: ComputedSizes | None = None,
    *,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Value:
    """Put each maximum back at its place in a tensor of zeros."""
    shape = tensor(x).shape
    seen = window(shape[2:], kernel_shape, strides, pads, None, "NOTSET")
    inner = (*shape[:2], *seen.input_sizes(shape[2:]))
    wanted = inner if output_shape is None else output_shape
    fault = f"makes an output of shape {inner}, must be above 0 and fit {wanted}"
    if len(wanted) != len(inner):
        raise Invalid(fault)
    for size in inner:
        need(size, 1, fault)
    zeros = tri.Expand.build(
        constant(np.zeros((), numpy_dtype(tensor(x).dtype))), shape=(math.prod(inner),)
    ).y
    flat = (math.prod(shape),)
    places, values = (tri.Reshape.build(v, shape=flat).y for v in (indices, x))
    filled = tri.ScatterElements.build(zeros, places, values).y
    y = tri.Reshape.build(filled, shape=inner).y
    if wanted == inner:
        return y
    ends = tuple(want - have for want, have in zip(wanted, inner, strict=True))
    return tri.Pad.build(y, pads=(0,) * len(inner) + ends).y


@onnx_op("RoiAlign", since=10)
def roi_align_of_output(
    x: Value,
    rois: Value,
    batch_indices: Value,
    *,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> tri.RoiAlign:
    return tri.RoiAlign.build(
        x,
        rois,
        batch_indices,
        mode=mode,
        sizes=(output_height, output_width),
        sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
        half_pixel=False,
    )


@onnx_op("RoiAlign", since=16)
def roi_align(
    x: Value,
    rois: Value,
    batch_indices: Value,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> tri.RoiAlign:
    if coordinate_transformation_mode not in ("half_pixel", "output_half_pixel"):
        known = "half_pixel or output_half_pixel"
        given = coordinate_transformation_mode
        raise Invalid(f"has coordinate_transformation_mode '{given}', must be {known}")
    return tri.RoiAlign.build(
        x,
        rois,
        batch_indices,
        mode=mode,
        sizes=(output_height, output_width),
        sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
        half_pixel=coordinate_transformation_mode == "half_pixel",
    )


@onnx_op("MaxRoiPool", since=1)
def max_roi_pool(
    x: Value, rois: Value, *, pooled_shape: Ints, spatial_scale: float = 1.0
) -> tri.MaxRoiPool:
    return tri.MaxRoiPool.build(x, rois, sizes=pooled_shape, spatial_scale=spatial_scale)


@onnx_op("DeformConv", since=19)
def deform_conv(
    x: Value,
    w: Value,
    offset: Value,
    b: Value | None = None,
    mask: Value | None = None,
    *,
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    offset_group: int = 1,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> tri.DeformConv:
    kernel = kernel_of(w, kernel_shape)
    seen = window(tensor(x).shape[2:], kernel, strides, pads, dilations, "NOTSET")
    return tri.DeformConv.build(
        x, w, offset, b, mask, **seen.attributes, group=group, offset_group=offset_group
    )


@onnx_op("Det", since=11)
def det(x: Value) -> tri.Det:
    return tri.Det.build(x)
