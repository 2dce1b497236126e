"""Rules for pooling by windows of one size."""

import math
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.tensor import numpy_dtype
from .....dialects.tri.image.window import Window
from ...core.values import constant, number, tensor
from ..promotion import as_type
from ..registry import Value, torch_op
from ..spatial import batched, per_axis
from ..views import Ints, reshape


def _window(
    axes: int, kernel: Ints, stride: Ints | None, padding: Ints, dilation: Ints, ceil_mode: bool
) -> Window:
    """Fill in torch's defaults: windows are adjacent, padding is equal on both sides."""
    sizes = per_axis(kernel, axes)
    strides = per_axis(stride or kernel, axes)
    pads = per_axis(padding, axes) * 2
    return Window(sizes, strides, pads, per_axis(dilation, axes), ceil_mode)


def _windows_of(
    x: Value, kernel: Ints, stride: Ints | None, padding: Ints, dilation: Ints, ceil_mode: bool
) -> Window:
    """Return the windows over the spatial axes of a tensor, of which torch needs a whole one."""
    sizes = tensor(x).shape[2:]
    seen = _window(len(sizes), kernel, stride, padding, dilation, ceil_mode)
    if not ceil_mode:
        seen.output_sizes(sizes)
    return seen


def _average(x: Value, seen: Window, count_include_pad: bool) -> Value:
    return tri.AveragePool.build(
        x,
        kernel=seen.kernel,
        **seen.attributes,
        ceil_mode=seen.ceil_mode,
        count_include_pad=count_include_pad,
    ).y


def _filled_up(x: Value, seen: Window) -> tuple[Value, Window]:
    """Pad with zeros, so that every window is full; return the windows without their padding."""
    rank, sizes = tensor(x).rank, tensor(x).shape[2:]
    lengths = [
        (count - 1) * stride + extent
        for count, stride, extent in zip(
            seen.output_sizes(sizes), seen.strides, seen.extents, strict=True
        )
    ]
    ends = [n - b - d for n, b, d in zip(lengths, seen.begins, sizes, strict=True)]
    pads = (*[0] * (rank - seen.rank), *seen.begins, *[0] * (rank - seen.rank), *ends)
    bare = Window(seen.kernel, seen.strides, (0,) * len(seen.pads), seen.dilations)
    return (tri.Pad.build(x, pads=pads).y if any(pads) else x), bare


def register_average_pool(axes: int) -> None:
    @torch_op(f"nn.AvgPool{axes}d", f"F.avg_pool{axes}d")
    def average_pool(
        input: Value,
        *,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Value:
        x, drop = batched(input, axes)
        seen = _windows_of(x, kernel_size, stride, padding, (1,), ceil_mode)
        if divisor_override is None:
            return drop(_average(x, seen, count_include_pad))
        x, bare = _filled_up(x, seen)
        factor = math.prod(seen.kernel) / divisor_override
        mean = _average(x, bare, False)
        return drop(tri.Mul.build(mean, as_type(factor, tensor(x).dtype)).y)


def register_max_pool(axes: int) -> None:
    @torch_op(f"nn.MaxPool{axes}d", f"F.max_pool{axes}d")
    def max_pool(
        input: Value,
        *,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = (0,),
        dilation: Ints = (1,),
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Value | tuple[Value, Value]:
        x, drop = batched(input, axes)
        seen = _windows_of(x, kernel_size, stride, padding, dilation, ceil_mode)
        options: dict[str, Any] = {
            "kernel": seen.kernel,
            **seen.attributes,
            "ceil_mode": ceil_mode,
        }
        if not return_indices:
            return drop(tri.MaxPool.build(x, **options).y)
        made = tri.MaxPoolIndices.build(x, **options)
        return drop(made.y), drop(in_plane(made.indices, tensor(x).shape[2:]))


def in_plane(indices: Value, sizes: Ints) -> Value:
    """Turn places in a whole tensor into places in one channel of one sample, as torch counts."""
    return tri.Mod.build(indices, number(math.prod(sizes))).y


def register_lp_pool(axes: int) -> None:
    @torch_op(f"nn.LPPool{axes}d", f"F.lp_pool{axes}d")
    def lp_pool(
        input: Value,
        *,
        norm_type: float,
        kernel_size: Ints,
        stride: Ints | None = None,
        ceil_mode: bool = False,
    ) -> Value:
        """Compute (mean of xᵖ * kernel)^(1/p); windows over the end have a mean, too."""
        if not 0 < norm_type < math.inf:
            raise Invalid(f"has norm_type {norm_type}, must be above 0")
        x, drop = batched(input, axes)
        seen = _windows_of(x, kernel_size, stride, (0,), (1,), ceil_mode)
        plain = Window(seen.kernel, seen.strides, seen.pads, seen.dilations)
        sizes = tensor(x).shape[2:]
        full = seen.output_sizes(sizes) == plain.output_sizes(sizes)
        if full and norm_type in (2, 4, 6, 8):
            y = tri.LpPool.build(x, kernel=plain.kernel, **plain.attributes, p=int(norm_type)).y
            return drop(y)
        dtype = tensor(x).dtype
        powers = tri.Pow.build(x, as_type(norm_type, dtype)).y
        total = tri.Mul.build(
            _average(powers, seen, False), as_type(math.prod(seen.kernel), dtype)
        ).y
        return drop(tri.Pow.build(total, as_type(1 / norm_type, dtype)).y)


def register_max_unpool(axes: int) -> None:
    @torch_op(f"nn.MaxUnpool{axes}d", f"F.max_unpool{axes}d")
    def max_unpool(
        input: Value,
        indices: Value,
        output_size: Ints | None = None,
        *,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = (0,),
    ) -> Value:
        """Put each maximum back at its place in a tensor of zeros."""
        x, drop = batched(input, axes)
        places, _ = batched(indices, axes)
        sizes = tensor(x).shape[2:]
        seen = _window(axes, kernel_size, stride, padding, (1,), False)
        wanted = seen.input_sizes(sizes) if output_size is None else output_size[-axes:]
        if min(wanted, default=0) < 1:
            raise Invalid(f"makes an output of sizes {wanted}, must be above 0")
        return drop(put_back(x, places, wanted))


def put_back(x: Value, places: Value, wanted: Ints) -> Value:
    """Put maxima, [batch, channels, …], at their places in planes of zeros of sizes `wanted`."""
    batch, channels, *sizes = tensor(x).shape
    flat = (batch, channels, math.prod(sizes))
    zero = constant(np.zeros((), numpy_dtype(tensor(x).dtype)))
    zeros = tri.Expand.build(zero, shape=(batch, channels, math.prod(wanted))).y
    y = tri.ScatterElements.build(zeros, reshape(places, flat), reshape(x, flat), axis=2).y
    return reshape(y, (batch, channels, *wanted))


for _axes in (1, 2, 3):
    register_average_pool(_axes)
    register_max_pool(_axes)
    register_lp_pool(_axes)
    register_max_unpool(_axes)
