"""Lowering of matrix products with packed weights."""

from .....dialects import cpu
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.limits import at_least
from .....dialects.core.tensor import DTYPES
from .....dialects.tri.linear_algebra.block_quantized import FLOATS
from ....element_types import PACKED, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import LINE, Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.halves import code_has
from ...kernels.index import IndexExpr, least
from ...kernels.loops import Section, spread
from ...kernels.products.block_panels import BlockPanel, DequantizedPanel, Table
from ...kernels.products.contraction import Contraction
from ...kernels.products.panels import Panel, StoredPanel, WidenedPanel
from ...kernels.value import Value
from ...kernels.widened import copy_elements, widened
from ...registry import WEIGHTS, template
from ...schedule.tiles import Tile, evict_each_other, fit_tile, rows_near


@template(cpu.PackedMatMul, types=WEIGHTS)
def lower_packed_mat_mul(
    op: cpu.PackedMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, y: Epilogue
) -> None:
    rows, dtype = _rows(a), compute_dtype(a.dtype)
    tile = fit_tile(kernel.machine, dtype, rows, w.shape[2], op.rows)
    _emit(kernel, a, op.columns, tile, y, _panels(kernel, w, rows, tile, dtype))


@template(cpu.PackedBlockMatMul, types=ElementTypes(FLOATS, {"w": ("ui8",)}, {"w": PACKED}))
def lower_packed_block_mat_mul(
    op: cpu.PackedBlockMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, y: Epilogue
) -> None:
    rows, dtype = _rows(a), compute_dtype(a.dtype)
    stored = BlockPanel(w, op.layout, Table.of(kernel.machine, op.layout))
    tile = fit_tile(kernel.machine, dtype, rows, stored.width)
    forms: Forms = [(1, stored)]
    if not at_least(tile.rows, rows):
        memory = kernel.private((a.shape[-1], tile.columns), dtype)
        many = _if_many(rows, tile)
        forms = [(many, DequantizedPanel(stored, memory)), (1 - many, stored)]
    _emit(kernel, a, op.columns, tile, y, forms)


Forms = list[tuple[Size, Panel]]
"""Panels that read the same weights, each with 1 if it is the one to read, else 0."""


def _rows(a: Buffer) -> Size:
    return a.tensor.size // a.shape[-1] if a.shape[-1] else 0


def _emit(
    kernel: KernelBuilder, a: Buffer, columns: int, tile: Tile, y: Epilogue, forms: Forms
) -> None:
    """Emit the product of rows with the columns of panels."""
    rows, depth, dtype = _rows(a), a.shape[-1], compute_dtype(a.dtype)
    left = a.reshape((rows, depth))
    left = widened(kernel, left) if at_least(1, rows) else spread_rows(kernel, left, tile.rows)
    epilogue = y.reshape((rows, columns))

    def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
        epilogue.store(value, [i, j], lanes)

    def sections(wanted: Size, panel: Panel) -> list[Section]:
        product = Contraction(
            rows,
            columns,
            (depth,),
            dtype,
            lambda rows, i, k: left.load([rows.first + i, *k]),
            panel,
            finish,
            touch=epilogue.touch,
            once=tile.rows,
            near=rows_near(rows, depth * DTYPES[a.dtype].itemsize),
        )
        return [
            section.only_if(wanted) for section in product.sections(tile, (), lambda _: product)
        ]

    spread(*(section for form in forms for section in sections(*form)))


_FEW = 2
"""The most tiles of rows of which each converts weights where it is only known in a run."""


def _panels(kernel: KernelBuilder, w: Buffer, rows: Size, tile: Tile, dtype: str) -> Forms:
    """Return the panels that read packed weights.

    Narrow weights are converted in each tile only if there are few, or if that hides behind the
    multiply-adds: it takes one instruction or two for halves.
    """
    _, depth, columns = w.shape
    stored = StoredPanel(w, (depth,), tile, dtype=dtype)
    hides = w.dtype == "bf16" or (w.dtype == "f16" and code_has("f16c"))
    if w.dtype == dtype or hides or tile.columns != columns or at_least(tile.rows, rows):
        return [(1, stored)]
    widened = WidenedPanel(stored, kernel.private((depth, columns), dtype))
    many = _if_many(rows, tile)
    return [(many, widened), (1 - many, stored)]


def _if_many(rows: Size, tile: Tile) -> Size:
    """Return 1 if weights are converted once for all rows, else 0."""
    return least(rows // (_FEW * tile.rows + 1), 1) if is_symbolic(rows) else 1


def spread_rows(kernel: KernelBuilder, matrix: Buffer, together: int) -> Buffer:
    """Copy a matrix to rows that are a cache line longer, where its own would alias.

    So many rows are read together, in the type of their products.
    """
    rows, depth = matrix.shape
    dtype = compute_dtype(matrix.dtype)
    size = DTYPES[dtype].bits // 8
    if not depth or not evict_each_other(together, depth * size):
        return widened(kernel, matrix)
    copy = kernel.scratch((rows, depth + LINE // size), dtype).slice([0, 0], (rows, depth), [1, 1])
    copy_elements(kernel, matrix, copy)
    return copy
