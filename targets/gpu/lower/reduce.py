"""Lowerings of reductions, over any dims of a tensor."""

import math
from collections.abc import Callable, Mapping

from ....dialects import tri
from ....dialects.core.op import Op
from ....dialects.core.sizes.dim import highest
from ....dialects.core.tensor import DTYPES
from ...kernels.arithmetic import compute_dtype, float_dtype, mean_dtype
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.reductions import LogSumExp, Reduction, SimpleReduction
from ..kernels.rows import Columns, Layout, reduce_rows
from ..kernels.value import Value
from ..registry import template
from ..schedule.row_plan import reduction_plan

Change = Callable[[Value], Value]

SUMS = {
    **{"i1": "i32", "i8": "i32", "i16": "i32", "ui8": "ui32", "ui16": "ui32"},
    **{"f16": "f32", "bf16": "f32"},
}
"""The type that elements are reduced in, if it differs; overflow wraps around."""


def reduce_dims(
    kernel: KernelBuilder,
    x: Buffer,
    axes: tuple[int, ...],
    epilogue: Epilogue,
    reduction: Reduction,
    element: Change,
    finish: Callable[[list[Value]], Value],
) -> None:
    """Reduce the elements along some dims, and store `finish` of the state."""
    if 0 in epilogue.shape:
        return
    layout = Layout.of(x, axes)
    plan = reduction_plan(layout.rows, layout.length, layout.along)

    def load(columns: Columns, source: Buffer) -> Value:
        pad = _pad(reduction, x.dtype)
        if math.isinf(pad) and DTYPES[x.dtype].kind != "float":
            return columns.only(element(columns.load(source)), pad)
        return element(columns.load(source, pad))

    index, state = reduce_rows(kernel, x, layout, plan, reduction, load)
    axis = Axis(result_dims(layout, axes, len(epilogue.shape)), index)
    epilogue.store(finish(state), Coordinates(epilogue.shape, (axis,)))


def result_dims(layout: Layout, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return the dims of a result of some rank that kept dims became."""
    if rank == len(layout.shape):
        return layout.kept
    return tuple(dim - sum(axis < dim for axis in axes) for dim in layout.kept)


def _pad(reduction: Reduction, dtype: str) -> float:
    """Return the identity of a reduction, as an element of a type."""
    if isinstance(reduction, SimpleReduction) and reduction.kind in ("max", "min"):
        return SimpleReduction(reduction.kind, dtype).identities[0]
    return reduction.identities[0]


def _plain(
    op: Op,
    kernel: KernelBuilder,
    x: Buffer,
    epilogue: Epilogue,
    reduction: SimpleReduction,
    element: Change = lambda x: x,
    finish: Change = lambda total: total,
) -> None:
    def convert(number: Value) -> Value:
        return element(number.cast(reduction.dtype))

    def result(state: list[Value]) -> Value:
        return finish(state[0]).cast(compute_dtype(x.dtype))

    reduce_dims(kernel, x, op.attributes["axes"], epilogue, reduction, convert, result)


def _sum_dtype(dtype: str) -> str:
    return SUMS.get(dtype, dtype)


def _square(x: Value) -> Value:
    return x * x


SIMPLE: Mapping[type[Op], str] = {
    tri.ReduceSum: "sum",
    tri.ReduceProd: "prod",
    tri.ReduceMax: "max",
    tri.ReduceMin: "min",
}


@template(*SIMPLE)
def lower_simple(op: Op, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    _plain(op, kernel, x, epilogue, SimpleReduction(SIMPLE[type(op)], _sum_dtype(x.dtype)))


@template(tri.ReduceMean)
def lower_reduce_mean(
    op: tri.ReduceMean, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    wide = mean_dtype(x.dtype)
    count = math.prod(x.shape[axis] for axis in op.axes)

    def divide(total: Value) -> Value:
        if total.is_float:
            return total / count
        return total / highest(count, 1)  # a sum of no integers is 0

    _plain(op, kernel, x, epilogue, SimpleReduction("sum", wide), finish=divide)


@template(tri.ReduceL1)
def lower_reduce_l1(op: tri.ReduceL1, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    # An i8 of -128 has no absolute value of its type: it is unchanged, as in the reference.
    def absolute(number: Value) -> Value:
        return number.cast(x.dtype).abs().cast(number.dtype)

    wide = DTYPES[x.dtype].kind == "float"
    reduction = SimpleReduction("sum", _sum_dtype(x.dtype))
    _plain(op, kernel, x, epilogue, reduction, Value.abs if wide else absolute)


@template(tri.ReduceSumSquare)
def lower_reduce_sum_square(
    op: tri.ReduceSumSquare, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    _plain(op, kernel, x, epilogue, SimpleReduction("sum", _sum_dtype(x.dtype)), _square)


@template(tri.ReduceL2)
def lower_reduce_l2(op: tri.ReduceL2, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    reduction = SimpleReduction("sum", float_dtype(x.dtype))
    _plain(op, kernel, x, epilogue, reduction, _square, lambda total: total.apply("sqrt"))


@template(tri.ReduceLogSum)
def lower_reduce_log_sum(
    op: tri.ReduceLogSum, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    reduction = SimpleReduction("sum", float_dtype(x.dtype))
    _plain(op, kernel, x, epilogue, reduction, finish=lambda total: total.apply("log"))


@template(tri.ReduceLogSumExp)
def lower_reduce_log_sum_exp(
    op: tri.ReduceLogSumExp, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    reduction = LogSumExp(float_dtype(x.dtype), finite=True)

    def finish(state: list[Value]) -> Value:
        top, total = state
        return (total.apply("log") + reduction.shift(top)).cast(compute_dtype(x.dtype))

    reduce_dims(
        kernel, x, op.axes, epilogue, reduction, lambda number: number.cast(reduction.dtype), finish
    )
