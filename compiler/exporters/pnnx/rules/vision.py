"""PNNX rules for windows over images, resampling, and blocks of pixels."""

import math

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.tensor import is_float
from ....frontends.pnnx.format.parameters import Value
from ..graph import PnnxGraph, exports
from ..windows import Ints, padded


@exports(tri.MaxPool)
def max_pool(op: tri.MaxPool, graph: PnnxGraph) -> None:
    if not is_float(tensor_of(op.x.type).dtype):
        raise Unsupported(f"takes {tensor_of(op.x.type).dtype}, which torch does not")
    x, padding = padded(op.x, op.pads, graph, -math.inf, apart=_too_wide(op))
    _need_same_sizes(op)
    graph.add(
        f"nn.MaxPool{len(op.kernel)}d",
        [x],
        [op.y],
        kernel_size=op.kernel,
        stride=op.strides,
        padding=padding,
        dilation=op.dilations,
        ceil_mode=op.ceil_mode,
        return_indices=False,
    )


@exports(tri.MaxPoolIndices)
def max_pool_indices(op: tri.MaxPoolIndices, graph: PnnxGraph) -> None:
    """Count torch's indices, which are of one channel, from the first channel of all on."""
    x, rank = tensor_of(op.x.type), len(op.kernel)
    uneven = op.pads[:rank] != op.pads[rank:] or _too_wide(op)
    if not is_float(x.dtype) or uneven or op.storage_order:
        raise Unsupported("pools integers, by uneven padding or counts columns, torch does not")
    _need_same_sizes(op)
    plane, channels = math.prod(x.shape[2:]), math.prod(x.shape[:2])
    first = np.arange(channels).reshape(*x.shape[:2], *(1,) * rank) * plane
    indices = graph.between(op.indices, tensor_of(op.indices.type).shape, "of_channel")
    graph.add(
        f"nn.MaxPool{rank}d",
        [op.x],
        [op.y, indices],
        kernel_size=op.kernel,
        stride=op.strides,
        padding=op.pads[:rank],
        dilation=op.dilations,
        ceil_mode=op.ceil_mode,
        return_indices=True,
    )
    starts = graph.constant("channel_starts", first)
    graph.add("pnnx.Expression", [indices, starts], [op.indices], expr="add(@0,@1)")


@exports(tri.AveragePool)
def average_pool(op: tri.AveragePool, graph: PnnxGraph) -> None:
    rank = len(op.kernel)
    uneven = op.pads[:rank] != op.pads[rank:] or _too_wide(op)
    if set(op.dilations) - {1}:
        raise Unsupported(f"has dilations {op.dilations}, torch's has none")
    if uneven and (not op.count_include_pad or op.ceil_mode):
        raise Unsupported(f"has pads {op.pads} that do not count, torch's are even or count")
    _need_same_sizes(op)
    x, padding = padded(op.x, op.pads, graph, apart=uneven)
    override: dict[str, Value] = {} if rank == 1 else {"divisor_override": None}
    graph.add(
        f"nn.AvgPool{rank}d",
        [x],
        [op.y],
        kernel_size=op.kernel,
        stride=op.strides,
        padding=padding,
        ceil_mode=op.ceil_mode,
        count_include_pad=op.count_include_pad,
        **override,
    )


@exports(tri.LpPool)
def lp_pool(op: tri.LpPool, graph: PnnxGraph) -> None:
    rank = len(op.kernel)
    if rank > 2 or set(op.dilations) - {1} or op.ceil_mode:
        raise Unsupported("has three axes, dilations or ceil_mode, which torch's has not")
    if op.p % 2:
        raise Unsupported(f"has the odd norm {op.p}, of which torch's keeps signs")
    _need_same_sizes(op)
    x, _ = padded(op.x, op.pads, graph, apart=True)
    size = op.kernel if rank > 1 else op.kernel[0]
    stride = op.strides if rank > 1 else op.strides[0]
    norm = {"norm_type": float(op.p), "ceil_mode": False}
    graph.add(f"nn.LPPool{rank}d", [x], [op.y], kernel_size=size, stride=stride, **norm)


def _too_wide(op: tri.Pool) -> bool:
    """Return whether padding is more than half a window, which torch does not take."""
    return any(2 * p > k for p, k in zip(op.pads, (*op.kernel, *op.kernel), strict=True))


