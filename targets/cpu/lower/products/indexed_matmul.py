"""Lowerings of products of rows with matrices that indices choose."""

from .....dialects import cpu, tri
from .....dialects.cpu.vnni import BYTES
from .....dialects.tri.linear_algebra.block_quantized import FLOATS
from ....element_types import PACKED, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr
from ...kernels.products.block_dot import BlockContraction, RoundedRows
from ...kernels.products.block_panels import BlockPanel
from ...kernels.products.contraction import Contraction, Finish
from ...kernels.products.dot import choose_dot
from ...kernels.products.indexed_rows import Chosen, IndexedRows
from ...kernels.products.panels import DirectPanel
from ...kernels.value import Value
from ...kernels.widened import widened
from ...registry import BLOCK_FACTORS, template
from ...schedule.tiles import block_dot_tile, choose_tile


@template(tri.IndexedMatMul)
def lower_indexed_matmul(
    op: tri.IndexedMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, index: Buffer, y: Epilogue
) -> None:
    """Emit all tiles of rows for blocks of columns, which are as wide as one row allows."""
    rows, columns = y.shape
    groups, depth, _ = w.shape
    dtype, left = compute_dtype(a.dtype), widened(kernel, a)
    tile = choose_tile(kernel.machine, dtype, rows, columns)
    single = choose_tile(kernel.machine, dtype, 1, columns)

    def multiply(chosen: Chosen) -> None:
        matrix = w.part([chosen.place])
        matrix = matrix.with_strides((depth, chosen.width), matrix.strides)
        matrix.offset = matrix.offset + chosen.start * matrix.strides[1]
        Contraction(
            chosen.count,
            chosen.width,
            (depth,),
            dtype,
            lambda rows, r, k: left.load([chosen.first + rows.first + r, *k]),
            DirectPanel(matrix),
            _storing(chosen, y),
        ).emit(tile if chosen.count > 1 else single)

    IndexedRows(index, groups, multiply).emit(rows, columns, tile.rows, single.columns)


INDEXED = ElementTypes(FLOATS, {**BLOCK_FACTORS, "index": ("i32", "i64")}, {"w": PACKED})


@template(cpu.DotIndexedBlockMatMul, types=INDEXED)
def lower_dot_indexed_block_mat_mul(
    op: cpu.DotIndexedBlockMatMul,
    kernel: KernelBuilder,
    a: Buffer,
    a_scales: Buffer,
    a_sums: Buffer,
    w: Buffer,
    index: Buffer,
    y: Epilogue,
) -> None:
    """Emit all tiles of rows for panels, each of which is a block of columns."""
    rows, columns = y.shape
    groups, _, blocks, size = w.shape
    width = int(size) // op.layout.column_bytes
    rounded = RoundedRows(a, a_scales, a_sums)

    def multiply(chosen: Chosen) -> None:
        one = w.part([chosen.place, chosen.start // width])
        panel = BlockPanel(one.with_strides((1, blocks, size), (0, *one.strides)), op.layout)
        left = rounded.after(chosen.first)
        BlockContraction(
            chosen.count,
            chosen.width,
            (blocks, op.block // BYTES),
            "f32",
            left.word,
            panel,
            _storing(chosen, y),
            multiply=choose_dot(kernel.machine, "ui8", bits=op.bits),
            stored=panel,
            rounded=left,
        ).emit(block_dot_tile(kernel.machine, chosen.count, width))

    tile = block_dot_tile(kernel.machine, rows, width)
    IndexedRows(index, groups, multiply).emit(rows, columns, tile.rows, width)


def _storing(chosen: Chosen, y: Epilogue) -> Finish:
    """Return what stores the product of some rows with some columns."""

    def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
        y.store(chosen.shown(value, lanes), [chosen.first + i, chosen.start + j], lanes)

    return finish
