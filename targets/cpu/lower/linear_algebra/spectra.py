"""Lowerings of eigenvalues and singular values: rotations of two rows at a time, in f64.

Source: Golub and Van Loan, Matrix Computations, 8.5 and 8.6.3 (Jacobi's methods).
"""

import math
from collections.abc import Callable

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import (
    IndexExpr,
    carry,
    carry_while,
    for_each,
    greatest,
    index_of,
    when,
    when_else,
)
from ...kernels.loops import each
from ...kernels.value import Value, constant_of, strict_numbers
from ...registry import template
from .rows import Rows

DTYPE = "f64"
PRECISION = 2.0**-52
SWEEPS = 60
"""After so many passes over all pairs of rows it ends; about ten are needed."""

Pair = Callable[[IndexExpr, IndexExpr], Value]


@template(tri.Eigh)
def lower_eigh(
    op: tri.Eigh, kernel: KernelBuilder, x: Buffer, values: Epilogue, vectors: Epilogue
) -> None:
    """Rotate rows and columns until what is beside the diagonal is small against the matrix."""
    size = x.shape[-1]
    with strict_numbers():
        matrix = Rows.of(kernel, (size, size), DTYPE, kernel.lanes(DTYPE))
        turned = Rows.of(kernel, (size, size), DTYPE, matrix.width)
        places = kernel.private((size,), "i64")

        def one_matrix(at: list[IndexExpr]) -> None:
            matrix.clear()

            def element(i: IndexExpr, j: IndexExpr) -> Value:
                places = i.minimum(j), i.maximum(j)
                return _wide(x, [*at, *(places if op.upper else reversed(places))])

            is_finite, square = _fill(matrix, element)
            turned.fill_identity()
            least_size = square.apply("sqrt") * (PRECISION / 4)

            def rotate(p: IndexExpr, q: IndexExpr) -> Value:
                beside = matrix.memory.load([p, q])
                is_large = beside.abs().greater(least_size)

                def apply() -> None:
                    difference = matrix.memory.load([q, q]) - matrix.memory.load([p, p])
                    cosine, sine = _angle(difference, beside)
                    matrix.rotate(p, q, cosine, sine)
                    _rotate_columns(matrix, p, q, cosine, sine)
                    turned.rotate(p, q, cosine, sine)

                when(is_large, apply)
                return is_large

            _sweep(size, rotate)

            def number(i: IndexExpr) -> Value:
                return matrix.memory.load([i, i])

            for_each(size, lambda i: places.store(_rank(size, i, number), [i]))

            def store(i: IndexExpr) -> None:
                place = index_of(places.load([i]))
                values.store(_or_nan(is_finite, number(i), values), [*at, place])

                def each_row(j: IndexExpr) -> None:
                    part = turned.memory.load([i, j])
                    vectors.store(_or_nan(is_finite, part, vectors), [*at, j, place])

                for_each(size, each_row)

            for_each(size, store)

        each(x.shape[:-2], one_matrix)


@template(tri.Svd)
def lower_svd(
    op: tri.Svd, kernel: KernelBuilder, x: Buffer, u: Epilogue, s: Epilogue, vh: Epilogue
) -> None:
    """Rotate columns, which are rows in memory, until all are orthogonal: their lengths are left.

    Vectors of u for lengths of zero, and those behind all lengths, complete a basis.
    """
    height, count = x.shape[-2:]
    with strict_numbers():
        columns = Rows.of(kernel, (count, height), DTYPE, kernel.lanes(DTYPE))
        turned = Rows.of(kernel, (count, count), DTYPE, columns.width)
        left = Rows.of(kernel, (u.shape[-1], height), DTYPE, columns.width)
        lengths = kernel.private((greatest(count, 1),), DTYPE)
        order = kernel.private((greatest(count, 1),), "i64")

        def one_matrix(at: list[IndexExpr]) -> None:
            columns.clear()
            is_finite, square = _fill(columns, lambda j, i: _wide(x, [*at, i, j]))
            turned.fill_identity()
            left.clear()
            negligible = square * (PRECISION * PRECISION / 16)
            _sweep(count, lambda p, q: _orthogonalize(columns, turned, p, q, negligible))

            def measure(j: IndexExpr) -> None:
                length = columns.dot(j, columns, j, IndexExpr(0)).apply("sqrt")
                lengths.store(length, [j])

            for_each(count, measure)

            def place(j: IndexExpr) -> None:
                rank = _rank(count, j, lambda i: -lengths.load([i]))
                order.store(j.to_value("i64"), [index_of(rank)])

            for_each(count, place)
            least_length = square.apply("sqrt") * (PRECISION * 8)

            def vector(r: IndexExpr) -> None:
                j = index_of(order.load([r]))
                length = lengths.load([j])
                s.store(_or_nan(is_finite, length, s), [*at, r])

                def divide() -> None:
                    left.add(r, columns, j, 1 / length, IndexExpr(0))

                when_else(length.greater(least_length), divide, lambda: _complete(left, r))

            for_each(s.shape[-1], vector)
            for_each(u.shape[-1], lambda r: _complete(left, r), start=s.shape[-1])

            def store_left(i: IndexExpr) -> None:
                def element(r: IndexExpr) -> None:
                    u.store(_or_nan(is_finite, left.memory.load([r, i]), u), [*at, i, r])

                for_each(u.shape[-1], element)

            def store_right(r: IndexExpr) -> None:
                j = index_of(order.load([r]))

                def element(i: IndexExpr) -> None:
                    vh.store(_or_nan(is_finite, turned.memory.load([j, i]), vh), [*at, r, i])

                for_each(count, element)

            for_each(height, store_left)
            for_each(vh.shape[-2], store_right)

        each(x.shape[:-2], one_matrix)


