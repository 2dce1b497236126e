"""Lowerings of reductions, over any dims of a tensor."""

import math
from collections.abc import Callable

from ....dialects import tri
from ....dialects.core.op import Op
from ....dialects.core.tensor import DTYPES
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Sink
from ..kernels.reductions import Fold, LogSum, Plain
from ..kernels.rows import Columns, Layout, fold_rows
from ..kernels.value import Number, compute_dtype
from ..registry import template
from ..schedule.row_plan import reduction_plan

Change = Callable[[Number], Number]

SUMS = {
    **{"i1": "i32", "i8": "i32", "i16": "i32", "ui8": "ui32", "ui16": "ui32"},
    **{"f16": "f32", "bf16": "f32"},
}
"""The type that elements are combined in, where it is another one; what overflows wraps around."""


def reduce_dims(
    kernel: KernelBuilder,
    x: Buffer,
    axes: tuple[int, ...],
    sink: Sink,
    fold: Fold,
    element: Change,
    finish: Callable[[list[Number]], Number],
) -> None:
    """Fold the elements along some dims, and store what `finish` makes of it."""
    if 0 in sink.shape:
        return
    layout = Layout.of(x, axes)
    plan = reduction_plan(layout.rows, layout.length, layout.along)

    def load(columns: Columns, source: Buffer) -> Number:
        pad = _pad(fold, x.dtype)
        if math.isinf(pad) and DTYPES[x.dtype].kind != "float":
            return columns.only(element(columns.load(source)), pad)
        return element(columns.load(source, pad))

    index, state = fold_rows(kernel, x, layout, plan, fold, load)
    axis = Axis(result_dims(layout, axes, len(sink.shape)), index)
    sink.store(finish(state), Coordinates(sink.shape, (axis,)))


def result_dims(layout: Layout, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return the dims of a result of some rank that kept dims became."""
    if rank == len(layout.shape):
        return layout.kept
    return tuple(dim - sum(axis < dim for axis in axes) for dim in layout.kept)


def _pad(fold: Fold, dtype: str) -> float:
    """Return what does not change a reduction, as an element of a type."""
    if isinstance(fold, Plain) and fold.kind in ("max", "min"):
        return Plain(fold.kind, dtype).identities[0]
    return fold.identities[0]


def _plain(
    op: Op,
    kernel: KernelBuilder,
    x: Buffer,
    sink: Sink,
    fold: Plain,
    element: Change = lambda x: x,
    finish: Change = lambda total: total,
) -> None:
    def convert(number: Number) -> Number:
        return element(number.cast(fold.dtype))

    def result(state: list[Number]) -> Number:
        return finish(state[0]).cast(compute_dtype(x.dtype))

    reduce_dims(kernel, x, op.attributes["axes"], sink, fold, convert, result)


def _sum_dtype(dtype: str) -> str:
    return SUMS.get(dtype, dtype)


def _wide(dtype: str) -> str:
    """Return the float type that a reduction to a fraction is computed in."""
    return compute_dtype(dtype) if DTYPES[dtype].kind == "float" else "f64"


def _square(x: Number) -> Number:
    return x * x


@template(tri.ReduceSum)
def lower_reduce_sum(op: tri.ReduceSum, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    _plain(op, kernel, x, sink, Plain("sum", _sum_dtype(x.dtype)))


@template(tri.ReduceProd)
def lower_reduce_prod(op: tri.ReduceProd, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    _plain(op, kernel, x, sink, Plain("prod", _sum_dtype(x.dtype)))


@template(tri.ReduceMean)
def lower_reduce_mean(op: tri.ReduceMean, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    wide = {"int": "i64", "uint": "ui64"}.get(DTYPES[x.dtype].kind, compute_dtype(x.dtype))
    count = math.prod(x.shape[axis] for axis in op.axes)

    def divide(total: Number) -> Number:
        return total / count if count or total.is_float else total

    _plain(op, kernel, x, sink, Plain("sum", wide), finish=divide)


@template(tri.ReduceMax)
def lower_reduce_max(op: tri.ReduceMax, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    _plain(op, kernel, x, sink, Plain("max", _sum_dtype(x.dtype)))


@template(tri.ReduceMin)
def lower_reduce_min(op: tri.ReduceMin, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    _plain(op, kernel, x, sink, Plain("min", _sum_dtype(x.dtype)))


@template(tri.ReduceL1)
def lower_reduce_l1(op: tri.ReduceL1, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    # An i8 of -128 has no absolute value of its own type: it stays, as in the reference.
    def absolute(number: Number) -> Number:
        return number.cast(x.dtype).abs().cast(number.dtype)

    wide = DTYPES[x.dtype].kind == "float"
    fold = Plain("sum", _sum_dtype(x.dtype))
    _plain(op, kernel, x, sink, fold, Number.abs if wide else absolute)


@template(tri.ReduceSumSquare)
def lower_reduce_sum_square(
    op: tri.ReduceSumSquare, kernel: KernelBuilder, x: Buffer, sink: Sink
) -> None:
    _plain(op, kernel, x, sink, Plain("sum", _sum_dtype(x.dtype)), _square)


@template(tri.ReduceL2)
def lower_reduce_l2(op: tri.ReduceL2, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    fold = Plain("sum", _wide(x.dtype))
    _plain(op, kernel, x, sink, fold, _square, lambda total: total.apply("sqrt"))


@template(tri.ReduceLogSum)
def lower_reduce_log_sum(
    op: tri.ReduceLogSum, kernel: KernelBuilder, x: Buffer, sink: Sink
) -> None:
    fold = Plain("sum", _wide(x.dtype))
    _plain(op, kernel, x, sink, fold, finish=lambda total: total.apply("log"))


@template(tri.ReduceLogSumExp)
def lower_reduce_log_sum_exp(
    op: tri.ReduceLogSumExp, kernel: KernelBuilder, x: Buffer, sink: Sink
) -> None:
    fold = LogSum(_wide(x.dtype), finite=True)

    def finish(state: list[Number]) -> Number:
        top, total = state
        return (total.apply("log") + fold.shift(top)).cast(compute_dtype(x.dtype))

    reduce_dims(kernel, x, op.axes, sink, fold, lambda number: number.cast(fold.dtype), finish)
