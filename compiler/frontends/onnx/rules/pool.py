"""ONNX rules for pooling, windowed and global."""

from .....dialects import tri
from ...core.values import tensor
from ..registry import Node, Value, onnx_op
from ..windows import Ints, window


@onnx_op("MaxPool", since=1)
def max_pool(
    x: Value,
    *,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    storage_order: int = 0,
    strides: Ints | None = None,
    node: Node,
) -> tri.MaxPool | tri.MaxPoolIndices:
    seen = window(tensor(x).shape[2:], kernel_shape, strides, pads, dilations, auto_pad)
    if node.wants(1):
        return tri.MaxPoolIndices.build(
            x,
            kernel=kernel_shape,
            **seen.attributes,
            ceil_mode=bool(ceil_mode),
            storage_order=storage_order,
        )
    return tri.MaxPool.build(x, kernel=kernel_shape, **seen.attributes, ceil_mode=bool(ceil_mode))


@onnx_op("AveragePool", since=1)
def average_pool(
    x: Value,
    *,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> tri.AveragePool:
    seen = window(tensor(x).shape[2:], kernel_shape, strides, pads, dilations, auto_pad)
    return tri.AveragePool.build(
        x,
        kernel=kernel_shape,
        **seen.attributes,
        ceil_mode=bool(ceil_mode),
        count_include_pad=bool(count_include_pad),
    )


@onnx_op("LpPool", since=2)
def lp_pool(
    x: Value,
    *,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints | None = None,
    p: int = 2,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> tri.LpPool:
    seen = window(tensor(x).shape[2:], kernel_shape, strides, pads, dilations, auto_pad)
    return tri.LpPool.build(
        x, kernel=kernel_shape, **seen.attributes, ceil_mode=bool(ceil_mode), p=p
    )


@onnx_op("GlobalAveragePool", since=1)
def global_average_pool(x: Value) -> tri.ReduceMean:
    return tri.ReduceMean.build(x, axes=_pixel_axes(x))


@onnx_op("GlobalMaxPool", since=1)
def global_max_pool(x: Value) -> tri.ReduceMax:
    return tri.ReduceMax.build(x, axes=_pixel_axes(x))


@onnx_op("GlobalLpPool", since=2)
def global_lp_pool(x: Value, *, p: int = 2) -> tri.LpPool:
    kernel = tensor(x).shape[2:]
    ones, zeros = (1,) * len(kernel), (0,) * (2 * len(kernel))
    return tri.LpPool.build(x, kernel=kernel, strides=ones, pads=zeros, dilations=ones, p=p)


def _pixel_axes(x: Value) -> Ints:
    return tuple(range(2, tensor(x).rank))
