"""Lowerings of products of rounded activations with packed matrices of few bits."""

from .....dialects import cpu
from .....dialects.core.sizes.atoms import Size
from .....dialects.cpu.vnni import BYTES
from .....dialects.tri.linear_algebra.block_quantized import FLOATS, ROUNDED
from .....dialects.tri.quantize import LARGEST_BYTE
from ....element_types import PACKED, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, for_each
from ...kernels.loops import each
from ...kernels.products.block_dot import BlockContraction, RoundedRows
from ...kernels.products.block_panels import BlockPanel
from ...kernels.products.contraction import splat
from ...kernels.products.dot import choose_dot
from ...kernels.strips import Strip
from ...kernels.value import Value
from ...registry import BLOCK_FACTORS, template
from ...schedule.tiles import block_dot_tile

ROUNDED_TYPES = ElementTypes(FLOATS, {"numbers": ("i8",), "scales": ("f32",), "sums": ("i32",)})


@template(cpu.QuantizeBlocks, types=ROUNDED_TYPES)
def lower_quantize_blocks(
    op: cpu.QuantizeBlocks,
    kernel: KernelBuilder,
    x: Buffer,
    numbers: Epilogue,
    scales: Epilogue,
    sums: Epilogue,
) -> None:
    """Round each block of a row by itself."""
    depth, size = x.shape[-1], op.block
    full, rest = divmod(depth, size)
    outer = (numbers.shape[0], rows_of(x))
    source, dtype = x.reshape((outer[1], depth)), compute_dtype(x.dtype)
    integers = numbers.reshape((*outer, size))
    steps, totals = scales.reshape(outer), sums.reshape(outer)

    def block(at: list[IndexExpr], length: int) -> None:
        number, row = at
        strip = Strip(row, length, min(kernel.lanes(dtype), size))

        def load(i: list[IndexExpr], lanes: Lanes | None) -> Value:
            return source.load([row, number * size + i[1]], lanes)

        largest = strip.reduce("max", lambda i, lanes: load(i, lanes).abs(), dtype)
        some = largest.greater(0)
        factor = some.select(largest.like(LARGEST_BYTE) / largest, 0)

        def rounded(i: list[IndexExpr], lanes: Lanes | None) -> Value:
            slope = factor if lanes is None else splat(factor, lanes.width)
            whole = (load(i, lanes) * slope).apply("roundeven")
            return whole.maximum(-LARGEST_BYTE).minimum(LARGEST_BYTE)

        def store(i: list[IndexExpr], lanes: Lanes | None) -> None:
            number_of = rounded(i, lanes).cast("i32").cast(ROUNDED)
            integers.store(number_of, [*at, i[1]], lanes)

        steps.store(largest / LARGEST_BYTE, at)
        # Sums of whole numbers below 2^24 are exact in any order.
        totals.store(strip.reduce("add", rounded, dtype).cast("i32"), at)
        strip.each(store)

    def last(at: list[IndexExpr]) -> None:
        _fill(integers, [IndexExpr(full), at[0]], size, kernel.lanes(dtype))
        block([IndexExpr(full), at[0]], rest)

    each((full, outer[1]), lambda at: block(at, size))
    if rest:
        each(outer[1:], last)


def _fill(numbers: Epilogue, at: list[IndexExpr], size: int, lanes: int) -> None:
    """Store zeros in a block."""
    nothing = zero(ROUNDED, Lanes(lanes))
    for_each(size, lambda i: numbers.store(nothing, [*at, i], Lanes(lanes)), step=lanes)


@template(cpu.DotBlockMatMul, types=ElementTypes(FLOATS, BLOCK_FACTORS, {"w": PACKED}))
def lower_dot_block_mat_mul(
    op: cpu.DotBlockMatMul,
    kernel: KernelBuilder,
    a: Buffer,
    a_scales: Buffer,
    a_sums: Buffer,
    w: Buffer,
    y: Epilogue,
) -> None:
    """Broadcast words of a row to all lanes; a lane is a column."""
    blocks, size = a.shape[0], a.shape[-1]
    rows = a_scales.tensor.size // blocks
    left = RoundedRows(
        a.reshape((blocks, rows, size)),
        a_scales.reshape((blocks, rows)),
        a_sums.reshape((blocks, rows)),
    )
    panel = BlockPanel(w, op.layout)
    epilogue = y.reshape((rows, op.columns))

    def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
        epilogue.store(value, [i, j], lanes)

    tile = block_dot_tile(kernel.machine, rows, panel.width)
    product = BlockContraction(
        rows,
        op.columns,
        (blocks, size // BYTES),
        "f32",
        left.word,
        panel,
        finish,
        multiply=choose_dot(kernel.machine, "ui8", bits=op.bits),
        stored=panel,
        rounded=left,
        once=tile.rows + 1,
    )
    product.emit(tile)


def rows_of(a: Buffer) -> Size:
    """Return how many rows a buffer has whose last axis is one."""
    return a.tensor.size // a.shape[-1] if a.shape[-1] else 0
