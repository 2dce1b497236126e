"""Lowerings of determinants and inverses: Gaussian elimination with partial pivoting.

Each matrix is eliminated in private memory, by vectors along its rows. Rows are padded to whole
vectors; what is left of the diagonal, and in the padding, is never read.
Source: Golub and Van Loan, Matrix Computations, 3.4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import ceildiv
from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from ..kernels.buffer import Buffer, Lanes, tail_mask, zero
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, carry, for_each, greatest, index_of, when
from ..kernels.loops import each
from ..kernels.value import Value, constant_of, strict_numbers
from ..kernels.windows import repeated
from ..registry import template


@dataclass(frozen=True)
class _Rows:
    """Hold the rows of a matrix and, if `inverted`, of its inverse: from column `padded` on."""

    memory: Buffer
    size: Size
    width: int
    padded: Size
    inverted: bool

    @staticmethod
    def of(kernel: KernelBuilder, size: Size, dtype: str, width: int, *, inverted: bool) -> "_Rows":
        """Reserve memory for a matrix, and for its inverse."""
        padded = ceildiv(size, width) * width
        shape = greatest(size, 1), greatest(padded * (1 + inverted), width)
        return _Rows(kernel.private(shape, dtype), size, width, padded, inverted)

    def fill(self, x: Buffer, at: list[IndexExpr]) -> None:
        """Copy a matrix, and put the identity beside it for the inverse."""
        dtype = self.memory.dtype

        def row(i: IndexExpr) -> None:
            def block(j: IndexExpr, lanes: Lanes) -> None:
                value = convert(x.load([*at, i, j], lanes), dtype)
                self.memory.store(value, [i, j], Lanes(self.width))
                if self.inverted:
                    self.memory.store(zero(dtype, lanes), [i, j + self.padded], Lanes(self.width))

            self.blocks(block)
            if self.inverted:
                one = Value(constant_of(1, dtype), dtype)
                self.memory.store(one, [i, i + self.padded])

        for_each(self.size, row)

    def blocks(self, body: Callable[[IndexExpr, Lanes], None]) -> None:
        """Emit a loop over vectors along a row, the last of them masked."""

        def block(j: IndexExpr) -> None:
            is_whole = self.padded == self.size
            mask = None if is_whole else tail_mask(self.width, IndexExpr(self.size) - j)
            body(j, Lanes(self.width, mask))

        for_each(self.padded, block, step=self.width)

    def from_column(self, k: IndexExpr, body: Callable[[IndexExpr], None]) -> None:
        """Emit a loop over vectors of a row, from the one with column `k` on."""
        start = k // self.width * self.width
        for_each(self.memory.shape[1], body, step=self.width, start=start)

    def pivot(self, k: IndexExpr) -> IndexExpr:
        """Return the row from `k` on with the greatest element in column `k`."""

        def step(i: IndexExpr, now: list[Value]) -> list[Value]:
            best, place = now
            size = self.memory.load([i, k]).abs()
            wins = size.greater(best)
            return [wins.select(size, best), wins.select(i.to_value("i64"), place)]

        initial = [self.memory.load([k, k]).abs(), k.to_value("i64")]
        return index_of(carry(self.size, initial, step, start=k + 1)[1])

    def swap(self, a: IndexExpr, b: IndexExpr, k: IndexExpr) -> None:
        """Swap two rows, from column `k` on."""

        def block(j: IndexExpr) -> None:
            lanes = Lanes(self.width)
            first, second = (self.memory.load([row, j], lanes) for row in (a, b))
            self.memory.store(second, [a, j], lanes)
            self.memory.store(first, [b, j], lanes)

        when(a.equal(b).invert(), lambda: self.from_column(k, block))

    def subtract(self, i: IndexExpr, k: IndexExpr, factor: Value, start: IndexExpr) -> None:
        """Subtract a multiple of row `k` from row `i`, from column `start` on."""
        lanes = Lanes(self.width)
        negative = repeated(-factor, lanes)

        def block(j: IndexExpr) -> None:
            total = self.memory.load([k, j], lanes).fma(negative, self.memory.load([i, j], lanes))
            self.memory.store(total, [i, j], lanes)

        self.from_column(start, block)

    def eliminate(self, k: IndexExpr) -> tuple[Value, Value]:
        """Make column `k` zero below the diagonal; return the pivot and whether rows were swapped.

        Below a pivot of 0, the column is zero already.
        """
        row = self.pivot(k)
        self.swap(k, row, k)
        pivot = self.memory.load([k, k])

        def below(i: IndexExpr) -> None:
            self.subtract(i, k, self.memory.load([i, k]) / pivot, k + 1)

        is_regular = pivot.equal(0).invert()
        when(is_regular, lambda: for_each(self.size, below, start=k + 1))
        return pivot, row.equal(k).invert()


@template(tri.Det)
def lower_det(op: tri.Det, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    """Multiply the pivots, in f64: products of many leave the range of f32."""
    dtype, size = compute_dtype(x.dtype), x.shape[-1]
    with strict_numbers():
        rows = _Rows.of(kernel, size, dtype, kernel.lanes(dtype), inverted=False)

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
        rows = _Rows.of(kernel, size, dtype, width, inverted=True)

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


def _substitute(rows: _Rows, k: IndexExpr) -> None:
    """Solve for row `k` of the inverse, and subtract it from the rows above."""
    lanes = Lanes(rows.width)
    start = IndexExpr(rows.padded)
    pivot = repeated(rows.memory.load([k, k]), lanes)

    def scale(j: IndexExpr) -> None:
        rows.memory.store(rows.memory.load([k, j], lanes) / pivot, [k, j], lanes)

    rows.from_column(start, scale)
    for_each(k, lambda i: rows.subtract(i, k, rows.memory.load([i, k]), start))
