"""Rules for overloads that look at windows of images: convolution, pooling, resampling."""

from typing import Any

from ......dialects.core.errors import Invalid
from ...registry import RULES, Value, torch_op
from ...spatial import batched
from ...views import Ints
from .. import conv, resize
from ..pool import put_back

Floats = tuple[float, ...]
INTERPOLATIONS = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
"""The modes of `grid_sampler` by number."""


@torch_op("aten::convolution")
def convolution(
    input: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    transposed: bool = False,
    output_padding: Ints = (0,),
    groups: int = 1,
) -> Any:
    if transposed:
        return conv.conv_transpose(
            input,
            weight,
            bias,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            dilation=dilation,
            groups=groups,
        )
    return conv.conv(
        input, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups
    )


def _register_pools(axes: int) -> None:
    function = RULES[f"F.max_pool{axes}d"].function
    adaptive = RULES[f"F.adaptive_max_pool{axes}d"].function

    @torch_op(f"aten::max_pool{axes}d_with_indices")
    def max_pool_with_indices(
        self: Value,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = (0,),
        dilation: Ints = (1,),
        ceil_mode: bool = False,
    ) -> Any:
        return function(
            self,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=True,
        )

    @torch_op(f"aten::adaptive_max_pool{axes}d")
    def adaptive_max_pool(self: Value, output_size: Ints) -> Any:
        return adaptive(self, output_size=output_size, return_indices=True)


for _axes in (1, 2, 3):
    _register_pools(_axes)


@torch_op("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d")
def adaptive_avg_pool(self: Value, output_size: Ints) -> Any:
    function = RULES[f"F.adaptive_avg_pool{len(output_size)}d"].function
    return function(self, output_size=output_size)


def _register_max_unpool(axes: int) -> None:
    @torch_op(f"aten::max_unpool{axes}d")
    def max_unpool(
        self: Value, indices: Value, output_size: Ints, stride: Ints = (), padding: Ints = ()
    ) -> Value:
        """Put maxima back; the size of the output is known, which windows would give."""
        x, drop = batched(self, axes)
        places, _ = batched(indices, axes)
        return drop(put_back(x, places, output_size))


for _axes in (2, 3):
    _register_max_unpool(_axes)


def _register_upsample(mode: str, *names: str) -> None:
    @torch_op(*(f"aten::{name}.vec" for name in names))
    def upsample(
        input: Value,
        output_size: Ints | None = None,
        align_corners: bool | None = None,
        scale_factors: Floats | None = None,
    ) -> Value:
        return resize.interpolate(
            input,
            size=output_size,
            scale_factor=scale_factors,
            mode=mode,
            align_corners=align_corners,
        )


_register_upsample("nearest", *(f"upsample_nearest{axes}d" for axes in (1, 2, 3)))
_register_upsample("linear", "upsample_linear1d")
_register_upsample("bilinear", "upsample_bilinear2d")
_register_upsample("bicubic", "upsample_bicubic2d")
_register_upsample("trilinear", "upsample_trilinear3d")
_register_upsample("nearest-exact", *(f"_upsample_nearest_exact{axes}d" for axes in (1, 2, 3)))


@torch_op("aten::grid_sampler", "aten::grid_sampler_2d", "aten::grid_sampler_3d")
def grid_sampler(
    input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    if not 0 <= interpolation_mode < 3 or not 0 <= padding_mode < 3:
        raise Invalid(f"has modes {interpolation_mode} and {padding_mode}, must be 0, 1 or 2")
    return resize.grid_sample(
        input,
        grid,
        mode=INTERPOLATIONS[interpolation_mode],
        padding_mode=PADDINGS[padding_mode],
        align_corners=align_corners,
    )
