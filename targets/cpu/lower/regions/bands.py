"""Pooling the cells of a region one axis after the other: rows first, then parts of a line.

Each cell takes some elements along each axis. The rows of a cell are combined in vectors along the
whole region; a vector of cells then combines the elements of the line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects.core.sizes.atoms import Size, is_symbolic
from ...kernels.buffer import Buffer, Lanes, tail_mask
from ...kernels.builder import KernelBuilder
from ...kernels.index import IndexExpr, carry, for_each, index_of, place_dtype
from ...kernels.reduction import Reduction
from ...kernels.value import Value
from ...kernels.windows import repeated

Bounds = Callable[[IndexExpr], tuple[IndexExpr, IndexExpr]]
"""Returns the first element of a cell along an axis, and the one behind its last."""

Finish = Callable[[Value, IndexExpr, IndexExpr, Lanes], None]
"""Stores a vector of cells of one row; gets the indices of the row and of the first cell."""


@dataclass(frozen=True)
class Extent:
    """Describe the elements of an axis that cells take: from `first` to before `end`.

    `longest` is how many a cell takes at most.
    """

    first: IndexExpr
    end: IndexExpr
    longest: IndexExpr


class Bands:
    """List the elements that each cell takes along an axis, in private memory, for a region.

    `places` and each of the `weights` are [elements, cells]; `counts` are [cells].
    """

    def __init__(
        self, kernel: KernelBuilder, cells: Size, size: Size, weights: Sequence[str] = ()
    ) -> None:
        self.cells, self.size = cells, size
        dtype = place_dtype(size)
        self.counts = kernel.private((cells,), dtype)
        self.places = kernel.private((size, cells), dtype)
        self.weights = [kernel.private((size, cells), dtype) for dtype in weights]

    def fill(
        self,
        bounds: Bounds,
        weigh: Callable[[IndexExpr, IndexExpr], None] | None = None,
    ) -> Extent:
        """List the elements of all cells, whose bounds are in the order of the axis.

        `weigh` fills in the weights of a cell, one for each element from the first one on.
        Elements of a negative first weight are left out.
        """
        dtype = self.counts.dtype
        last = IndexExpr(self.cells) - 1
        extent = bounds(IndexExpr(0))[0], bounds(last)[1]

        def fill_cell(cell: IndexExpr, now: list[Value]) -> list[Value]:
            first, end = bounds(cell)
            if weigh is not None:
                weigh(cell, first)

            def keep(number: IndexExpr, kept: list[Value]) -> list[Value]:
                at = [index_of(kept[0]), cell]
                weights = [table.load([number, cell]) for table in self.weights]
                for table, weight in zip(self.weights, weights, strict=True):
                    table.store(weight, at)
                self.places.store((first + number).to_value(dtype), at)
                more = weights[0].greater_equal(0).cast(dtype) if weights else 1
                return [kept[0] + more]

            count = carry((end - first).maximum(0), [_zero(dtype)], keep)[0]
            self.counts.store(count, [cell])
            return [now[0].maximum(count)]

        longest = carry(self.cells, [_zero(dtype)], fill_cell)[0]
        return Extent(*extent, index_of(longest))


def _zero(dtype: str) -> Value:
    return IndexExpr(0).to_value(dtype)


@dataclass(frozen=True)
class RegionPool:
    """Pool channels of a region: `rows` and `columns` are filled for it.

    `combine` takes a partial result, an element and its weights along one axis, and `how` has the
    first partial result; a cell without elements is `empty`. `line` has room for a row of the
    image.
    """

    rows: Bands
    columns: Bands
    how: Reduction
    combine: Callable[[Value, Value, Sequence[Value]], Value]
    empty: float
    line: Buffer
    width: int

    def channel(self, image: Buffer, columns: Extent, finish: Finish) -> None:
        """Pool one image."""

        def row(at: IndexExpr) -> None:
            rows = index_of(self.rows.counts.load([at]))
            self._combine_rows(image, at, rows, columns)
            width = self._cell_width()

            def cells(first: IndexExpr) -> None:
                lanes = Lanes(width, tail_mask(width, IndexExpr(self.columns.cells) - first))
                counts = self.columns.counts.load([first], lanes)
                value = self._combine_line(first, counts, columns.longest, lanes)
                some = counts.greater(0).logical_and(repeated(IndexExpr(0).less(rows), lanes))
                finish(some.select(value, self.empty), at, first, lanes)

            for_each(self.columns.cells, cells, step=width)

        for_each(self.rows.cells, row)

    def _cell_width(self) -> int:
        """Return how many cells a vector has: no more than there are, where that is known."""
        cells = self.columns.cells
        if is_symbolic(cells):
            return self.width
        return min(self.width, max(4, 1 << (cells - 1).bit_length()))

    def _combine_rows(
        self, image: Buffer, cell: IndexExpr, count: IndexExpr, columns: Extent
    ) -> None:
        """Combine the rows of a cell, along all columns of the region."""

        def vector(at: IndexExpr) -> None:
            lanes = Lanes(self.width, tail_mask(self.width, columns.end - at))

            def step(number: IndexExpr, now: list[Value]) -> list[Value]:
                row = index_of(self.rows.places.load([number, cell]))
                weights = [
                    repeated(table.load([number, cell]), lanes) for table in self.rows.weights
                ]
                return [self.combine(now[0], image.load([row, at], lanes), weights)]

            start = [self.how.identity(self.width)]
            self.line.store(carry(count, start, step)[0], [at], lanes)

        for_each(columns.end, vector, step=self.width, start=columns.first)

    def _combine_line(
        self, cell: IndexExpr, counts: Value, longest: IndexExpr, lanes: Lanes
    ) -> Value:
        """Combine the elements of the line that neighbouring cells take."""

        def step(number: IndexExpr, now: list[Value]) -> list[Value]:
            more = repeated(number.to_value(counts.dtype), lanes).less(counts)
            some = Lanes(lanes.width, more.ssa)
            places = self.columns.places.load([number, cell], some)
            seen = self.line.gather(IndexExpr(0), places.ssa, some)
            weights = [table.load([number, cell], some) for table in self.columns.weights]
            return [more.select(self.combine(now[0], seen, weights), now[0])]

        return carry(longest, [self.how.identity(lanes.width)], step)[0]


def image_of(index: Value, count: Size) -> IndexExpr:
    """Return the place of an image in its batch; one that is not in it is the nearest that is."""
    return index_of(index).maximum(0).minimum(IndexExpr(count) - 1)
