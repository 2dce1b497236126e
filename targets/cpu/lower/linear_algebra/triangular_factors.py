"""Lowerings of triangular factors: Cholesky's, and those of Gaussian elimination.

Sources: Golub and Van Loan, Matrix Computations, 3.4 and 4.2.
"""

import math

from .....dialects import tri
from ....kernels.arithmetic import compute_dtype
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, carry, for_each, index_of, when
from ...kernels.loops import each
from ...kernels.value import Value, constant_of, strict_numbers
from ...registry import template
from .rows import Rows


@template(tri.Cholesky)
def lower_cholesky(
    op: tri.Cholesky, kernel: KernelBuilder, x: Buffer, y: Epilogue, info: Epilogue
) -> None:
    """Eliminate the rows of the upper factor; of the lower one, they are the columns."""
    dtype, size = compute_dtype(x.dtype), x.shape[-1]
    with strict_numbers():
        rows = Rows.of(kernel, x.shape[-2:], dtype, kernel.lanes(dtype, *y.dtypes))

        def one_matrix(at: list[IndexExpr]) -> None:
            rows.fill(x, at) if op.upper else rows.fill_transposed(x, at)

            def step(k: IndexExpr, now: list[Value]) -> list[Value]:
                pivot = rows.memory.load([k, k])
                rows.divide(k, pivot.apply("sqrt"), k)

                def below(i: IndexExpr) -> None:
                    rows.subtract(i, k, rows.memory.load([k, i]), i)

                for_each(size, below, start=k + 1)
                is_first = now[0].equal(0).logical_and(pivot.greater(0).invert())
                return [is_first.select((k + 1).to_value("i32"), now[0])]

            (failed,) = carry(size, [Value(constant_of(0, "i32"), "i32")], step)
            info.store(failed, at)
            is_valid = failed.equal(0)

            def store(i: IndexExpr) -> None:
                def element(j: IndexExpr) -> None:
                    value = rows.memory.load([i, j] if op.upper else [j, i])
                    is_kept = i.less(j + 1) if op.upper else j.less(i + 1)
                    value = is_kept.select(value, 0)
                    y.store(is_valid.select(value, math.nan), [*at, i, j])

                for_each(size, element)

            for_each(size, store)

        each(x.shape[:-2], one_matrix)


@template(tri.Lu)
def lower_lu(
    op: tri.Lu, kernel: KernelBuilder, x: Buffer, y: Epilogue, pivots: Epilogue, info: Epilogue
) -> None:
    """Eliminate each column with its greatest pivot, and store the factors in its place."""
    dtype = compute_dtype(x.dtype)
    width = kernel.lanes(dtype, *y.dtypes)
    with strict_numbers():
        rows = Rows.of(kernel, x.shape[-2:], dtype, width)

        def one_matrix(at: list[IndexExpr]) -> None:
            rows.fill(x, at)

            def step(k: IndexExpr, now: list[Value]) -> list[Value]:
                row = rows.pivot(k)
                pivots.store((row + 1).to_value("i32"), [*at, k])
                rows.swap(k, row, IndexExpr(0))
                pivot = rows.memory.load([k, k])

                def below(i: IndexExpr) -> None:
                    factor = rows.memory.load([i, k]) / pivot
                    rows.memory.store(factor, [i, k])
                    rows.subtract_after(i, k, factor, k + 1)

                is_zero = pivot.equal(0)
                when(is_zero.invert(), lambda: for_each(rows.count, below, start=k + 1))
                is_first = now[0].equal(0).logical_and(is_zero)
                return [is_first.select((k + 1).to_value("i32"), now[0])]

            zero = Value(constant_of(0, "i32"), "i32")
            (singular,) = carry(pivots.shape[-1], [zero], step)
            info.store(singular, at)

            def store(i: IndexExpr) -> None:
                def block(j: IndexExpr, lanes: Lanes) -> None:
                    y.store(rows.memory.load([i, j], Lanes(width)), [*at, i, j], lanes)

                rows.blocks(block)

            for_each(rows.count, store)

        each(x.shape[:-2], one_matrix)


@template(tri.PivotsToPermutation)
def lower_pivots_to_permutation(
    op: tri.PivotsToPermutation, kernel: KernelBuilder, pivots: Buffer, y: Epilogue
) -> None:
    """Swap numbers in private memory, one pivot after the other."""
    order = kernel.private((op.size,), "i64")

    def one_list(at: list[IndexExpr]) -> None:
        for_each(op.size, lambda i: order.store(i.to_value("i64"), [i]))

        def swap(k: IndexExpr) -> None:
            place = index_of(convert(pivots.load([*at, k]), "i64") - 1)
            place = place.maximum(0).minimum(op.size - 1)
            first, second = order.load([k]), order.load([place])
            order.store(second, [k])
            order.store(first, [place])

        for_each(pivots.shape[-1], swap)
        for_each(op.size, lambda i: y.store(order.load([i]), [*at, i]))

    each(pivots.shape[:-1], one_list)
