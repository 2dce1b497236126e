"""Lowerings of Householder reflections: the columns of a matrix are rows in private memory.

Source: Golub and Van Loan, Matrix Computations, 5.1 and 5.2; LAPACK `larfg` for signs.
"""

from collections.abc import Callable

from .....dialects import tri
from ....kernels.arithmetic import compute_dtype
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, carry, for_each
from ...kernels.loops import each
from ...kernels.value import Value, constant_of, strict_numbers
from ...registry import template
from .rows import Rows

Reader = Callable[[IndexExpr], Value]


@template(tri.HouseholderQr)
def lower_householder_qr(
    op: tri.HouseholderQr, kernel: KernelBuilder, x: Buffer, y: Epilogue, tau: Epilogue
) -> None:
    """Reflect the columns behind each one by the reflection that makes it a triangle's."""
    dtype = compute_dtype(x.dtype)
    height, count = x.shape[-2:]
    with strict_numbers():
        columns = Rows.of(kernel, (count, height), dtype, kernel.lanes(dtype))
        vector = Rows.of(kernel, (1, height), dtype, columns.width)

        def one_matrix(at: list[IndexExpr]) -> None:
            columns.fill_transposed(x, at)

            def step(k: IndexExpr) -> None:
                first = columns.memory.load([k, k])
                length = _length_below(columns, k)
                is_done = length.equal(0)
                square = convert(first, "f64") * convert(first, "f64")
                whole = convert((square + length * length).apply("sqrt"), dtype)
                beta = is_done.select(first, first.less(0).select(whole, -whole))
                share = is_done.select(first.like(0), (beta - first) / beta)
                divisor = is_done.select(first.like(1), first - beta)
                _write(vector, k, lambda i: columns.memory.load([k, i]) / divisor)
                for_each(count, lambda j: _reflect(columns, vector, j, k, share), start=k + 1)
                columns.memory.store(beta, [k, k])
                for_each(
                    height,
                    lambda i: columns.memory.store(vector.memory.load([IndexExpr(0), i]), [k, i]),
                    start=k + 1,
                )
                tau.store(share, [*at, k])

            for_each(tau.shape[-1], step)
            _store_transposed(columns, y, at)

        each(x.shape[:-2], one_matrix)


@template(tri.HouseholderProduct)
def lower_householder_product(
    op: tri.HouseholderProduct, kernel: KernelBuilder, x: Buffer, tau: Buffer, y: Epilogue
) -> None:
    """Reflect the columns of an identity, by the last reflection first."""
    dtype = compute_dtype(x.dtype)
    height, count = x.shape[-2:]
    with strict_numbers():
        columns = Rows.of(kernel, (count, height), dtype, kernel.lanes(dtype))
        vector = Rows.of(kernel, (1, height), dtype, columns.width)

        def one_matrix(at: list[IndexExpr]) -> None:
            columns.fill_identity()

            def step(number: IndexExpr) -> None:
                k = IndexExpr(tau.shape[-1]) - 1 - number
                share = convert(tau.load([*at, k]), dtype)
                _write(vector, k, lambda i: convert(x.load([*at, i, k]), dtype))
                for_each(count, lambda j: _reflect(columns, vector, j, k, share), start=k)

            for_each(tau.shape[-1], step)
            _store_transposed(columns, y, at)

        each(x.shape[:-2], one_matrix)


def _length_below(columns: Rows, k: IndexExpr) -> Value:
    """Return the length of column `k` below the diagonal, in f64: squares leave f32's range."""

    def add(i: IndexExpr, now: list[Value]) -> list[Value]:
        element = convert(columns.memory.load([k, i]), "f64")
        return [now[0] + element * element]

    start = [Value(constant_of(0, "f64"), "f64")]
    (total,) = carry(columns.size, start, add, start=k + 1)
    return total.apply("sqrt")


def _write(vector: Rows, k: IndexExpr, element: Reader) -> None:
    """Write the vector of reflection `k`: 1 at place k, and elements behind it."""
    row = IndexExpr(0)
    vector.clear()
    one = Value(constant_of(1, vector.memory.dtype), vector.memory.dtype)
    vector.memory.store(one, [row, k])
    for_each(vector.size, lambda i: vector.memory.store(element(i), [row, i]), start=k + 1)


def _reflect(columns: Rows, vector: Rows, j: IndexExpr, k: IndexExpr, share: Value) -> None:
    """Subtract from column `j` its part along the vector of reflection `k`, times `share`."""
    part = columns.dot(j, vector, IndexExpr(0), k)
    columns.add(j, vector, IndexExpr(0), -(part * share), k)


def _store_transposed(columns: Rows, y: Epilogue, at: list[IndexExpr]) -> None:
    def row(i: IndexExpr) -> None:
        for_each(columns.count, lambda j: y.store(columns.memory.load([j, i]), [*at, i, j]))

    for_each(columns.size, row)
