"""Lowering of matrix products with packed weights."""

from ....dialects import cpu
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import DTYPES
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.contraction import Contraction
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, least
from ..kernels.loops import Section, spread
from ..kernels.panels import LINE, Panel, StoredPanel, WidenedPanel
from ..kernels.value import Value
from ..registry import template
from ..schedule.costs import ALIASING
from ..schedule.tiles import Tile, fit_tile


@template(cpu.PackedMatMul)
def lower_packed_mat_mul(
    op: cpu.PackedMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, y: Epilogue
) -> None:
    depth = a.shape[-1]
    rows = a.tensor.size // depth if depth else 0
    dtype = compute_dtype(a.dtype)
    tile = fit_tile(kernel.machine, dtype, rows, w.shape[2], op.rows)
    left = a.reshape((rows, depth))
    if not at_least(1, rows):
        left = spread_rows(kernel, left)
    epilogue = y.reshape((rows, op.columns))

    def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
        epilogue.store(value, [i, j], lanes)

    def sections(wanted: Size, panel: Panel) -> list[Section]:
        product = Contraction(
            rows,
            op.columns,
            (depth,),
            dtype,
            lambda rows, i, k: left.load([rows.first + i, *k]),
            panel,
            finish,
            once=True,
        )
        return [
            section.only_if(wanted) for section in product.sections(tile, (), lambda _: product)
        ]

    forms = _panels(kernel, w, rows, tile, dtype)
    spread(*(section for form in forms for section in sections(*form)))


_FEW = 2
"""The most tiles of rows of which each converts weights where it is only known in a run."""


def _panels(
    kernel: KernelBuilder, w: Buffer, rows: Size, tile: Tile, dtype: str
) -> list[tuple[Size, Panel]]:
    """Return panels that read packed weights, each with 1 if it is the one to read, else 0.

    Narrow weights are converted in each tile only if there are few.
    """
    _, depth, columns = w.shape
    stored = StoredPanel(w, (depth,), tile, dtype=dtype)
    if w.dtype == dtype or tile.columns != columns or at_least(tile.rows, rows):
        return [(1, stored)]
    widened = WidenedPanel(stored, kernel.private((depth, columns), dtype))
    many = least(rows // (_FEW * tile.rows + 1), 1) if is_symbolic(rows) else 1
    return [(many, widened), (1 - many, stored)]


def spread_rows(kernel: KernelBuilder, matrix: Buffer) -> Buffer:
    """Copy a matrix to rows that are a cache line longer, where its own would alias."""
    rows, depth = matrix.shape
    size = DTYPES[matrix.dtype].bits // 8
    if not depth or depth * size % ALIASING:
        return matrix
    copy = kernel.scratch((rows, depth + LINE // size), matrix.dtype)

    def move(at: list[IndexExpr], lanes: Lanes | None) -> None:
        copy.store(matrix.load(at, lanes), at, lanes)

    each_vector((rows, depth), kernel.lanes(matrix.dtype), move)
    return copy
