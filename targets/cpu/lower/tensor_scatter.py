"""Lowerings of ops that write rows from a place on that another tensor names.

Rows outside of the axis are left out: the kernels have nobody to tell, and must not leave their
buffers.
"""

import math

from ....dialects import cpu, tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import normalize_axis
from ...element_types import MOVES
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, index_of, when
from ..kernels.loops import each
from ..kernels.value import Value
from ..registry import template


@template(tri.TensorScatter, types=MOVES)
def lower_tensor_scatter(
    op: tri.TensorScatter,
    kernel: KernelBuilder,
    x: Buffer,
    updates: Buffer,
    starts: Buffer,
    counts: Buffer | None,
    epilogue: Epilogue,
) -> None:
    def write(y: Buffer) -> None:
        whole = (math.prod(x.shape),)
        source, target = x.reshape(whole), y.reshape(whole)
        width = kernel.lanes(x.dtype)
        each_vector(whole, width, lambda at, lanes: target.store(source.load(at, lanes), at, lanes))
        _write_rows(op, kernel, y, updates, starts, counts)

    epilogue.materialize(write)


@template(cpu.TensorScatter, types=MOVES)
def lower_in_place(
    op: cpu.TensorScatter,
    kernel: KernelBuilder,
    x: Buffer,
    updates: Buffer,
    starts: Buffer,
    counts: Buffer | None,
    epilogue: Epilogue,
) -> None:
    epilogue.materialize(lambda y: _write_rows(op, kernel, y, updates, starts, counts))


def _write_rows(
    op: tri.TensorScatter | cpu.TensorScatter,
    kernel: KernelBuilder,
    y: Buffer,
    updates: Buffer,
    starts: Buffer,
    counts: Buffer | None,
) -> None:
    """Write rows of updates over those of y, each in one iteration."""
    axis = normalize_axis(op.axis, len(y.shape))
    entries, size, length = y.shape[0], y.shape[axis], updates.shape[axis]
    outer, inner = math.prod(y.shape[1:axis]), math.prod(y.shape[axis + 1 :])
    rows = y.reshape((entries, outer, size, inner))
    new = updates.reshape((entries, outer, length, inner))
    width = kernel.lanes(y.dtype)

    def write(at: list[IndexExpr]) -> None:
        entry, head, number = at
        start = starts.load([entry]).cast("i64")
        row = _wrapped(start, size) if op.circular else start
        row = row + number.to_value("i64")
        if op.circular:
            row = row.less(size).select(row, row - size)
        is_row = row.greater_equal(0).logical_and(row.less(size))
        if counts is not None:
            count = counts.load([entry]).cast("i64")
            is_row = is_row.logical_and(count.greater(number.to_value("i64")))
        target, source = rows.part([entry, head, index_of(row)]), new.part(at)
        when(
            is_row,
            lambda: each_vector(
                (inner,), width, lambda i, lanes: target.store(source.load(i, lanes), i, lanes)
            ),
        )

    each((entries, outer, length), write)


def _wrapped(row: Value, size: Size) -> Value:
    """Return the row of a circular axis that any integer names."""
    rest = row.remainder(row.like(size))
    return rest.less(0).select(rest + size, rest)