def _wide(x: Buffer, at: list[IndexExpr]) -> Value:
    return convert(x.load(at), DTYPE)


def _or_nan(is_finite: Value, value: Value, result: Epilogue) -> Value:
    return convert(is_finite.select(value, math.nan), result.dtype)


def _fill(rows: Rows, element: Pair) -> tuple[Value, Value]:
    """Write elements of rows; return whether all are finite, and the sum of their squares."""
    zeros = [_number(0), _number(0)]

    def row(i: IndexExpr, sums: list[Value]) -> list[Value]:
        def one(j: IndexExpr, now: list[Value]) -> list[Value]:
            value = element(i, j)
            rows.memory.store(value, [i, j])
            return [now[0] + value * 0, now[1] + value * value]

        return carry(rows.size, sums, one)

    vanishing, square = carry(rows.count, zeros, row)
    return vanishing.equal(0), square


def _number(value: float, dtype: str = DTYPE) -> Value:
    return Value(constant_of(value, dtype), dtype)


def _sweep(count: Size, rotate: Pair) -> None:
    """Rotate all pairs of rows, again and again, until no pair was rotated."""

    def sweep(now: list[Value]) -> list[Value]:
        def first(p: IndexExpr, found: list[Value]) -> list[Value]:
            def second(q: IndexExpr, rotated: list[Value]) -> list[Value]:
                return [rotated[0].logical_or(rotate(p, q))]

            return carry(count, found, second, start=p + 1)

        (rotated,) = carry(count, [_number(0, "i1")], first)
        return [rotated, now[1] + 1]

    def goes_on(now: list[Value]) -> Value:
        return now[0].logical_and(now[1].less(SWEEPS))

    carry_while([_number(1, "i1"), _number(0, "i32")], goes_on, sweep)


def _angle(difference: Value, beside: Value) -> tuple[Value, Value]:
    """Return cosine and sine of the rotation that makes `beside` zero."""
    slope = difference / (beside * 2)
    tangent = 1 / (slope.abs() + (slope * slope + 1).apply("sqrt"))
    tangent = slope.less(0).select(-tangent, tangent)
    cosine = 1 / (tangent * tangent + 1).apply("sqrt")
    return cosine, tangent * cosine


def _rotate_columns(rows: Rows, p: IndexExpr, q: IndexExpr, cosine: Value, sine: Value) -> None:
    def row(i: IndexExpr) -> None:
        first, second = rows.memory.load([i, p]), rows.memory.load([i, q])
        rows.memory.store(first * cosine - second * sine, [i, p])
        rows.memory.store(first * sine + second * cosine, [i, q])

    for_each(rows.count, row)


def _orthogonalize(
    columns: Rows, turned: Rows, p: IndexExpr, q: IndexExpr, negligible: Value
) -> Value:
    """Rotate two columns that are neither orthogonal nor negligible; return whether they are."""
    start = IndexExpr(0)
    first, second = (columns.dot(each, columns, each, start) for each in (p, q))
    product = columns.dot(p, columns, q, start)
    bound = (first * second).apply("sqrt") * PRECISION
    is_skewed = product.abs().greater(bound)
    is_large = first.greater(negligible).logical_and(second.greater(negligible))
    rotates = is_skewed.logical_and(is_large)

    def apply() -> None:
        cosine, sine = _angle(second - first, product)
        columns.rotate(p, q, cosine, sine)
        turned.rotate(p, q, cosine, sine)

    when(rotates, apply)
    return rotates


def _rank(count: Size, i: IndexExpr, number: Callable[[IndexExpr], Value]) -> Value:
    """Return how many of some numbers come before one in ascending order."""
    own = number(i)

    def compare(j: IndexExpr, now: list[Value]) -> list[Value]:
        other = number(j)
        is_before = other.less(own).logical_or(other.equal(own).logical_and(j.less(i)))
        return [now[0] + is_before.cast("i64")]

    (rank,) = carry(count, [_number(0, "i64")], compare)
    return rank


def _complete(left: Rows, r: IndexExpr) -> None:
    """Make row `r` orthogonal to those before it, of the axis that these have least of."""

    def seek(i: IndexExpr, now: list[Value]) -> list[Value]:
        def add(c: IndexExpr, total: list[Value]) -> list[Value]:
            element = left.memory.load([c, i])
            return [total[0] + element * element]

        (part,) = carry(r, [_number(0)], add)
        wins = part.less(now[0])
        return [wins.select(part, now[0]), wins.select(i.to_value("i64"), now[1])]

    _, axis = carry(left.size, [_number(math.inf), _number(0, "i64")], seek)
    left.memory.store(_number(1), [r, index_of(axis)])
    start = IndexExpr(0)

    def subtract(c: IndexExpr) -> None:
        left.subtract(r, c, left.dot(r, left, c, start), start)

    for _ in range(2):  # once leaves errors of rounding
        for_each(r, subtract)
    length = left.dot(r, left, r, start).apply("sqrt")
    left.divide(r, length, start)
