"""Rules of ONNX Runtime for images whose channels are the last axis, [N, …, C].

Weights are as in ONNX, [M, C / group, …].
"""

from typing import Any

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ....core.values import tensor
from ...registry import Node, Value, onnx_op
from ...windows import Ints
from ..conv import conv
from ..pool import average_pool, max_pool
from ..quantize import qlinear_conv
from . import DOMAIN
from .fused import fused_conv
from .scaled import real, stored


def channels_second(x: Value) -> Value:
    """Bring the channels from the last axis to the second."""
    rank = tensor(x).rank
    if rank < 3:
        raise Invalid(f"input is {tensor(x)}, must be an image of rank 3 and more")
    return tri.Transpose.build(x, permutation=(0, rank - 1, *range(1, rank - 1))).y


def channels_last(x: Value) -> Value:
    """Bring the channels from the second axis to the last."""
    return tri.Transpose.build(x, permutation=(0, *range(2, tensor(x).rank), 1)).y


@onnx_op("NhwcConv", since=1, domain=DOMAIN)
def nhwc_conv(
    x: Value,
    w: Value,
    b: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Value:
    y = conv(
        channels_second(x),
        w,
        b,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return channels_last(y.y)


@onnx_op("NhwcFusedConv", since=1, domain=DOMAIN)
def nhwc_fused_conv(
    x: Value,
    w: Value,
    b: Value | None = None,
    z: Value | None = None,
    *,
    activation: str = "",
    activation_params: tuple[float, ...] = (),
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Value:
    y = fused_conv(
        channels_second(x),
        w,
        b,
        None if z is None else channels_second(z),
        activation=activation,
        activation_params=activation_params,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return channels_last(y)


@onnx_op("NhwcMaxPool", since=1, domain=DOMAIN)
def nhwc_max_pool(
    x: Value,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
    node: Node,
) -> Value:
    y = max_pool(
        channels_second(x),
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        dilations=dilations,
        pads=pads,
        strides=strides,
        node=node,
    )
    return channels_last(y.y)


@onnx_op("QLinearConv", since=1, domain=DOMAIN)
def qlinear_conv_of_either(
    x: Value,
    x_scale: Value,
    x_zero_point: Value,
    w: Value,
    w_scale: Value,
    w_zero_point: Value,
    y_scale: Value,
    y_zero_point: Value,
    b: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    channels_last: int = 0,
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
    node: Node,
) -> Value:
    """Convolve integers, the channels of which are the second axis or, if so said, the last."""
    given: dict[str, Any] = {
        "auto_pad": auto_pad,
        "dilations": dilations,
        "group": group,
        "kernel_shape": kernel_shape,
        "pads": pads,
        "strides": strides,
        "node": node,
    }
    kernels = (w, w_scale, w_zero_point, y_scale, y_zero_point, b)
    image = _channels_second(x, channels_last)
    y = qlinear_conv(image, x_scale, x_zero_point, *kernels, **given)
    return _channels_as_before(y, channels_last)


@onnx_op("QLinearAveragePool", since=1, domain=DOMAIN)
def qlinear_average_pool(
    x: Value,
    x_scale: Value,
    x_zero_point: Value | None,
    y_scale: Value,
    y_zero_point: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    channels_last: int = 0,
    count_include_pad: int = 0,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Value:
    mean = average_pool(
        real(_channels_second(x, channels_last), x_scale, x_zero_point),
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        pads=pads,
        strides=strides,
    )
    y = stored(mean.y, y_scale, y_zero_point, x)
    return _channels_as_before(y, channels_last)


def _channels_second(x: Value, are_last: int) -> Value:
    return channels_second(x) if are_last else x


def _channels_as_before(y: Value, are_last: int) -> Value:
    return channels_last(y) if are_last else y
