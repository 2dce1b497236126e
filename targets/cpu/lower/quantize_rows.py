"""Lowering of rows that are rounded to bytes, each by itself."""

from ....dialects import tri
from ....dialects.tri.quantize import LARGEST_BYTE, SMALLEST_ROW
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr
from ..kernels.loops import each
from ..kernels.products.contraction import splat
from ..kernels.strips import Strip
from ..kernels.value import Value
from ..registry import template


@template(tri.QuantizeRows)
def lower_quantize_rows(
    op: tri.QuantizeRows, kernel: KernelBuilder, x: Buffer, numbers: Epilogue, scales: Epilogue
) -> None:
    *outer, size = x.shape
    dtype = compute_dtype(x.dtype)

    def row(at: list[IndexExpr]) -> None:
        strip = Strip(at[-1] if at else IndexExpr(0), size, kernel.lanes(dtype))

        def load(i: list[IndexExpr], lanes: Lanes | None) -> Value:
            return x.load([*at, i[1]], lanes)

        largest = strip.reduce("max", lambda i, lanes: load(i, lanes).abs(), dtype)
        is_small = largest.less(SMALLEST_ROW)
        factor = is_small.select(largest.like(0), largest.like(LARGEST_BYTE) / largest)

        def store(i: list[IndexExpr], lanes: Lanes | None) -> None:
            slope = factor if lanes is None else splat(factor, lanes.width)
            whole = (load(i, lanes) * slope).apply("roundeven")
            clipped = whole.maximum(-LARGEST_BYTE).minimum(LARGEST_BYTE)
            numbers.store(clipped.cast("i32").cast("i8"), [*at, i[1]], lanes)

        scales.store(is_small.select(largest.like(0), largest / LARGEST_BYTE), at)
        strip.each(store)

    each(tuple(outer), row)
