"""Lowerings of normalisations: statistics of rows, then each element changed by them."""

import math

from ...dialects import tri
from ...dialects.core.tensor import Shape, normalize_axis
from .buffer import Buffer
from .folds import Moments, Plain
from .kernel import KernelBuilder
from .normalization import change_rows
from .number import Number, compute_dtype, full
from .rows import Columns
from .sink import Sink
from .target import indexed, template


@template(tri.LayerNorm)
def lower_layer_norm(
    op: tri.LayerNorm,
    kernel: KernelBuilder,
    x: Buffer,
    scale: Buffer | None,
    bias: Buffer | None,
    y: Sink,
) -> None:
    axes = _from(op.axis, x)
    _standardize(kernel, x, axes, _like(scale, x.shape), _like(bias, x.shape), y, op.epsilon)


@template(tri.GroupNorm)
def lower_group_norm(
    op: tri.GroupNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer, bias: Buffer, y: Sink
) -> None:
    batch, channels, *pixels = x.shape
    shape = (batch, op.groups, channels // op.groups, *pixels)
    parameters = [_per_channel(p, x.shape).split(shape) for p in (scale, bias)]
    axes = tuple(range(2, len(shape)))
    _standardize(kernel, x.split(shape), axes, *parameters, y.over(shape), op.epsilon)


@template(tri.InstanceNorm)
def lower_instance_norm(
    op: tri.InstanceNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer, bias: Buffer, y: Sink
) -> None:
    parameters = [_per_channel(p, x.shape) for p in (scale, bias)]
    _standardize(kernel, x, tuple(range(2, len(x.shape))), *parameters, y, op.epsilon)


def _standardize(
    kernel: KernelBuilder,
    x: Buffer,
    axes: tuple[int, ...],
    scale: Buffer | None,
    bias: Buffer | None,
    y: Sink,
    epsilon: float,
) -> None:
    """Bring rows to mean zero and variance one, then scale and shift the elements."""
    dtype = compute_dtype(x.dtype)

    def prepare(state: list[Number]) -> list[Number]:
        _, mean, squares = state
        return [mean, _inverse_root(squares, _count(x, axes), epsilon)]

    def change(columns: Columns, number: Number, row: list[Number]) -> Number:
        number = (number - row[0]) * row[1]
        if scale is not None:
            number = number * columns.load(scale)
        return number if bias is None else number + columns.load(bias)

    change_rows(kernel, x, axes, y, Moments(dtype), change, prepare=prepare)


@template(tri.RmsNorm)
def lower_rms_norm(
    op: tri.RmsNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer | None, y: Sink
) -> None:
    axes, factor = _from(op.axis, x), _like(scale, x.shape)

    def prepare(state: list[Number]) -> list[Number]:
        return [_inverse_root(state[0], _count(x, axes), op.epsilon)]

    def change(columns: Columns, number: Number, row: list[Number]) -> Number:
        number = number * row[0]
        return number if factor is None else number * columns.load(factor)

    fold = Plain("sum", compute_dtype(x.dtype))
    change_rows(kernel, x, axes, y, fold, change, lambda number: number * number, prepare)


@template(tri.LpNormalize)
def lower_lp_normalize(op: tri.LpNormalize, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    def element(number: Number) -> Number:
        return number.abs() if op.p == 1 else number * number

    def prepare(state: list[Number]) -> list[Number]:
        norm = state[0] if op.p == 1 else state[0].apply("sqrt")
        norm = norm.maximum(op.epsilon)
        return [norm.not_equal(0).select(norm, 1), norm]

    def change(columns: Columns, number: Number, row: list[Number]) -> Number:
        # A row of zeros stays one, and elements too small for their squares become zeros.
        return row[1].equal(0).select(number.like(0), number / row[0])

    axes = (normalize_axis(op.axis, len(x.shape)),)
    fold = Plain("sum", compute_dtype(x.dtype))
    change_rows(kernel, x, axes, y, fold, change, element, prepare)


@indexed(tri.Lrn)
def lower_lrn(op: tri.Lrn, x: Buffer) -> object:
    before = (op.size - 1) // 2

    def read(at: list[Number]) -> Number:
        squares = full(0, compute_dtype(x.dtype))
        for offset in range(-before, op.size - before):
            seen = x.load([at[0], at[1] + offset, *at[2:]])
            squares = squares + seen * seen
        base = squares * (op.alpha / op.size) + op.bias
        power = (base.apply("log2") * -op.beta).apply("exp2")
        return x.load(at) * power

    return read


def _from(axis: int, x: Buffer) -> tuple[int, ...]:
    rank = len(x.shape)
    return tuple(range(normalize_axis(axis, rank), rank))


def _count(x: Buffer, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def _like(parameter: Buffer | None, shape: Shape) -> Buffer | None:
    return None if parameter is None else parameter.broadcast_to(shape)


def _per_channel(parameter: Buffer, shape: Shape) -> Buffer:
    """See one number for each channel as repeated over images and pixels."""
    return parameter.split((shape[1], *(1,) * (len(shape) - 2))).broadcast_to(shape)


def _inverse_root(squares: Number, count: int, epsilon: float) -> Number:
    """Return 1 / sqrt(mean of squares + epsilon)."""
    return 1 / (squares * (1 / count) + epsilon).apply("sqrt")
