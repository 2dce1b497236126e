"""Rules for images whose pixels, channels and blocks trade places."""

import math

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.checks import need_divides
from ...core.folding import fold_blocks
from ...core.grids import affine_grid as grid_of
from ...core.values import cast, tensor
from ..registry import Value, torch_op
from ..spatial import per_axis
from ..views import Ints, cut, reshape, transpose


@torch_op("nn.PixelShuffle", "F.pixel_shuffle")
def pixel_shuffle(input: Value, *, upscale_factor: int) -> Value:
    """Move channels to pixels; axes before the channels are all batches."""
    x, outer = _one_batch(input)
    y = tri.DepthToSpace.build(x, blocksize=upscale_factor, mode="CRD").y
    return reshape(y, (*outer, *tensor(y).shape[1:]))


@torch_op("nn.PixelUnshuffle", "F.pixel_unshuffle")
def pixel_unshuffle(input: Value, *, downscale_factor: int) -> Value:
    """Move blocks of pixels to channels: those of one channel are adjacent."""
    x, outer = _one_batch(input)
    (n, c, h, w), r = tensor(x).shape, downscale_factor
    for size in (h, w):
        need_divides(size, r, f"has {h}x{w} pixels, must be multiples of {r}")
    blocks = transpose(reshape(x, (n, c, h // r, r, w // r, r)), (0, 1, 3, 5, 2, 4))
    return reshape(blocks, (*outer, c * r * r, h // r, w // r))


def _one_batch(x: Value) -> tuple[Value, Ints]:
    """Return [N, C, H, W], and the axes that became the batch."""
    shape = tensor(x).shape
    if len(shape) < 3:
        raise Invalid(f"has an input {tensor(x)}, must have rank 3 or more")
    return reshape(x, (math.prod(shape[:-3]), *shape[-3:])), shape[:-3]


@torch_op("nn.ChannelShuffle", "F.channel_shuffle")
def channel_shuffle(input: Value, *, groups: int) -> tri.ChannelShuffle:
    return tri.ChannelShuffle.build(input, groups=groups)


@torch_op("nn.Fold", "F.fold")
def fold(
    input: Value,
    *,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = (1,),
    padding: Ints = (0,),
    stride: Ints = (1,),
) -> Value:
    """Add up blocks where they overlap."""
    shape = tensor(input).shape
    if len(shape) not in (2, 3):
        raise Invalid(f"has an input {tensor(input)}, must have rank 3, or 2 without a batch")
    folded = fold_blocks(
        reshape(input, (1, *shape)) if len(shape) == 2 else input,
        per_axis(output_size, 2),
        per_axis(kernel_size, 2),
        strides=per_axis(stride, 2),
        pads=per_axis(padding, 2) * 2,
        dilations=per_axis(dilation, 2),
    )
    return reshape(folded, tensor(folded).shape[1:]) if len(shape) == 2 else folded


@torch_op("F.affine_grid", "aten::affine_grid_generator")
def affine_grid(theta: Value, size: Ints, *, align_corners: bool | None = None) -> Value:
    return grid_of(theta, size, align_corners=bool(align_corners))


@torch_op("torchvision.ops.RoIAlign")
def roi_align(
    input: Value,
    rois: Value,
    *,
    output_size: Ints,
    spatial_scale: float,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Value:
    """Pool regions; a row of `rois` is the number of a sample, and two corners."""
    count = tensor(rois).shape[0]
    sample = cast(reshape(cut(rois, 1, 0, 1), (count,)), "i64")
    return tri.RoiAlign.build(
        input,
        cut(rois, 1, 1, 5),
        sample,
        mode="avg",
        sizes=per_axis(output_size, 2),
        sampling_ratio=max(sampling_ratio, 0),
        spatial_scale=spatial_scale,
        half_pixel=aligned,
    ).y


@torch_op("torchvision.ops.DeformConv2d")
def deform_conv(
    input: Value,
    offset: Value,
    mask: Value | None = None,
    *,
    weight: Value,
    bias: Value | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    groups: int = 1,
    kernel_size: Ints = (),
) -> tri.DeformConv:
    height, width = tensor(weight).shape[2:]
    return tri.DeformConv.build(
        input,
        weight,
        offset,
        bias,
        mask,
        strides=per_axis(stride, 2),
        pads=per_axis(padding, 2) * 2,
        dilations=per_axis(dilation, 2),
        group=groups,
        offset_group=tensor(offset).shape[1] // (2 * height * width),
    )
