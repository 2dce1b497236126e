"""Lowerings of normalisations: statistics of a row, then one pass that applies them."""

import math

from ....dialects import tri
from ....dialects.core.tensor import Shape, normalize_axis
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.contraction import splat
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, nest
from ..kernels.strips import Strip, each_strip
from ..kernels.value import Value, compute_dtype
from ..kernels.value import math as math_dialect
from ..registry import template


@template(tri.LayerNorm)
def lower_layer_norm(
    op: tri.LayerNorm,
    kernel: KernelBuilder,
    x: Buffer,
    scale: Buffer | None,
    bias: Buffer | None,
    y: Epilogue,
) -> None:
    rows, dtype = _Rows(kernel, x, op.axis), compute_dtype(x.dtype)
    factor, term = rows.view(scale), rows.view(bias)
    epilogue = y.reshape(rows.shape)

    def strip(s: Strip) -> None:
        mean = s.fold("add", rows.source.load, dtype) * (1 / rows.shape[1])
        middle = s.spread(mean)

        def square(at: list[IndexExpr], lanes: Lanes | None) -> Value:
            away = rows.source.load(at, lanes) - middle
            return away * away

        slope = s.spread(_inverse_root(s.fold("add", square, dtype), rows.shape[1], op.epsilon))

        def apply(at: list[IndexExpr], lanes: Lanes | None) -> None:
            value = (rows.source.load(at, lanes) - middle) * slope
            epilogue.store(_affine(value, factor, term, at, lanes), at, lanes)

        s.each(apply)

    each_strip(rows.shape, kernel.lanes(dtype), strip)


@template(tri.RmsNorm)
def lower_rms_norm(
    op: tri.RmsNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer | None, y: Epilogue
) -> None:
    rows, dtype = _Rows(kernel, x, op.axis), compute_dtype(x.dtype)
    factor = rows.view(scale)
    epilogue = y.reshape(rows.shape)

    def strip(s: Strip) -> None:
        def square(at: list[IndexExpr], lanes: Lanes | None) -> Value:
            value = rows.source.load(at, lanes)
            return value * value

        slope = s.spread(_inverse_root(s.fold("add", square, dtype), rows.shape[1], op.epsilon))

        def apply(at: list[IndexExpr], lanes: Lanes | None) -> None:
            value = rows.source.load(at, lanes) * slope
            epilogue.store(_affine(value, factor, None, at, lanes), at, lanes)

        s.each(apply)

    each_strip(rows.shape, kernel.lanes(dtype), strip)


@template(tri.GroupNorm)
def lower_group_norm(
    op: tri.GroupNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer, bias: Buffer, y: Epilogue
) -> None:
    _per_channel_norm(kernel, x, scale, bias, y, op.groups, op.epsilon)


@template(tri.InstanceNorm)
def lower_instance_norm(
    op: tri.InstanceNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer, bias: Buffer, y: Epilogue
) -> None:
    _per_channel_norm(kernel, x, scale, bias, y, x.shape[1], op.epsilon)


def _per_channel_norm(
    kernel: KernelBuilder,
    x: Buffer,
    scale: Buffer,
    bias: Buffer,
    y: Epilogue,
    groups: int,
    epsilon: float,
) -> None:
    """Normalise groups of channels of each image; scale and bias are per channel."""
    batch, channels = x.shape[:2]
    each, pixels = channels // groups, math.prod(x.shape[2:])
    dtype = compute_dtype(x.dtype)
    width = kernel.lanes(dtype)
    source = x.reshape((batch * groups, each * pixels))
    images, epilogue = (
        x.reshape((batch * groups, each, pixels)),
        y.reshape((batch * groups, each, pixels)),
    )

    def strip(s: Strip) -> None:
        mean = s.fold("add", source.load, dtype) * (1 / (each * pixels))
        middle = s.spread(mean)

        def square(at: list[IndexExpr], lanes: Lanes | None) -> Value:
            away = source.load(at, lanes) - middle
            return away * away

        slope = _inverse_root(s.fold("add", square, dtype), each * pixels, epsilon)

        def channel(at: list[IndexExpr]) -> None:
            number = (s.outer % groups) * each + at[0]
            factor, term = s.spread(scale.load([number]) * slope), s.spread(bias.load([number]))

            def apply(p: list[IndexExpr], lanes: Lanes | None) -> None:
                place = [s.outer, at[0], *p]
                away = images.load(place, lanes) - middle
                epilogue.store(away.fma(factor, term), place, lanes)

            each_vector((pixels,), width, apply)

        nest((each,), channel)

    each_strip((batch * groups, each * pixels), width, strip)


@template(tri.BatchNorm)
def lower_batch_norm(
    op: tri.BatchNorm,
    kernel: KernelBuilder,
    x: Buffer,
    scale: Buffer,
    bias: Buffer,
    mean: Buffer,
    var: Buffer,
    y: Epilogue,
) -> None:
    batch, channels, *pixels = x.shape
    shape: Shape = (batch, channels, math.prod(pixels))
    source, epilogue = x.reshape(shape), y.reshape(shape)
    dtype = compute_dtype(x.dtype)

    def element(at: list[IndexExpr], lanes: Lanes | None) -> None:
        channel = [at[1]]
        slope = scale.load(channel) / (var.load(channel) + op.epsilon).apply(math_dialect.sqrt)
        term = bias.load(channel) - mean.load(channel) * slope
        value = source.load(at, lanes)
        if lanes is not None:
            slope, term = splat(slope, lanes.width), splat(term, lanes.width)
        epilogue.store(value.fma(slope, term), at, lanes)

    each_vector(shape, kernel.lanes(dtype), element)


class _Rows:
    """See a tensor as rows to normalise, and its parameters as repeated over all rows."""

    def __init__(self, kernel: KernelBuilder, x: Buffer, axis: int) -> None:
        axis = normalize_axis(axis, len(x.shape))
        self.kernel = kernel
        self.full = x.shape
        self.shape: Shape = (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))
        self.source = x.reshape(self.shape)

    def view(self, parameter: Buffer | None) -> Buffer | None:
        if parameter is None:
            return None
        return self.kernel.reshaped(parameter.broadcast_to(self.full), self.shape)


def _inverse_root(squares: Value, count: int, epsilon: float) -> Value:
    """Return 1 / sqrt(mean of squares + epsilon)."""
    return 1 / (squares * (1 / count) + epsilon).apply(math_dialect.sqrt)


def _affine(
    value: Value,
    scale: Buffer | None,
    bias: Buffer | None,
    at: list[IndexExpr],
    lanes: Lanes | None,
) -> Value:
    if scale is not None:
        value = value * scale.load(at, lanes)
    return value if bias is None else value + bias.load(at, lanes)
