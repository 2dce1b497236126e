"""Lowerings of determinants and inverses: Gaussian elimination with partial pivoting.

Source: Golub and Van Loan, Matrix Computations, 3.4.
"""

import math

from .....dialects import tri
from ....kernels.arithmetic import compute_dtype
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, carry, for_each
from ...kernels.loops import each
from ...kernels.value import Value, constant_of, strict_numbers
from ...kernels.windows import repeated
from ...registry import template
from .rows import Rows


@template(tri.Det)
def lower_det(op: tri.Det, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    """Multiply the pivots, in f64: products of many leave the range of f32."""
    dtype, size = compute_dtype(x.dtype), x.shape[-1]
    with strict_numbers():
        rows = Rows.of(kernel, x.shape[-2:], dtype, kernel.lanes(dtype))

        def one_matrix(at: list[IndexExpr]) -> None:
            rows.fill(x, at)

            def step(k: IndexExpr, now: list[Value]) -> list[Value]:
                pivot, swapped = rows.eliminate(k)
                factor = convert(pivot, "f64")
                return [now[0] * swapped.select(-factor, factor)]

            (product,) = carry(size, [Value(constant_of(1, "f64"), "f64")], step)
            y.store(convert(product, dtype), at)

        if math.prod(y.shape) != 0:
            each(y.shape, one_matrix)


@template(tri.Inverse)
def lower_inverse(op: tri.Inverse, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    """Eliminate the identity with each matrix, and substitute from the last row up."""
    dtype, size = compute_dtype(x.dtype), x.shape[-1]
    width = kernel.lanes(dtype, *y.dtypes)
    with strict_numbers():
        rows = Rows.of(kernel, x.shape[-2:], dtype, width, inverted=True)

        def one_matrix(at: list[IndexExpr]) -> None:
            rows.fill(x, at)
            one = Value(constant_of(1, dtype), dtype)

            def step(k: IndexExpr, now: list[Value]) -> list[Value]:
                pivot, _ = rows.eliminate(k)
                return [pivot.equal(0).select(pivot.like(math.nan), now[0])]

            # NaN where there is no inverse: each element is multiplied by this.
            (factor,) = carry(size, [one], step)
            for_each(size, lambda number: _substitute(rows, IndexExpr(size) - 1 - number))

            def store(i: IndexExpr) -> None:
                def block(j: IndexExpr, lanes: Lanes) -> None:
                    value = rows.memory.load([i, j + rows.padded], Lanes(width))
                    y.store(value * repeated(factor, lanes), [*at, i, j], lanes)

                rows.blocks(block)

            for_each(size, store)

        if math.prod(y.shape) != 0:
            each(y.shape[:-2], one_matrix)


def _substitute(rows: Rows, k: IndexExpr) -> None:
    """Solve for row `k` of the inverse, and subtract it from the rows above."""
    lanes = Lanes(rows.width)
    start = IndexExpr(rows.padded)
    pivot = repeated(rows.memory.load([k, k]), lanes)

    def scale(j: IndexExpr) -> None:
        rows.memory.store(rows.memory.load([k, j], lanes) / pivot, [k, j], lanes)

    rows.from_column(start, scale)
    for_each(k, lambda i: rows.subtract(i, k, rows.memory.load([i, k]), start))