def _need_same_sizes(op: tri.Pool) -> None:
    """Check that torch's rule for windows that hang over the end makes as many."""
    sizes = tensor_of(op.x.type).shape[2:]
    if not op.ceil_mode:
        if op.window.reaching(sizes) != op.pads:
            raise Unsupported(f"has a kernel {op.kernel} larger than its input, torch takes none")
        return
    apart = op.pads[: len(sizes)] != op.pads[len(sizes) :] or _too_wide(op)
    for axis, have in enumerate(tensor_of(op.y.type).shape[2:]):
        before, after = op.pads[axis], op.pads[len(sizes) + axis]
        step, reach = op.strides[axis], op.dilations[axis] * (op.kernel[axis] - 1) + 1
        count = -(-(sizes[axis] + before + after - reach) // step) + 1
        end = sizes[axis] + before + (after if apart else 0)
        if (count - 1) * step >= end:
            count -= 1
        if count != have:
            raise Unsupported(f"has {have} windows in ceil_mode along axis {axis}, torch {count}")


# -- resampling -------------------------------------------------------------------------------

NEAREST = {("asymmetric", "floor"): "nearest", ("half_pixel", "round_prefer_ceil"): "nearest-exact"}
SMOOTH = {
    "linear": {1: "linear", 2: "bilinear", 3: "trilinear"},
    "cubic": {2: "bicubic"},
}


@exports(tri.Resize)
def resize(op: tri.Resize, graph: PnnxGraph) -> None:
    dtype, shape = tensor_of(op.x.type).dtype, tensor_of(op.x.type).shape
    if op.sizes[:2] != shape[:2] or op.antialias or op.exclude_outside or not is_float(dtype):
        raise Unsupported("resizes channels or integers, or smooths, which torch does not")
    rank = len(shape) - 2
    mode: dict[str, Value] = {"mode": _mode(op, rank)}
    if op.mode != "nearest":
        mode["align_corners"] = op.coordinate_transform == "align_corners"
    ratios = tuple(size / dim for size, dim in zip(op.sizes, shape, strict=True))
    if ratios == op.scales:
        mode["size"] = op.sizes[2:]
    elif tuple(math.floor(d * s) for d, s in zip(shape, op.scales, strict=True)) == op.sizes:
        mode["scale_factor"] = op.scales[2:]
    else:
        raise Unsupported(f"has scales {op.scales} to sizes {op.sizes}, which torch cannot say")
    graph.add("F.interpolate", {"input": op.x}, [op.y], **mode)


def _mode(op: tri.Resize, rank: int) -> str:
    """Return torch's word for how a resize samples."""
    how = (op.coordinate_transform, op.nearest_mode)
    if op.mode == "nearest" and how in NEAREST and rank <= 3:
        return NEAREST[how]
    plain = op.coordinate_transform in ("half_pixel", "align_corners", "pytorch_half_pixel")
    if op.coordinate_transform == "pytorch_half_pixel":
        plain = 1 not in op.sizes[2:]
    usual = op.mode != "cubic" or op.cubic_coeff_a == -0.75
    if op.mode != "nearest" and plain and usual and rank in SMOOTH.get(op.mode, {}):
        return SMOOTH[op.mode][rank]
    raise Unsupported(f"samples by {op.mode}, {', '.join(how)}, which torch does not")


@exports(tri.GridSample)
def grid_sample(op: tri.GridSample, graph: PnnxGraph) -> None:
    if not op.normalized:
        raise Unsupported("has coordinates that count elements, those of torch are in [-1, 1]")
    rank = tensor_of(op.x.type).rank
    if rank != 4 and (rank != 5 or op.mode == "cubic"):
        raise Unsupported(f"samples {op.mode} in rank {rank}, torch in rank 4, not cubic in rank 5")
    words = {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}
    modes = {"mode": words[op.mode], "padding_mode": op.padding_mode}
    inputs = {"input": op.x, "grid": op.grid}
    graph.add("F.grid_sample", inputs, [op.y], align_corners=op.align_corners, **modes)


@exports(tri.DepthToSpace)
def depth_to_space(op: tri.DepthToSpace, graph: PnnxGraph) -> None:
    if op.mode == "CRD":
        graph.add("nn.PixelShuffle", [op.x], [op.y], upscale_factor=op.blocksize)
        return
    size = op.blocksize
    batch, channels, height, width = tensor_of(op.x.type).shape
    apart = (batch, size, size, channels // size**2, height, width)
    _rearrange(op, graph, apart, (0, 3, 4, 1, 5, 2))


@exports(tri.ChannelShuffle)
def channel_shuffle(op: tri.ChannelShuffle, graph: PnnxGraph) -> None:
    if tensor_of(op.x.type).rank < 3:
        raise Unsupported(f"shuffles {tensor_of(op.x.type)}, torch from rank 3 on")
    graph.add("nn.ChannelShuffle", [op.x], [op.y], groups=op.groups)


@exports(tri.SpaceToDepth)
def space_to_depth(op: tri.SpaceToDepth, graph: PnnxGraph) -> None:
    size = op.blocksize
    batch, channels, height, width = tensor_of(op.x.type).shape
    apart = (batch, channels, height // size, size, width // size, size)
    _rearrange(op, graph, apart, (0, 3, 5, 1, 2, 4))


def _rearrange(
    op: tri.DepthToSpace | tri.SpaceToDepth, graph: PnnxGraph, apart: Ints, order: Ints
) -> None:
    """Reshape, reorder and reshape."""
    blocks = graph.between(op.x, apart, "blocks")
    ordered = graph.between(op.x, tuple(apart[axis] for axis in order), "ordered")
    graph.add("Tensor.reshape", {"input": op.x}, [blocks], shape=apart)
    graph.add("Tensor.permute", {"input": blocks}, [ordered], dims=order)
    graph.add("Tensor.reshape", {"input": ordered}, [op.y], shape=tensor_of(op.y.type).shape)
