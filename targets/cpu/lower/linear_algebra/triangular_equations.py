"""Lowering of equations whose matrix is a triangle: substitution by rows.

Source: Golub and Van Loan, Matrix Computations, 3.1.
"""

from .....dialects import tri
from ....kernels.arithmetic import compute_dtype
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, for_each
from ...kernels.loops import each
from ...kernels.value import strict_numbers
from ...registry import template
from .rows import Rows


@template(tri.SolveTriangular)
def lower_solve_triangular(
    op: tri.SolveTriangular, kernel: KernelBuilder, x: Buffer, b: Buffer, y: Epilogue
) -> None:
    """Solve for one row after the other, and subtract each from those that are left."""
    dtype, size = compute_dtype(b.dtype), x.shape[-1]
    width = kernel.lanes(dtype, *y.dtypes)
    with strict_numbers():
        rows = Rows.of(kernel, b.shape[-2:], dtype, width)

        def one_matrix(at: list[IndexExpr]) -> None:
            rows.fill(b, at)

            def step(number: IndexExpr) -> None:
                k = IndexExpr(size) - 1 - number if op.upper else number
                if not op.unit_diagonal:
                    rows.divide(k, convert(x.load([*at, k, k]), dtype), IndexExpr(0))

                def left(i: IndexExpr) -> None:
                    factor = convert(x.load([*at, i, k]), dtype)
                    rows.subtract(i, k, factor, IndexExpr(0))

                if op.upper:
                    for_each(k, left)
                else:
                    for_each(size, left, start=k + 1)

            for_each(size, step)

            def store(i: IndexExpr) -> None:
                def block(j: IndexExpr, lanes: Lanes) -> None:
                    y.store(rows.memory.load([i, j], Lanes(width)), [*at, i, j], lanes)

                rows.blocks(block)

            for_each(size, store)

        each(b.shape[:-2], one_matrix)
