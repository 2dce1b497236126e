"""Products of a few rows with many others, along both: neither matrix is transposed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .....dialects.core.tensor import DTYPES, Shape
from ..buffer import Buffer, Lanes, tail_mask
from ..index import IndexExpr, for_each, rolled
from ..reduction import sorted_lanes
from ..value import Value, strict_numbers
from .contraction import splat

AHEAD = 4 << 10
"""How many bytes before they are read rows are prefetched.

Processors foresee rows that follow one another, but not far enough: there is much to do for each.
"""

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

    There are as many `rows` as a vector has lanes. Those of `right` may be integers.
    """
    width = len(rows)
    columns = columns_of(right.shape[-1], width)
    pending: list[dict[int, Value]] = [{} for _ in numbers]
    for row in rows:
        totals = _partial_sums(left, numbers, right, row, columns)
        for levels, total in zip(pending, totals, strict=True):
            step = 1
            while step in levels:
                one, other = sorted_lanes(levels.pop(step), total, step)
                total = one + other
                step *= 2
            levels[step] = total
    return [levels[width] for levels in pending]


def _partial_sums(
    left: Buffer, numbers: Sequence[IndexExpr], right: Buffer, row: IndexExpr, columns: Columns
) -> list[Value]:
    """Return the products of rows with another one, whose lanes are still to be summed up."""
    sums: list[Value] = []
    for column, lanes in columns:
        factors = [left.load([number, IndexExpr(column)], lanes) for number in numbers]
        loaded = right.load([row, IndexExpr(column)], lanes).cast(factors[0].dtype)
        sums = _added([(factor, loaded) for factor in factors], sums)
    return sums


def _added(pairs: Sequence[tuple[Value, Value]], sums: list[Value]) -> list[Value]:
    """Add products to sums, or begin these: the first product is rounded by itself."""
    if sums:
        return [a.fma(b, total) for (a, b), total in zip(pairs, sums, strict=True)]
    with strict_numbers():
        return [a * b for a, b in pairs]


def prefetch_row(matrix: Buffer, row: IndexExpr) -> None:
    """Prefetch a later row than one that is read now, into the first-level cache."""
    size = matrix.shape[-1]
    later = row + max(1, AHEAD // (size * DTYPES[matrix.dtype].itemsize))
    matrix.prefetch_run(matrix.position([later, IndexExpr(0)]), size)


def rows_from(matrix: Buffer, first: IndexExpr) -> Buffer:
    """View a matrix from a row on."""
    offset = matrix.position([first, IndexExpr(0)])
    return Buffer(matrix.memory, matrix.tensor, matrix.strides, offset)


GROUP = 4
"""Sums that are put together in one round of a loop: code for all of them needs more registers."""


@dataclass(frozen=True)
class ColumnProducts:
    """Multiply rows of `left`, [rows, size], by columns of strips, [size, vectors * width].

    The sums are those of `row_products` with a transposed strip, in the same order: `width` sums,
    each of every so many numbers in depth, and then of pairs of these. The size is a multiple of
    `width`. `partial` is private memory for [groups, sums, width].
    """

    left: Buffer
    partial: Buffer
    width: int

    @staticmethod
    def partial_shape(sums: int, width: int) -> Shape:
        return (max(1, width // GROUP), sums, width)

    def of(self, rows: Sequence[IndexExpr], strip: Buffer) -> list[Value]:
        """Return a vector for each row and each vector of columns."""
        size, columns = strip.shape
        starts = range(0, columns, self.width)
        together = min(GROUP, self.width)
        whole = Lanes(self.width)

        def sums_of(lane: IndexExpr) -> list[Value]:
            sums: list[Value] = []
            for step in range(0, size, self.width):
                depth = lane + step
                vectors = [strip.load([depth, IndexExpr(c)], whole) for c in starts]
                factors = [splat(self.left.load([row, depth]), self.width) for row in rows]
                pairs = [(factor, vector_) for factor in factors for vector_ in vectors]
                sums = _added(pairs, sums)
            return sums

        def group(number: IndexExpr) -> None:
            sums = _in_pairs([sums_of(number * together + lane) for lane in range(together)])
            for i, made in enumerate(sums):
                self.partial.store(made, [number, IndexExpr(i), IndexExpr(0)], whole)

        groups = self.width // together
        with rolled():
            for_each(groups, group)
        return _in_pairs(
            [
                [
                    self.partial.load([IndexExpr(n), IndexExpr(i), IndexExpr(0)], whole)
                    for i in range(len(rows) * len(starts))
                ]
                for n in range(groups)
            ]
        )


def _in_pairs(sums: list[list[Value]]) -> list[Value]:
    """Add lists of sums: neighbours, then neighbours of what that gives."""
    while len(sums) > 1:
        pairs = zip(sums[::2], sums[1::2], strict=True)
        sums = [[a + b for a, b in zip(low, high, strict=True)] for low, high in pairs]
    return sums[0]
