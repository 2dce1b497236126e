"""Lowerings of normalisations: statistics of rows, then each element changed by them."""

import math

from ....dialects import tri
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import Shape, Tensor, normalize_axis
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.normalization import change_rows
from ..kernels.reductions import Moments, SimpleReduction
from ..kernels.rows import Columns, Layout, Rows, combine_parts, reduce_parts
from ..kernels.value import Value, full
from ..registry import indexed, template
from ..schedule.product_blocks import next_power
from ..schedule.row_plan import RowPlan, change_plan, normalization_plan


@template(tri.LayerNorm)
def lower_layer_norm(
    op: tri.LayerNorm,
    kernel: KernelBuilder,
    x: Buffer,
    scale: Buffer | None,
    bias: Buffer | None,
    y: Epilogue,
) -> None:
    axes = _from(op.axis, x)
    _standardize(kernel, x, axes, _like(scale, x.shape), _like(bias, x.shape), y, op.epsilon)


@template(tri.GroupNorm, tri.InstanceNorm)
def lower_channel_norm(
    op: tri.GroupNorm | tri.InstanceNorm,
    kernel: KernelBuilder,
    x: Buffer,
    scale: Buffer,
    bias: Buffer,
    y: Epilogue,
) -> None:
    """View [N, C, …] as [N, groups, C / groups, …], and normalize each group of an image.

    Large images need three kernels: statistics of parts, their sum for each channel, and the
    normalization of elements in the order of memory.
    """
    if 0 in x.shape:
        return
    batch, channels, *pixels = x.shape
    groups = op.groups if isinstance(op, tri.GroupNorm) else channels
    shape = (batch, groups, channels // groups, *pixels)
    x, y = x.split(shape), y.reshape(shape)
    ones = (1,) * len(pixels)
    scale, bias = (p.split((*shape[1:3], *ones)).broadcast_to(shape) for p in (scale, bias))
    axes = tuple(range(2, len(shape)))
    layout = Layout.of(x, axes)
    plan = normalization_plan(layout.rows, layout.length, layout.along)
    if plan.parts == 1:
        _standardize(kernel, x, axes, scale, bias, y, op.epsilon)
        return
    found = _channel_statistics(kernel, x, scale, layout, plan, op.epsilon)
    mean, factor = (p.split((*shape[:3], *ones)).broadcast_to(shape) for p in found)
    lying = Layout.of(x, (1, 2))
    lying = lying if lying.along else Layout.of(x, axes[1:])
    plan = change_plan(lying.rows, lying.length, lying.along)
    part = kernel.programs(plan.parts).named("part")
    rows = Rows(kernel, lying, plan, (part * plan.span).named("begin"))

    def change(columns: Columns) -> None:
        number = (columns.load(x) - columns.load(mean)) * columns.load(factor)
        y.store(number + columns.load(bias), columns.at)

    rows.each(change)


def _channel_statistics(
    kernel: KernelBuilder, x: Buffer, scale: Buffer, layout: Layout, plan: RowPlan, epsilon: float
) -> list[Buffer]:
    """Add prior kernels that compute the mean and the factor, as [N, groups, C / groups]."""
    first = kernel.prior_kernel("statistics")
    dtype, shape = compute_dtype(x.dtype), x.shape[:3]
    reduction = Moments(dtype)
    source, factor = first.import_buffer(x), first.import_buffer(scale)
    with first:
        parts = reduce_parts(first, source, layout, plan, reduction, Columns.load)
        rows = first.axis(layout.rows, "ROWS", 1, name="rows")
        _, mean, squares = combine_parts(first, reduction, parts, rows)
        slope = _inverse_root(squares, layout.length, epsilon).expand(1)
        first.block_of("EACH", next_power(shape[2]))
        channel = first.indices(0, "EACH", "channel").expand(0)
        axes = (Axis(layout.kept, rows.expand(1)), Axis((2,), channel))
        at = Coordinates(shape, axes)
        one = factor.with_strides(shape, factor.strides[:3]).load(at)
        made = [first.intermediate(Tensor(shape, dtype), name) for name in ("mean", "factor")]
        for buffer, number in zip(made, (mean.expand(1), one * slope), strict=True):
            buffer.store(number, at)
    return [kernel.import_buffer(buffer) for buffer in made]


def _standardize(
    kernel: KernelBuilder,
    x: Buffer,
    axes: tuple[int, ...],
    scale: Buffer | None,
    bias: Buffer | None,
    y: Epilogue,
    epsilon: float,
) -> None:
    """Standardise rows, then scale and shift the elements."""
    dtype = compute_dtype(x.dtype)

    def prepare(state: list[Value]) -> list[Value]:
        _, mean, squares = state
        return [mean, _inverse_root(squares, _count(x, axes), epsilon)]

    def change(columns: Columns, number: Value, row: list[Value]) -> Value:
        number = (number - row[0]) * row[1]
        if scale is not None:
            number = number * columns.load(scale)
        return number if bias is None else number + columns.load(bias)

    change_rows(kernel, x, axes, y, Moments(dtype), change, prepare=prepare)


@template(tri.RmsNorm)
def lower_rms_norm(
    op: tri.RmsNorm, kernel: KernelBuilder, x: Buffer, scale: Buffer | None, y: Epilogue
) -> None:
    axes, factor = _from(op.axis, x), _like(scale, x.shape)

    def prepare(state: list[Value]) -> list[Value]:
        return [_inverse_root(state[0], _count(x, axes), op.epsilon)]

    def change(columns: Columns, number: Value, row: list[Value]) -> Value:
        number = number * row[0]
        return number if factor is None else number * columns.load(factor)

    reduction = SimpleReduction("sum", compute_dtype(x.dtype))
    change_rows(kernel, x, axes, y, reduction, change, lambda number: number * number, prepare)


@template(tri.LpNormalize)
def lower_lp_normalize(op: tri.LpNormalize, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    def element(number: Value) -> Value:
        return number.abs() if op.p == 1 else number * number

    def prepare(state: list[Value]) -> list[Value]:
        norm = state[0] if op.p == 1 else state[0].apply("sqrt")
        norm = norm.maximum(op.epsilon)
        return [norm.not_equal(0).select(norm, 1), norm]

    def change(columns: Columns, number: Value, row: list[Value]) -> Value:
        # A row of zeros stays one, and elements too small for their squares become zeros.
        return row[1].equal(0).select(number.like(0), number / row[0])

    axes = (normalize_axis(op.axis, len(x.shape)),)
    reduction = SimpleReduction("sum", compute_dtype(x.dtype))
    change_rows(kernel, x, axes, y, reduction, change, element, prepare)


@indexed(tri.Lrn)
def lower_lrn(op: tri.Lrn, x: Buffer) -> object:
    before = (op.size - 1) // 2

    def read(at: list[Value]) -> Value:
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


def _inverse_root(squares: Value, count: int, epsilon: float) -> Value:
    """Return 1 / sqrt(mean of squares + epsilon)."""
    mean = squares / count if is_symbolic(count) else squares * (1 / count)
    return 1 / (mean + epsilon).apply("sqrt")
