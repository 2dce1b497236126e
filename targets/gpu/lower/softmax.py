"""Lowerings of softmax, its logarithm, and the choice of the greatest element."""

from ....dialects import tri
from ....dialects.core.tensor import normalize_axis
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.normalization import change_rows
from ..kernels.reductions import ArgReduction, LogSumExp
from ..kernels.rows import Columns
from ..kernels.value import Value, compute_dtype
from ..registry import template


@template(tri.Softmax)
def lower_softmax(op: tri.Softmax, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    reduction = LogSumExp(compute_dtype(x.dtype))

    def prepare(state: list[Value]) -> list[Value]:
        top, total = state
        return [reduction.shift(top), 1 / total]

    def change(columns: Columns, number: Value, row: list[Value]) -> Value:
        return (number - row[0]).apply("exp") * row[1]

    axes = (normalize_axis(op.axis, len(x.shape)),)
    change_rows(kernel, x, axes, y, reduction, change, prepare=prepare)


@template(tri.LogSoftmax)
def lower_log_softmax(op: tri.LogSoftmax, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    reduction = LogSumExp(compute_dtype(x.dtype))

    def prepare(state: list[Value]) -> list[Value]:
        top, total = state
        return [top, total.apply("log")]

    def change(columns: Columns, number: Value, row: list[Value]) -> Value:
        return number - row[0] - row[1]

    axes = (normalize_axis(op.axis, len(x.shape)),)
    change_rows(kernel, x, axes, y, reduction, change, prepare=prepare)


@template(tri.Hardmax)
def lower_hardmax(op: tri.Hardmax, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    dtype = compute_dtype(x.dtype)

    def change(columns: Columns, number: Value, row: list[Value]) -> Value:
        return columns.index.equal(row[0]).cast(dtype)

    axes = (normalize_axis(op.axis, len(x.shape)),)
    reduction = ArgReduction("max", dtype)
    change_rows(kernel, x, axes, y, reduction, change, prepare=lambda state: [state[1]])
