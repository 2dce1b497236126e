"""Lowerings of matrix products."""

from collections.abc import Sequence

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.tensor import broadcast, is_float
from ..kernels.block_factor import BlockMatrix, WideMatrix
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.chosen_factor import ChosenMatrix
from ..kernels.contraction import Contraction, Finish, contract
from ..kernels.coordinates import Coordinates
from ..kernels.depth import FlatDepth
from ..kernels.epilogue import Epilogue
from ..kernels.factor import Matrix, as_stored
from ..kernels.value import Value
from ..registry import accepts, template


@template(tri.MatMul)
def lower_mat_mul(op: tri.MatMul, kernel: KernelBuilder, a: Buffer, b: Buffer, y: Epilogue) -> None:
    left = a if len(a.shape) > 1 else a.split((1, *a.shape))
    right = b if len(b.shape) > 1 else b.split((*b.shape, 1))
    batch = broadcast(left.shape[:-2], right.shape[:-2])
    left = left.broadcast_to((*batch, *left.shape[-2:]))
    right = right.broadcast_to((*batch, *right.shape[-2:]))
    _multiply(kernel, left, right, y.reshape((*batch, left.shape[-2], right.shape[-1])))


@accepts(tri.Gemm)
def whole_scales_for_integers(op: tri.Gemm) -> bool:
    """Scales products of integers only by whole numbers"""
    whole = op.alpha.is_integer() and op.beta.is_integer()
    return whole or is_float(tensor_of(op.y.type).dtype)


@template(tri.Gemm)
def lower_gemm(
    op: tri.Gemm, kernel: KernelBuilder, a: Buffer, b: Buffer, c: Buffer | None, y: Epilogue
) -> None:
    bias = None if c is None else c.broadcast_to(y.shape)

    def finish(number: Value, at: Coordinates) -> Value:
        number = number if op.alpha == 1 else number * op.alpha
        if bias is None:
            return number
        term = bias.load(at)
        return number + (term if op.beta == 1 else term * op.beta)

    left = a.transpose((1, 0)) if op.trans_a else a
    right = b.transpose((1, 0)) if op.trans_b else b
    _multiply(kernel, left, right, y, finish)


@template(tri.Linear)
def lower_linear(
    op: tri.Linear, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    left = x if len(x.shape) > 1 else x.split((1, *x.shape))
    epilogue = y.reshape((*left.shape[:-1], w.shape[0]))
    bias = None if b is None else b.broadcast_to(epilogue.shape)

    def finish(number: Value, at: Coordinates) -> Value:
        return number if bias is None else number + bias.load(at)

    right = w.transpose((1, 0)).broadcast_to((*left.shape[:-2], *reversed(w.shape)))
    _multiply(kernel, left, right, epilogue, finish)


@accepts(tri.BlockQuantizedMatMul)
def exact_activations(op: tri.BlockQuantizedMatMul) -> bool:
    """Multiplies only activations that are not rounded by matrices of few bits"""
    return not op.activations


@template(tri.BlockQuantizedMatMul)
def lower_block_quantized_mat_mul(
    op: tri.BlockQuantizedMatMul,
    kernel: KernelBuilder,
    a: Buffer,
    w: Buffer,
    scales: Buffer,
    zero_points: Buffer | None,
    y: Epilogue,
) -> None:
    """Take numbers out of bytes in registers; no matrix of floats is stored."""
    column = len(y.shape) - 1
    rows = _as_they_lie(y, range(column))
    contract(
        kernel,
        Contraction(
            y,
            (),
            rows,
            (column,),
            left=WideMatrix(a, (), rows, (column,)),
            right=BlockMatrix(w, scales, zero_points, op.bits, op.block),
            depth=FlatDepth(a.shape[-1]),
        ),
    )


@template(tri.IndexedMatMul)
def lower_indexed_mat_mul(
    op: tri.IndexedMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, index: Buffer, y: Epilogue
) -> None:
    """Multiply each row alone: a row is an element of a batch of products."""
    rows, depth = a.shape
    batch, row, column = (0,), (1,), (2,)
    whole = (rows, 1, w.shape[2])
    chosen = index.split((rows, 1, 1)).broadcast_to(whole)

    def finish(number: Value, at: Coordinates) -> Value:
        place = chosen.load(at)
        is_there = place.greater_equal(0).logical_and(place.less(w.shape[0]))
        return is_there.select(number, 0)

    contract(
        kernel,
        Contraction(
            y.reshape(whole),
            batch,
            row,
            column,
            left=Matrix(a.split((rows, 1, depth)), batch, row, column),
            right=ChosenMatrix(w, index),
            depth=FlatDepth(depth),
            finish=finish,
        ),
    )


def _multiply(
    kernel: KernelBuilder,
    left: Buffer,
    right: Buffer,
    y: Epilogue,
    finish: Finish = lambda number, at: number,
) -> None:
    """Multiply [batch…, M, K] by [batch…, K, N]; a stride of 0 repeats a matrix for the batch.

    A matrix that serves the whole batch is multiplied once, by one tall or wide matrix.
    """
    left, right = as_stored(left, right)
    row = len(y.shape) - 2
    column = row + 1
    dims = tuple(dim for dim in range(row) if y.shape[dim] != 1)
    batch, rows, columns = dims, (row,), (column,)
    if not any(right.varies(dim) for dim in dims):
        batch, rows = (), _as_they_lie(y, (*dims, row))
    elif not any(left.varies(dim) for dim in dims):
        batch, columns = (), _as_they_lie(y, (*dims, column))
    contract(
        kernel,
        Contraction(
            y,
            batch,
            rows,
            columns,
            left=Matrix(left, batch, rows, (column,)),
            right=Matrix(right, batch, columns, (row,)),
            depth=FlatDepth(left.shape[-1]),
            finish=finish,
        ),
    )


def _as_they_lie(y: Epilogue, dims: Sequence[int]) -> tuple[int, ...]:
    """Sort dims of the result by their order in memory, outermost first."""
    return tuple(dim for dim in y.order if dim in dims)
