"""ONNX rules for quantised numbers: conversions, and products in 32-bit integers."""

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.quantized import QuantizedType
from .....dialects.core.tensor import normalize_axis
from ...core.values import cast, tensor
from ..element_types import element_type
from ..quantization import (
    WIDE,
    centered,
    columns,
    dequantized,
    held,
    known_type,
    quantized,
    requantized,
    rows,
    spread,
)
from ..registry import Node, Value, onnx_op
from ..windows import Ints, window
from .conv import kernel_of


@onnx_op("QuantizeLinear", since=10)
def quantize_linear(
    x: Value,
    y_scale: Value,
    y_zero_point: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
    node: Node,
) -> Value:
    dtype = _result_type(y_zero_point, output_dtype)
    axis = _axis(axis, x, y_scale)
    if tensor(x).dtype == "f32" and dtype != WIDE and not (block_size or precision):
        kind = known_type(y_scale, y_zero_point, dtype, x, axis, node)
        if kind is not None:
            return held(x, kind)
    zero = None if y_zero_point is None else spread(y_zero_point, x, axis, block_size)
    division = element_type(precision) if precision else tensor(y_scale).dtype
    scale = cast(spread(y_scale, x, axis, block_size), division)
    return quantized(tri.Div.build(cast(x, division), scale).y, zero, dtype, bool(saturate))


def _result_type(zero_point: Value | None, output_dtype: int) -> str:
    given = element_type(output_dtype) if output_dtype else None
    if zero_point is None:
        return given or "ui8"
    dtype = tensor(zero_point).dtype
    if given not in (None, dtype):
        raise Invalid(f"has output_dtype {given} and a zero point of {dtype}, must be the same")
    return dtype


@onnx_op("DequantizeLinear", since=10)
def dequantize_linear(
    x: Value,
    x_scale: Value,
    x_zero_point: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    node: Node,
) -> Value:
    axis = _axis(axis, x, x_scale)
    dtype = element_type(output_dtype) if output_dtype else tensor(x_scale).dtype
    if dtype == "f32" and not block_size:
        kind = known_type(x_scale, x_zero_point, tensor(x).dtype, x, axis, node)
        if kind is not None:
            return dequantized(x, kind)
    zero = None if x_zero_point is None else spread(x_zero_point, x, axis, block_size)
    scale = cast(spread(x_scale, x, axis, block_size), dtype)
    return tri.Mul.build(cast(centered(x, zero), dtype), scale).y


def _axis(axis: int, x: Value, scale: Value) -> int:
    """Normalise an axis, which is of no meaning when one scale is for all."""
    return 0 if tensor(scale).size == 1 else normalize_axis(axis, tensor(x).rank)


@onnx_op("MatMulInteger", since=10)
def matmul_integer(
    a: Value, b: Value, a_zero_point: Value | None = None, b_zero_point: Value | None = None
) -> tri.MatMul:
    a_zero = None if a_zero_point is None else rows(a_zero_point, a)
    b_zero = None if b_zero_point is None else columns(b_zero_point, b)
    return tri.MatMul.build(centered(a, a_zero), centered(b, b_zero))


@onnx_op("QLinearMatMul", since=10)
def qlinear_matmul(
    a: Value,
    a_scale: Value,
    a_zero_point: Value,
    b: Value,
    b_scale: Value,
    b_zero_point: Value,
    y_scale: Value,
    y_zero_point: Value,
    *,
    node: Node,
) -> Value:
    columns_axis = tensor(b).rank - 1
    kinds = (
        _single(a_scale, a_zero_point, a, node),
        known_type(b_scale, b_zero_point, tensor(b).dtype, b, columns_axis, node),
        _single(y_scale, y_zero_point, a, node),
    )
    of_a, of_b, of_y = kinds
    if of_a and of_b and of_y:
        product = tri.MatMul.build(dequantized(a, of_a), dequantized(b, of_b)).y
        return held(product, of_y)
    left, right = centered(a, rows(a_zero_point, a)), centered(b, columns(b_zero_point, b))
    product = tri.MatMul.build(left, right).y
    scale = tri.Mul.build(rows(a_scale, a), columns(b_scale, b)).y
    return requantized(product, scale, rows(y_scale, product), rows(y_zero_point, product))


@onnx_op("ConvInteger", since=10)
def conv_integer(
    x: Value,
    w: Value,
    x_zero_point: Value | None = None,
    w_zero_point: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> tri.Conv:
    x_zero = None if x_zero_point is None else spread(x_zero_point, x, 1)
    w_zero = None if w_zero_point is None else spread(w_zero_point, w, 0)
    kernel = kernel_of(w, kernel_shape)
    seen = window(tensor(x).shape[2:], kernel, strides, pads, dilations, auto_pad)
    return tri.Conv.build(centered(x, x_zero), centered(w, w_zero), **seen.attributes, group=group)


@onnx_op("QLinearConv", since=10)
def qlinear_conv(
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
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
    node: Node,
) -> Value:
    kernel = kernel_of(w, kernel_shape)
    seen = window(tensor(x).shape[2:], kernel, strides, pads, dilations, auto_pad)

    def convolved(image: Value, kernels: Value, bias: Value | None) -> Value:
        return tri.Conv.build(image, kernels, bias, **seen.attributes, group=group).y

    of_x = _single(x_scale, x_zero_point, x, node)
    of_w = known_type(w_scale, w_zero_point, tensor(w).dtype, w, 0, node)
    of_y = _single(y_scale, y_zero_point, x, node)
    if of_x and of_w and of_y:
        bias = None if b is None else dequantized(b, _bias_type(of_x, of_w))
        return held(convolved(dequantized(x, of_x), dequantized(w, of_w), bias), of_y)
    image = centered(x, spread(x_zero_point, x, 1))
    kernels = centered(w, spread(w_zero_point, w, 0))
    total = convolved(image, kernels, b)
    scale = tri.Mul.build(spread(x_scale, x, 1), spread(w_scale, total, 1)).y
    return requantized(total, scale, spread(y_scale, x, 1), spread(y_zero_point, x, 1))


def _single(scale: Value, zero_point: Value, x: Value, node: Node) -> QuantizedType | None:
    """Return the type of numbers with one constant scale, or None when they have others."""
    if tensor(scale).size != 1 or tensor(zero_point).size != 1:
        return None
    return known_type(scale, zero_point, tensor(zero_point).dtype, x, 0, node)


def _bias_type(x: QuantizedType, w: QuantizedType) -> QuantizedType:
    """Return the type of a bias, which has the scale of the products that it is added to."""
    scales = np.float32(x.scales[0]) * np.array(w.scales, np.float32)
    return QuantizedType.of(WIDE, scales.tolist(), axis=None if w.axis is None else 0)
