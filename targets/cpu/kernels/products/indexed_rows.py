"""Products of rows with matrices that indices choose.

Rows are cut into tiles. A tile whose rows have one index is one product; in other tiles each row is
multiplied alone, and reads its matrix once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from .....dialects.core.sizes.atoms import Size, is_symbolic
from ..buffer import Buffer, Lanes, zero
from ..index import IndexExpr, for_each, index_of, when_else
from ..loops import each
from ..value import Value


@dataclass(frozen=True)
class Chosen:
    """Hold the matrix of some rows, which may not be there, and the columns that are wanted.

    `place` is the number of a matrix that can be read in any case. There are `count` rows from
    `first` on, and `width` columns from `start` on.
    """

    place: IndexExpr
    is_there: Value
    first: IndexExpr
    count: int
    start: IndexExpr
    width: Size

    def shown(self, value: Value, lanes: Lanes) -> Value:
        """Return a vector of the product, or zeros for rows whose matrix is not there."""
        return value.with_ssa(self.is_there.select(value, zero(value.dtype, lanes)).ssa)


@dataclass(frozen=True)
class IndexedRows:
    """Multiply rows by one of `groups` matrices each; `multiply` emits the product of a tile."""

    index: Buffer
    groups: Size
    multiply: Callable[[Chosen], None]

    def emit(self, rows: Size, columns: Size, most_rows: int, most_columns: int) -> None:
        """Emit tiles of at most so many rows and columns."""
        high, left = divmod(rows, most_rows)
        blocks, rest = divmod(columns, most_columns)
        for count, width, start in (
            (blocks, most_columns, 0),
            (1 if rest != 0 else 0, rest, blocks * most_columns),
        ):
            across = (count, width, start, most_columns)
            self._tiles(across, high, most_rows, 0)
            if is_symbolic(left):
                self._tiles(across, left, 1, high * most_rows)
            elif left:
                self._tiles(across, 1, left, high * most_rows)

    def _tiles(
        self, across: tuple[Size, Size, Size, int], tiles: Size, rows: int, first: Size
    ) -> None:
        """Emit the products of tiles of some rows with blocks of columns."""
        blocks, width, start, step = across

        def block(at: list[IndexExpr]) -> None:
            self._rows(at[1] * rows + first, rows, at[0] * step + start, width)

        each((blocks, tiles), block)

    def _rows(self, first: IndexExpr, count: int, start: IndexExpr, width: Size) -> None:
        chosen = [self._loaded(first + r) for r in range(count)]
        if count == 1:
            self._product(chosen[0], first, 1, start, width)
            return

        def alone(r: IndexExpr) -> None:
            self._product(self._loaded(first + r), first + r, 1, start, width)

        same = reduce(Value.logical_and, [chosen[0].equal(other) for other in chosen[1:]])
        when_else(
            same,
            lambda: self._product(chosen[0], first, count, start, width),
            lambda: for_each(count, alone),
        )

    def _loaded(self, row: IndexExpr) -> Value:
        return self.index.load([row]).cast("i64")

    def _product(
        self, group: Value, first: IndexExpr, count: int, start: IndexExpr, width: Size
    ) -> None:
        is_there = group.greater_equal(0).logical_and(group.less(self.groups))
        place = index_of(group).maximum(0).minimum(IndexExpr(self.groups) - 1)
        self.multiply(Chosen(place, is_there, first, count, start, width))
