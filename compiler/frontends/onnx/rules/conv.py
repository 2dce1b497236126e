"""ONNX rules for convolution."""

from .....dialects import tri
from .....dialects.core.errors import Invalid
from ...core.values import tensor
from ..registry import Value, onnx_op
from ..windows import Ints, transposed_window, window


@onnx_op("Conv", since=1)
def conv(
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
) -> tri.Conv:
    kernel = kernel_of(w, kernel_shape)
    seen = window(tensor(x).shape[2:], kernel, strides, pads, dilations, auto_pad)
    return tri.Conv.build(x, w, b, **seen.attributes, group=group)


@onnx_op("ConvTranspose", since=1)
def conv_transpose(
    x: Value,
    w: Value,
    b: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> tri.ConvTranspose:
    kernel, sizes = kernel_of(w, kernel_shape), tensor(x).shape[2:]
    seen, extra = transposed_window(
        sizes, kernel, strides, pads, dilations, auto_pad, output_padding, output_shape
    )
    return tri.ConvTranspose.build(x, w, b, **seen.attributes, group=group, output_padding=extra)


def kernel_of(w: Value, kernel_shape: Ints | None) -> Ints:
    """Return the kernel's sizes by the weight; raise Invalid if the attribute differs."""
    kernel = tensor(w).shape[2:]
    if kernel_shape and kernel_shape != kernel:
        raise Invalid(f"has kernel_shape {kernel_shape}, weight has {kernel}")
    return kernel
