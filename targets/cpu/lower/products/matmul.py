"""Lowerings of matrix products."""

import math
from collections.abc import Callable, Sequence

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.sizes.limits import at_least
from .....dialects.core.tensor import is_float
from ....kernels.arithmetic import compute_dtype
from ....memory.strides import row_major
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr
from ...kernels.loops import each
from ...kernels.products.contraction import Contraction
from ...kernels.products.panels import matrix_panel
from ...kernels.value import Value
from ...kernels.widened import widened
from ...registry import accepts, template
from ...schedule.tiles import choose_tile


@template(tri.MatMul)
def lower_matmul(op: tri.MatMul, kernel: KernelBuilder, a: Buffer, b: Buffer, y: Epilogue) -> None:
    """Run one contraction for each matrix of the batch."""
    left = widened(kernel, a if len(a.shape) > 1 else a.reshape((1, *a.shape)))
    right = b if len(b.shape) > 1 else b.reshape((*b.shape, 1))
    rows, columns = left.shape[-2], right.shape[-1]
    batch = y.shape[: max(len(left.shape), len(right.shape)) - 2]
    if not at_least(1, rows) and all(size == 1 for size in right.shape[:-2]) and _stacked(left):
        # The same matrix serves the whole batch: its rows are those of one tall matrix.
        rows = math.prod(left.shape[:-1])
        left, batch = left.reshape((rows, left.shape[-1])), ()
    left = left.broadcast_to((*batch, rows, left.shape[-1]))
    right = right.reshape(right.shape[-2:]) if not batch else right
    right = right.broadcast_to((*batch, right.shape[-2], columns))
    epilogue = y.reshape((*batch, rows, columns))
    each(batch, lambda at: _product(kernel, left, right, epilogue, at))


def _stacked(matrices: Buffer) -> bool:
    """Return whether there are several matrices, one after the other without gaps."""
    return len(matrices.shape) > 2 and matrices.strides == row_major(matrices.shape)


def _product(
    kernel: KernelBuilder,
    left: Buffer,
    right: Buffer,
    epilogue: Epilogue,
    batch: Sequence[IndexExpr],
) -> None:
    def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
        epilogue.store(value, [*batch, i, j], lanes)

    emit_matrix_product(kernel, left.part(batch), right.part(batch), finish)


Finish = Callable[[IndexExpr, IndexExpr, Value, Lanes], None]


def emit_matrix_product(
    kernel: KernelBuilder,
    left: Buffer,
    right: Buffer,
    finish: Finish,
) -> None:
    """Emit the product of two matrices in memory, with any strides."""
    rows, depth = left.shape
    dtype = compute_dtype(left.dtype)
    tile = choose_tile(kernel.machine, dtype, rows, right.shape[1])
    Contraction(
        rows,
        right.shape[1],
        (depth,),
        dtype,
        lambda rows, i, k: left.load([rows.first + i, *k]),
        matrix_panel(kernel, right, dtype, rows, tile),
        finish,
    ).emit(tile)


@accepts(tri.Gemm)
def whole_scales_for_integers(op: tri.Gemm) -> bool:
    """Scales products of integers only by whole numbers"""
    whole = op.alpha.is_integer() and op.beta.is_integer()
    return whole or is_float(tensor_of(op.y.type).dtype)


@template(tri.Gemm)
def lower_gemm(
    op: tri.Gemm, kernel: KernelBuilder, a: Buffer, b: Buffer, c: Buffer | None, y: Epilogue
) -> None:
    left = widened(kernel, a.transpose((1, 0)) if op.trans_a else a)
    right = b.transpose((1, 0)) if op.trans_b else b
    alpha, beta = op.alpha, op.beta
    bias = None if c is None else c.broadcast_to(y.shape)

    def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
        scaled = value if alpha == 1 else value * alpha
        if bias is not None:
            term = bias.load([i, j], lanes)
            scaled = scaled + (term if beta == 1 else term * beta)
        y.store(scaled, [i, j], lanes)

    emit_matrix_product(kernel, left, right, finish)
