"""Rules of ONNX Runtime for numbers that are quantised: products, and elementwise ops."""

from collections.abc import Callable

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import normalize_axis
from ....core.values import cast, constant, tensor
from ...quantization import centered, columns, quantized, rows
from ...registry import Value, onnx_op
from ..matmul import gemm
from ..pool import global_average_pool
from . import DOMAIN


@onnx_op("MatMulIntegerToFloat", since=1, domain=DOMAIN)
def matmul_integer_to_float(
    a: Value,
    b: Value,
    a_scale: Value,
    b_scale: Value,
    a_zero_point: Value | None = None,
    b_zero_point: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """Multiply integers, and scale the product."""
    left = centered(a, None if a_zero_point is None else rows(a_zero_point, a))
    right = centered(b, None if b_zero_point is None else columns(b_zero_point, b))
    product = tri.MatMul.build(left, right).y
    scale = tri.Mul.build(rows(a_scale, a), columns(b_scale, b)).y
    y = tri.Mul.build(cast(product, tensor(scale).dtype), scale).y
    return y if bias is None else tri.Add.build(y, bias).y


@onnx_op("DynamicQuantizeMatMul", since=1, domain=DOMAIN)
def dynamic_quantize_matmul(
    a: Value,
    b: Value,
    b_scale: Value,
    b_zero_point: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """Quantise `a` by its range, as `DynamicQuantizeLinear` does, and multiply integers."""
    integers, scale, zero = by_range(a)
    return matmul_integer_to_float(integers, b, scale, b_scale, zero, b_zero_point, bias)


def by_range(x: Value) -> tuple[Value, Value, Value]:
    """Return integers in ui8 for floats, their scale and zero point."""
    axes, zero = tuple(range(tensor(x).rank)), constant(np.zeros((), np.float32))
    least = tri.Minimum.build(tri.ReduceMin.build(x, axes=axes, keepdims=False).y, zero).y
    most = tri.Maximum.build(tri.ReduceMax.build(x, axes=axes, keepdims=False).y, zero).y
    steps = constant(np.array(255, np.float32))
    scale = tri.Div.build(tri.Sub.build(most, least).y, steps).y
    is_zero = tri.Equal.build(scale, zero).y  # of zeros alone
    scale = tri.Where.build(is_zero, constant(np.ones((), np.float32)), scale).y
    start = quantized(tri.Div.build(tri.Sub.build(zero, least).y, scale).y, None, "ui8")
    return quantized(tri.Div.build(x, scale).y, start, "ui8"), scale, start


@onnx_op("QGemm", since=1, domain=DOMAIN)
def q_gemm(
    a: Value,
    a_scale: Value,
    a_zero_point: Value,
    b: Value,
    b_scale: Value,
    b_zero_point: Value,
    c: Value | None = None,
    y_scale: Value | None = None,
    y_zero_point: Value | None = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    """Multiply integers, and add `c`, of i32, whose scale is that of the product."""
    of_columns = -1 if transB == 0 else -2
    left = centered(a, a_zero_point)
    right = centered(b, _spread(b_zero_point, b, of_columns))
    product = gemm(left, right, c, transA=transA, transB=transB).y
    factor = tri.Mul.build(
        tri.Mul.build(a_scale, b_scale).y, constant(np.array(alpha, np.float32))
    ).y
    y = tri.Mul.build(cast(product, "f32"), factor).y
    if y_scale is None:
        return y
    dtype = "ui8" if y_zero_point is None else tensor(y_zero_point).dtype
    return quantized(tri.Div.build(y, y_scale).y, y_zero_point, dtype)


def _spread(value: Value, x: Value, axis: int) -> Value:
    """Shape what each column has so that it broadcasts over a matrix."""
    if tensor(value).size == 1:
        return tri.Reshape.build(value, shape=()).y
    shape = [1, 1]
    shape[axis] = tensor(x).shape[axis]
    return tri.Reshape.build(value, shape=tuple(shape)).y


def _real(x: Value, scale: Value, zero_point: Value | None) -> Value:
    """Return the floats that integers stand for."""
    return tri.Mul.build(cast(centered(x, zero_point), "f32"), scale).y


def _stored(x: Value, scale: Value, zero_point: Value | None, like: Value) -> Value:
    """Return the integers that are nearest to floats, of the type of others."""
    return quantized(tri.Div.build(x, scale).y, zero_point, tensor(like).dtype)


def _binary(
    combine: Callable[[Value, Value], Value],
) -> Callable[..., Value]:
    def rule(
        a: Value,
        a_scale: Value,
        a_zero_point: Value | None,
        b: Value,
        b_scale: Value,
        b_zero_point: Value | None,
        c_scale: Value,
        c_zero_point: Value | None = None,
    ) -> Value:
        y = combine(_real(a, a_scale, a_zero_point), _real(b, b_scale, b_zero_point))
        return _stored(y, c_scale, c_zero_point, a)

    return rule


onnx_op("QLinearAdd", since=1, domain=DOMAIN)(_binary(lambda a, b: tri.Add.build(a, b).y))
onnx_op("QLinearMul", since=1, domain=DOMAIN)(_binary(lambda a, b: tri.Mul.build(a, b).y))


@onnx_op("QLinearSigmoid", since=1, domain=DOMAIN)
def qlinear_sigmoid(
    x: Value,
    x_scale: Value,
    x_zero_point: Value | None,
    y_scale: Value,
    y_zero_point: Value | None = None,
) -> Value:
    y = tri.Sigmoid.build(_real(x, x_scale, x_zero_point)).y
    return _stored(y, y_scale, y_zero_point, x)


@onnx_op("QLinearLeakyRelu", since=1, domain=DOMAIN)
def qlinear_leaky_relu(
    x: Value,
    x_scale: Value,
    x_zero_point: Value | None,
    y_scale: Value,
    y_zero_point: Value | None = None,
    *,
    alpha: float = 0.01,
) -> Value:
    y = tri.LeakyRelu.build(_real(x, x_scale, x_zero_point), alpha=alpha).y
    return _stored(y, y_scale, y_zero_point, x)


@onnx_op("QLinearSoftmax", since=1, domain=DOMAIN)
def qlinear_softmax(
    x: Value,
    x_scale: Value,
    x_zero_point: Value | None,
    y_scale: Value,
    y_zero_point: Value,
    *,
    axis: int = -1,
    opset: int,
) -> Value:
    """Compute the softmax over an axis; before opset 13 over it and all axes behind it."""
    wide = _real(x, x_scale, x_zero_point)
    axis = normalize_axis(axis, tensor(x).rank)
    shape = tensor(x).shape
    if opset < 13:
        flat = int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))
        wide, axis = tri.Reshape.build(wide, shape=flat).y, 1
    y = tri.Softmax.build(wide, axis=axis).y
    return _stored(tri.Reshape.build(y, shape=shape).y, y_scale, y_zero_point, x)


@onnx_op("QLinearGlobalAveragePool", since=1, domain=DOMAIN)
def qlinear_global_average_pool(
    x: Value,
    x_scale: Value,
    x_zero_point: Value,
    y_scale: Value,
    y_zero_point: Value,
    *,
    channels_last: int = 0,
) -> Value:
    wide = _real(x, x_scale, x_zero_point)
    if channels_last:
        axes = tuple(range(1, tensor(x).rank - 1))
        mean = tri.ReduceMean.build(wide, axes=axes).y
    else:
        mean = global_average_pool(wide).y
    return _stored(mean, y_scale, y_zero_point, x)


@onnx_op("QLinearConcat", since=1, domain=DOMAIN)
def qlinear_concat(y_scale: Value, y_zero_point: Value, *parts: Value, axis: int) -> Value:
    """Join tensors that each have a scale and a zero point."""
    if not parts or len(parts) % 3:
        raise Invalid(f"has {len(parts)} inputs to join, must have a tensor, scale and zero point")
    wide = [_real(*parts[i : i + 3]) for i in range(0, len(parts), 3)]
    joined = tri.Concat.build(wide, axis=normalize_axis(axis, tensor(wide[0]).rank)).y
    return _stored(joined, y_scale, y_zero_point, parts[0])
