"""The rows of a matrix in private memory, which lowerings eliminate by vectors."""

from collections.abc import Callable
from dataclasses import dataclass

from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.tensor import Shape
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer, Lanes, tail_mask, zero
from ...kernels.builder import KernelBuilder
from ...kernels.index import IndexExpr, carry, for_each, greatest, index_of, least, when
from ...kernels.reduction import Reduction
from ...kernels.value import Value, constant_of
from ...kernels.windows import neighbours, repeated


@dataclass(frozen=True)
class Rows:
    """Hold the rows of a matrix, `size` elements each, and, if `inverted`, of its inverse.

    The inverse is from column `padded` on. Rows are padded to whole vectors.
    """

    memory: Buffer
    count: Size
    size: Size
    width: int
    padded: Size
    inverted: bool

    @staticmethod
    def of(
        kernel: KernelBuilder, matrix: Shape, dtype: str, width: int, *, inverted: bool = False
    ) -> "Rows":
        """Reserve memory for a matrix, and for its inverse."""
        count, size = matrix
        padded = ceildiv(size, width) * width
        shape = greatest(count, 1), greatest(padded * (1 + inverted), width)
        return Rows(kernel.private(shape, dtype), count, size, width, padded, inverted)

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

        for_each(self.count, row)

    def fill_transposed(self, x: Buffer, at: list[IndexExpr]) -> None:
        """Make the columns of a matrix the rows, and what they are padded by zeros."""
        dtype = self.memory.dtype
        self.clear()

        def row(i: IndexExpr) -> None:
            def element(j: IndexExpr) -> None:
                self.memory.store(convert(x.load([*at, j, i]), dtype), [i, j])

            for_each(self.size, element)

        for_each(self.count, row)

    def fill_identity(self) -> None:
        """Write ones on the diagonal, and zeros elsewhere."""
        self.clear()
        one = Value(constant_of(1, self.memory.dtype), self.memory.dtype)
        for_each(least(self.count, self.size), lambda i: self.memory.store(one, [i, i]))

    def clear(self) -> None:
        """Write zeros, also to what rows are padded by."""
        empty = zero(self.memory.dtype, Lanes(self.width))

        def row(i: IndexExpr) -> None:
            def block(j: IndexExpr) -> None:
                self.memory.store(empty, [i, j], Lanes(self.width))

            for_each(self.memory.shape[1], block, step=self.width)

        for_each(self.memory.shape[0], row)

    def divide(self, k: IndexExpr, divisor: Value, start: IndexExpr) -> None:
        """Divide row `k` from column `start` on."""
        lanes = Lanes(self.width)
        divisors = repeated(divisor, lanes)

        def block(j: IndexExpr) -> None:
            self.memory.store(self.memory.load([k, j], lanes) / divisors, [k, j], lanes)

        self.from_column(start, block)

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
        return index_of(carry(self.count, initial, step, start=k + 1)[1])

    def swap(self, a: IndexExpr, b: IndexExpr, k: IndexExpr) -> None:
        """Swap two rows, from column `k` on."""

        def block(j: IndexExpr) -> None:
            lanes = Lanes(self.width)
            first, second = (self.memory.load([row, j], lanes) for row in (a, b))
            self.memory.store(second, [a, j], lanes)
            self.memory.store(first, [b, j], lanes)

        when(a.equal(b).invert(), lambda: self.from_column(k, block))

    def subtract_after(self, i: IndexExpr, k: IndexExpr, factor: Value, start: IndexExpr) -> None:
        """Subtract a multiple of row `k` from row `i`, and leave what is before column `start`."""
        lanes = Lanes(self.width)
        negative = repeated(-factor, lanes)

        def block(j: IndexExpr) -> None:
            old = self.memory.load([i, j], lanes)
            total = self.memory.load([k, j], lanes).fma(negative, old)
            self.memory.store(self.from_on(j, start).select(total, old), [i, j], lanes)

        self.from_column(start, block)

    def from_on(self, j: IndexExpr, start: IndexExpr) -> Value:
        """Return which lanes of the vector at column `j` are at column `start` or behind."""
        columns = neighbours(j, Lanes(self.width), "i64")
        return columns.greater_equal(repeated(start.to_value("i64"), Lanes(self.width)))

    def subtract(self, i: IndexExpr, k: IndexExpr, factor: Value, start: IndexExpr) -> None:
        """Subtract a multiple of row `k` from row `i`, from column `start` on."""
        self.add(i, self, k, -factor, start)

    def add(
        self, i: IndexExpr, other: "Rows", k: IndexExpr, factor: Value, start: IndexExpr
    ) -> None:
        """Add to row `i` a multiple of row `k` of others, from column `start` on."""
        lanes = Lanes(self.width)
        factors = repeated(factor, lanes)

        def block(j: IndexExpr) -> None:
            total = other.memory.load([k, j], lanes).fma(factors, self.memory.load([i, j], lanes))
            self.memory.store(total, [i, j], lanes)

        self.from_column(start, block)

    def dot(self, i: IndexExpr, other: "Rows", k: IndexExpr, start: IndexExpr) -> Value:
        """Return the product of row `i` and row `k` of others, from the vector of `start` on.

        What rows are padded by must be zero.
        """
        lanes = Lanes(self.width)
        add = Reduction("add", self.memory.dtype)

        def block(j: IndexExpr, now: list[Value]) -> list[Value]:
            factors = other.memory.load([k, j], lanes)
            return [self.memory.load([i, j], lanes).fma(factors, now[0])]

        first = start // self.width * self.width
        zeros = [add.identity(self.width)]
        (sums,) = carry(self.memory.shape[1], zeros, block, self.width, first)
        return add.across(sums)

    def rotate(self, p: IndexExpr, q: IndexExpr, cosine: Value, sine: Value) -> None:
        """Turn two rows in the plane of both."""
        lanes = Lanes(self.width)
        cosines, sines = repeated(cosine, lanes), repeated(sine, lanes)

        def block(j: IndexExpr) -> None:
            first, second = (self.memory.load([row, j], lanes) for row in (p, q))
            self.memory.store(first * cosines - second * sines, [p, j], lanes)
            self.memory.store(first * sines + second * cosines, [q, j], lanes)

        self.from_column(IndexExpr(0), block)

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
        when(is_regular, lambda: for_each(self.count, below, start=k + 1))
        return pivot, row.equal(k).invert()
