"""Lowerings of normalisations: statistics of a row, then one pass that applies them."""

import math

from ....dialects import tri
from ....dialects.core.tensor import Shape, normalize_axis
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, nest
from ..kernels.products.contraction import splat
from ..kernels.strips import Element, Strip, each_strip
from ..kernels.value import Value, over_size
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
    _row_norm(kernel, x, op.axis, op.epsilon, scale, bias, y, centred=True)


@template(tri.RmsNorm)
def lower_rms_norm(
    op: tri.RmsNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer | None, y: Epilogue
) -> None:
    _row_norm(kernel, x, op.axis, op.epsilon, scale, None, y, centred=False)


def _row_norm(
    kernel: KernelBuilder,
    x: Buffer,
    axis: int,
    epsilon: float,
    scale: Buffer | None,
    bias: Buffer | None,
    y: Epilogue,
    centred: bool,
) -> None:
    """Normalise the axes from `axis` on; `centred` subtracts the mean first."""
    rows, dtype = _Rows(kernel, x, axis), compute_dtype(x.dtype)
    factor, term = rows.view(scale), rows.view(bias)
    epilogue = y.reshape(rows.shape)

    def strip(s: Strip) -> None:
        load = _centred(s, rows.source.load, dtype) if centred else rows.source.load
        slope = s.spread(_inverse_deviation(s, load, dtype, epsilon))

        def apply(at: list[IndexExpr], lanes: Lanes | None) -> None:
            value = load(at, lanes) * slope
            epilogue.store(_affine(value, factor, term, at, lanes), at, lanes)

        s.each(apply)

    each_strip(rows.shape, kernel.lanes(dtype), strip)


@template(tri.GroupNorm, tri.InstanceNorm)
def lower_channel_norm(
    op: tri.GroupNorm | tri.InstanceNorm,
    kernel: KernelBuilder,
    x: Buffer,
    scale: Buffer,
    bias: Buffer,
    y: Epilogue,
) -> None:
    """Normalise groups of channels of each image; scale and bias are per channel."""
    batch, channels = x.shape[:2]
    groups = op.groups if isinstance(op, tri.GroupNorm) else channels
    each, pixels = channels // groups, math.prod(x.shape[2:])
    dtype = compute_dtype(x.dtype)
    width = kernel.lanes(dtype)
    source = x.reshape((batch * groups, each * pixels))
    images, epilogue = (
        x.reshape((batch * groups, each, pixels)),
        y.reshape((batch * groups, each, pixels)),
    )

    def strip(s: Strip) -> None:
        middle = s.spread(_mean(s, source.load, dtype))
        slope = _inverse_deviation(
            s, lambda at, lanes: source.load(at, lanes) - middle, dtype, op.epsilon
        )

        def channel(at: list[IndexExpr]) -> None:
            index = (s.outer % groups) * each + at[0]
            factor, term = s.spread(scale.load([index]) * slope), s.spread(bias.load([index]))

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
        slope = scale.load(channel) / (var.load(channel) + op.epsilon).apply("sqrt")
        term = bias.load(channel) - mean.load(channel) * slope
        value = source.load(at, lanes)
        if lanes is not None:
            slope, term = splat(slope, lanes.width), splat(term, lanes.width)
        epilogue.store(value.fma(slope, term), at, lanes)

    each_vector(shape, kernel.lanes(dtype), element)


class _Rows:
    """View a tensor as rows to normalise, and its parameters as broadcast to all rows."""

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


def _mean(s: Strip, load: Element, dtype: str) -> Value:
    return over_size(s.reduce("add", load, dtype), s.length)


def _centred(s: Strip, load: Element, dtype: str) -> Element:
    """Return a load of elements less the mean of their strip."""
    middle = s.spread(_mean(s, load, dtype))
    return lambda at, lanes: load(at, lanes) - middle


def _inverse_deviation(s: Strip, load: Element, dtype: str, epsilon: float) -> Value:
    """Return 1 / sqrt(mean of squares + epsilon)."""

    def square(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        value = load(at, lanes)
        return value * value

    squares = s.reduce("add", square, dtype)
    return 1 / (over_size(squares, s.length) + epsilon).apply("sqrt")


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
