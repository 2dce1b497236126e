"""Lowerings of softmax, its logarithm, and the choice of the greatest element."""

from ....dialects import tri
from ....dialects.core.tensor import normalize_axis
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Sink
from ..kernels.normalization import change_rows
from ..kernels.reductions import Extreme, LogSum
from ..kernels.rows import Columns
from ..kernels.value import Number, compute_dtype
from ..registry import template


@template(tri.Softmax)
def lower_softmax(op: tri.Softmax, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    fold = LogSum(compute_dtype(x.dtype))

    def prepare(state: list[Number]) -> list[Number]:
        top, total = state
        return [fold.shift(top), 1 / total]

    def change(columns: Columns, number: Number, row: list[Number]) -> Number:
        return (number - row[0]).apply("exp") * row[1]

    axes = (normalize_axis(op.axis, len(x.shape)),)
    change_rows(kernel, x, axes, y, fold, change, prepare=prepare)


@template(tri.LogSoftmax)
def lower_log_softmax(op: tri.LogSoftmax, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    fold = LogSum(compute_dtype(x.dtype))

    def prepare(state: list[Number]) -> list[Number]:
        top, total = state
        return [top, total.apply("log")]

    def change(columns: Columns, number: Number, row: list[Number]) -> Number:
        return number - row[0] - row[1]

    axes = (normalize_axis(op.axis, len(x.shape)),)
    change_rows(kernel, x, axes, y, fold, change, prepare=prepare)


@template(tri.Hardmax)
def lower_hardmax(op: tri.Hardmax, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    dtype = compute_dtype(x.dtype)

    def change(columns: Columns, number: Number, row: list[Number]) -> Number:
        return columns.index.equal(row[0]).cast(dtype)

    axes = (normalize_axis(op.axis, len(x.shape)),)
    fold = Extreme("max", dtype)
    change_rows(kernel, x, axes, y, fold, change, prepare=lambda state: [state[1]])
