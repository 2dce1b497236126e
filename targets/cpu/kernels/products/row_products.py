"""Products of a few rows with many others, along both: neither matrix is transposed."""

from collections.abc import Sequence
from typing import TypeAlias

from .....dialects.core.tensor import DTYPES
from ..buffer import Buffer, Lanes, tail_mask, vector
from ..index import IndexExpr
from ..value import Value
from .panels import LINE

Columns: TypeAlias = list[tuple[int, Lanes]]
"""The vectors of a row: the first column of each, and its lanes."""


def columns_of(size: int, width: int) -> Columns:
    """Return the vectors of rows of a size; the last one is masked where it is not whole."""
    full = size // width * width
    listed = [(column, Lanes(width)) for column in range(0, full, width)]
    if size > full:
        listed.append((full, Lanes(width, tail_mask(width, size - full))))
    return listed


def row_products(
    left: Buffer, numbers: Sequence[IndexExpr], right: Buffer, rows: Sequence[IndexExpr]
) -> list[Value]:
    """Return the products of rows of `left` and `right`: for each number, a vector over `rows`.

    There are as many `rows` as a vector has lanes.
    """
    width = len(rows)
    columns = columns_of(right.shape[-1], width)
    pending: list[dict[int, Value]] = [{} for _ in numbers]
    for row in rows:
        totals = _partial_sums(left, numbers, right, row, columns)
        for levels, total in zip(pending, totals, strict=True):
            step = 1
            while step in levels:
                total = _joined(levels.pop(step), total, width, step)
                step *= 2
            levels[step] = total
    return [levels[width] for levels in pending]


def _partial_sums(
    left: Buffer, numbers: Sequence[IndexExpr], right: Buffer, row: IndexExpr, columns: Columns
) -> list[Value]:
    """Return the products of rows with another one, whose lanes are still to be summed up."""
    sums: list[Value] = []
    for column, lanes in columns:
        loaded = right.load([row, IndexExpr(column)], lanes)
        factors = [left.load([number, IndexExpr(column)], lanes) for number in numbers]
        if not sums:
            sums = [factor * loaded for factor in factors]
        else:
            pairs = zip(factors, sums, strict=True)
            sums = [factor.fma(loaded, total) for factor, total in pairs]
    return sums


def _joined(a: Value, b: Value, width: int, step: int) -> Value:
    """Sum up pairs of lanes that are `step` apart: of a where a lane's bit is 0, else of b."""
    lanes = range(width)
    low = [lane if not lane & step else width + lane - step for lane in lanes]
    high = [lane + step if not lane & step else width + lane for lane in lanes]
    one, other = (vector.shuffle(a.ssa, b.ssa, order) for order in (low, high))
    return a.with_ssa(one) + a.with_ssa(other)


def rows_from(matrix: Buffer, first: IndexExpr) -> Buffer:
    """View a matrix from a row on."""
    offset = matrix.position([first, IndexExpr(0)])
    return Buffer(matrix.memory, matrix.tensor, matrix.strides, offset)


def prefetch_row(matrix: Buffer, row: IndexExpr) -> None:
    """Prefetch a row, which may be outside of the memory."""
    line = LINE // DTYPES[matrix.dtype].itemsize
    for column in range(0, matrix.shape[-1], line):
        matrix.prefetch(matrix.position([row, IndexExpr(column)]))
