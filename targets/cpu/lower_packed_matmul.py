"""Lowering of matrix products with packed weights."""

from ...dialects import cpu
from ...dialects.core.tensor import DTYPES
from .buffer import Buffer, Lanes
from .contraction import Contraction
from .costs import ALIASING
from .index import Index
from .kernel import KernelBuilder
from .number import Number, compute_dtype
from .panels import LINE, StoredPanel
from .registry import template
from .sink import Sink, each_vector
from .tiles import fit_tile


@template(cpu.PackedMatMul)
def lower_packed_mat_mul(
    op: cpu.PackedMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, y: Sink
) -> None:
    depth = a.shape[-1]
    rows = a.tensor.size // depth if depth else 0
    dtype = compute_dtype(a.dtype)
    tile = fit_tile(kernel.machine, dtype, rows, w.shape[2], op.rows)
    left = a.reshape((rows, depth))
    if rows > 1:
        left = spread_rows(kernel, left)
    sink = y.over((rows, op.columns))

    def finish(i: Index, j: Index, number: Number, lanes: Lanes) -> None:
        sink.store(number, [i, j], lanes)

    Contraction(
        rows,
        op.columns,
        (depth,),
        dtype,
        lambda rows, i, k: left.load([rows.first + i, *k]),
        StoredPanel(w, (depth,), tile, dtype=dtype),
        finish,
    ).emit(tile)


def spread_rows(kernel: KernelBuilder, matrix: Buffer) -> Buffer:
    """Copy a matrix to rows that are a cache line longer, where its own would alias."""
    rows, depth = matrix.shape
    size = DTYPES[matrix.dtype].bits // 8
    if not depth or depth * size % ALIASING:
        return matrix
    copy = kernel.scratch((rows, depth + LINE // size), matrix.dtype)

    def move(at: list[Index], lanes: Lanes | None) -> None:
        copy.store(matrix.load(at, lanes), at, lanes)

    each_vector((rows, depth), kernel.lanes(matrix.dtype), move)
    return copy
