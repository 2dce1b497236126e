"""Normalisations and softmax in terms of means, sums and arithmetic, in f32 or wider."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ..building import (
    absolute,
    add,
    cast,
    div,
    exp,
    log,
    maximum,
    mul,
    number,
    per_channel,
    reduce_max,
    reduce_mean,
    reduce_sum,
    reshape,
    shape_of,
    sqrt,
    sub,
    where,
)
from .registry import decomposes


@decomposes(tri.BatchNorm)
def batch_norm(op: tri.BatchNorm) -> ir.Value:
    x, scale, bias, mean, var = map(widened, (op.x, op.scale, op.bias, op.mean, op.var))
    factor = div(scale, sqrt(add(var, op.epsilon)))
    rank = len(shape_of(x))
    centered = sub(x, per_channel(mean, rank))
    y = add(mul(centered, per_channel(factor, rank)), per_channel(bias, rank))
    return narrowed(y, op.y)


@decomposes(tri.LayerNorm)
def layer_norm(op: tri.LayerNorm) -> ir.Value:
    y = _standardized(widened(op.x), _from(op.axis, op.x), op.epsilon)
    if op.scale is not None:
        y = mul(y, widened(op.scale))
    if op.bias is not None:
        y = add(y, widened(op.bias))
    return narrowed(y, op.y)


@decomposes(tri.RmsNorm)
def rms_norm(op: tri.RmsNorm) -> ir.Value:
    x = widened(op.x)
    squares = reduce_mean(mul(x, x), _from(op.axis, x))
    y = div(x, sqrt(add(squares, op.epsilon)))
    if op.scale is not None:
        y = mul(y, widened(op.scale))
    return narrowed(y, op.y)


@decomposes(tri.InstanceNorm)
def instance_norm(op: tri.InstanceNorm) -> ir.Value:
    x = widened(op.x)
    rank = len(shape_of(x))
    y = _standardized(x, range(2, rank), op.epsilon)
    return narrowed(_scaled(y, op.scale, op.bias), op.y)


@decomposes(tri.GroupNorm)
def group_norm(op: tri.GroupNorm) -> ir.Value:
    shape = shape_of(op.x)
    parts = reshape(widened(op.x), shape[0], op.groups, shape[1] // op.groups, *shape[2:])
    y = _standardized(parts, range(2, len(shape) + 1), op.epsilon)
    return narrowed(_scaled(reshape(y, *shape), op.scale, op.bias), op.y)


@decomposes(tri.LpNormalize)
def lp_normalize(op: tri.LpNormalize) -> ir.Value:
    x = widened(op.x)
    axes = (op.axis % len(shape_of(x)),)
    length = sqrt(reduce_sum(mul(x, x), axes)) if op.p == 2 else reduce_sum(absolute(x), axes)
    if op.epsilon:
        length = maximum(length, op.epsilon)
    # A vector of zeros stays one.
    zero = tri.Equal.build(length, number(0, length)).y
    return narrowed(div(x, where(zero, 1, length)), op.y)


@decomposes(tri.Softmax)
def softmax(op: tri.Softmax) -> ir.Value:
    powers = exp(_below_zero(op.x, op.axis))
    total = reduce_sum(powers, (op.axis % len(shape_of(powers)),))
    return narrowed(div(powers, total), op.y)


@decomposes(tri.LogSoftmax)
def log_softmax(op: tri.LogSoftmax) -> ir.Value:
    shifted = _below_zero(op.x, op.axis)
    total = reduce_sum(exp(shifted), (op.axis % len(shape_of(shifted)),))
    return narrowed(sub(shifted, log(total)), op.y)


def widened(x: ir.Value) -> ir.Value:
    """Build a cast of half types to f32."""
    dtype = tensor_of(x.type).dtype
    return cast(x, "f32") if dtype in ("f16", "bf16") else x


def narrowed(y: ir.Value, like: ir.Value) -> ir.Value:
    """Build a cast back to the element type of another value."""
    return cast(y, tensor_of(like.type).dtype)


def _from(axis: int, x: ir.Value) -> range:
    rank = len(shape_of(x))
    return range(axis % rank, rank)


def _standardized(x: ir.Value, axes: range, epsilon: float) -> ir.Value:
    centered = sub(x, reduce_mean(x, axes))
    variance = reduce_mean(mul(centered, centered), axes)
    return div(centered, sqrt(add(variance, epsilon)))


def _scaled(y: ir.Value, scale: ir.Value, bias: ir.Value) -> ir.Value:
    rank = len(shape_of(y))
    return add(mul(y, per_channel(widened(scale), rank)), per_channel(widened(bias), rank))


def _below_zero(x: ir.Value, axis: int) -> ir.Value:
    """Subtract the maximum along an axis, so that no power overflows."""
    x = widened(x)
    return sub(x, reduce_max(x, (axis % len(shape_of(x)),)))
