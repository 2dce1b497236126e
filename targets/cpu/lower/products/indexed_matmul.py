"""Lowering of products of rows with matrices that indices choose.

Rows are cut into tiles. A tile whose rows have one index is a product by register tiles; in other
tiles each row is multiplied alone, and reads its matrix once.
"""

from dataclasses import dataclass
from functools import reduce

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size, is_symbolic
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, for_each, index_of, when_else
from ...kernels.loops import each
from ...kernels.products.contraction import Contraction
from ...kernels.products.panels import DirectPanel
from ...kernels.value import Value
from ...registry import template
from ...schedule.tiles import Tile, choose_tile


@template(tri.IndexedMatMul)
def lower_indexed_matmul(
    op: tri.IndexedMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, index: Buffer, y: Epilogue
) -> None:
    """Emit all tiles of rows for blocks of columns, which are as wide as one row allows."""
    rows, columns = y.shape
    dtype = compute_dtype(a.dtype)
    tile = choose_tile(kernel.machine, dtype, rows, columns)
    single = choose_tile(kernel.machine, dtype, 1, columns)
    products = _Products(a, w, index, y, dtype, tile, single)
    high, left = divmod(rows, tile.rows)
    blocks, rest = divmod(columns, single.columns)
    for count, width, start in (
        (blocks, single.columns, 0),
        (1 if rest != 0 else 0, rest, blocks * single.columns),
    ):
        products.emit(count, width, start, high, tile.rows, 0)
        if is_symbolic(left):
            products.emit(count, width, start, left, 1, high * tile.rows)
        elif left:
            products.emit(count, width, start, 1, left, high * tile.rows)


@dataclass(frozen=True)
class _Products:
    """Hold the operands, the type of the sums, and the tiles of several rows and of one."""

    a: Buffer
    w: Buffer
    index: Buffer
    y: Epilogue
    dtype: str
    tile: Tile
    single: Tile

    def emit(
        self, blocks: Size, width: Size, start: Size, tiles: Size, rows: int, first: Size
    ) -> None:
        """Emit the products of tiles of some rows with blocks of columns."""

        def block(at: list[IndexExpr]) -> None:
            columns = at[0] * self.single.columns + start
            self._rows(at[1] * rows + first, rows, columns, width)

        each((blocks, tiles), block)

    def _rows(self, first: IndexExpr, count: int, start: IndexExpr, width: Size) -> None:
        chosen = [self.index.load([first + r]).cast("i64") for r in range(count)]
        if count == 1:
            self._product(chosen[0], first, 1, start, width)
            return

        def alone(r: IndexExpr) -> None:
            group = self.index.load([first + r]).cast("i64")
            self._product(group, first + r, 1, start, width)

        same = reduce(Value.logical_and, [chosen[0].equal(other) for other in chosen[1:]])
        when_else(
            same,
            lambda: self._product(chosen[0], first, count, start, width),
            lambda: for_each(count, alone),
        )

    def _product(
        self, group: Value, first: IndexExpr, count: int, start: IndexExpr, width: Size
    ) -> None:
        """Multiply neighbouring rows by some columns of one matrix; by none if it is not there."""
        groups, depth, _ = self.w.shape
        is_there = group.greater_equal(0).logical_and(group.less(groups))
        place = index_of(group).maximum(0).minimum(IndexExpr(groups) - 1)
        matrix = self.w.part([place])
        matrix = matrix.with_strides((depth, width), matrix.strides)
        matrix.offset = matrix.offset + start * matrix.strides[1]

        def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
            shown = value.with_ssa(is_there.select(value, zero(self.dtype, lanes)).ssa)
            self.y.store(shown, [first + i, start + j], lanes)

        Contraction(
            count,
            width,
            (depth,),
            self.dtype,
            lambda rows, r, k: self.a.load([first + rows.first + r, *k]),
            DirectPanel(matrix),
            finish,
        ).emit(self.tile if count > 1 else self.single)
