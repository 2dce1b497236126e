"""Rules for convolution."""

import math
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import numpy_dtype
from ...core.values import constant, tensor
from ..registry import Value, torch_op
from ..spatial import batched, per_axis
from ..views import Ints, reshape
from .pad import MODES


@torch_op("nn.Conv1d", "nn.Conv2d", "nn.Conv3d", "F.conv1d", "F.conv2d", "F.conv3d")
def conv(
    input: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    stride: Ints = (1,),
    padding: Ints | str = (0,),
    dilation: Ints = (1,),
    groups: int = 1,
    padding_mode: str = "zeros",
    kernel_size: Ints = (),
) -> Value:
    kernel = tensor(weight).shape[2:]
    x, drop = batched(input, len(kernel))
    strides, dilations = per_axis(stride, len(kernel)), per_axis(dilation, len(kernel))
    pads = _pads(padding, kernel, dilations)
    if padding_mode != "zeros":
        if padding_mode not in MODES:
            raise Invalid(f"has padding_mode '{padding_mode}', must be zeros or {', '.join(MODES)}")
        around = (0, 0, *pads[: len(kernel)], 0, 0, *pads[len(kernel) :])
        x = tri.Pad.build(x, pads=around, mode=MODES[padding_mode]).y
        pads = (0,) * len(pads)
    made = tri.Conv.build(
        x, weight, bias, strides=strides, pads=pads, dilations=dilations, group=groups
    )
    return drop(made.y)


def _pads(padding: Ints | str, kernel: Ints, dilations: Ints) -> Ints:
    """Return the padding before and after all axes."""
    if not isinstance(padding, str):
        return per_axis(padding, len(kernel)) * 2
    if padding == "valid":
        return (0,) * (2 * len(kernel))
    if padding != "same":
        raise Invalid(f"has padding '{padding}', must be same, valid or numbers")
    missing = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    before = [m // 2 for m in missing]
    return (*before, *(m - b for m, b in zip(missing, before, strict=True)))


@torch_op("nn.ConvTranspose1d", "nn.ConvTranspose2d", "nn.ConvTranspose3d")
@torch_op("F.conv_transpose1d", "F.conv_transpose2d", "F.conv_transpose3d")
def conv_transpose(
    input: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    stride: Ints = (1,),
    padding: Ints = (0,),
    output_padding: Ints = (0,),
    dilation: Ints = (1,),
    groups: int = 1,
    padding_mode: str = "zeros",
    kernel_size: Ints = (),
) -> Value:
    rank = tensor(weight).rank - 2
    x, drop = batched(input, rank)
    made = tri.ConvTranspose.build(
        x,
        weight,
        bias,
        strides=per_axis(stride, rank),
        pads=per_axis(padding, rank) * 2,
        dilations=per_axis(dilation, rank),
        group=groups,
        output_padding=per_axis(output_padding, rank),
    )
    return drop(made.y)


MOST_TAPS = 1 << 12
"""Larger windows than this are taken for a mistake."""


@torch_op("nn.Unfold", "F.unfold")
def unfold(
    input: Value,
    *,
    kernel_size: Ints,
    dilation: Ints = (1,),
    padding: Ints = (0,),
    stride: Ints = (1,),
) -> Value:
    """List what each window sees: a convolution that has one kernel for each of its taps."""
    kernel = per_axis(kernel_size, 2)
    if min(kernel) < 1 or math.prod(kernel) > MOST_TAPS:
        raise Invalid(f"has kernel_size {kernel}, must have from 1 to {MOST_TAPS} taps")
    x, drop = batched(input, 2)
    channels, taps = tensor(x).shape[1], math.prod(kernel)
    one_tap = np.eye(taps, dtype=numpy_dtype(tensor(x).dtype)).reshape(taps, 1, *kernel)
    kernels = tri.Tile.build(constant(one_tap), repeats=(channels, 1, 1, 1)).y
    seen: Any = tri.Conv.build(
        x,
        kernels,
        strides=per_axis(stride, 2),
        pads=per_axis(padding, 2) * 2,
        dilations=per_axis(dilation, 2),
        group=channels,
    )
    batch, rows, *windows = tensor(seen.y).shape
    return drop(reshape(seen.y, (batch, rows, math.prod(windows))))
