"""The lowering of the maxima of the cells of regions."""

from collections.abc import Sequence

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size
from ....kernels.arithmetic import compute_dtype
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, index_of
from ...kernels.loops import Piece, Section, spread
from ...kernels.reduction import Reduction
from ...kernels.value import Value, strict_numbers
from ...registry import template
from .bands import Bands, Bounds, RegionPool, image_of

FARTHEST = 2**31
"""Corners beyond are moved there, so that no product of places overflows."""


@template(tri.MaxRoiPool)
def lower_max_roi_pool(
    op: tri.MaxRoiPool, kernel: KernelBuilder, x: Buffer, rois: Buffer, y: Epilogue
) -> None:
    batch, channels, *sizes = x.shape
    dtype = compute_dtype(x.dtype)
    rows, columns = (Bands(kernel, n, size) for n, size in zip(op.sizes, sizes, strict=True))
    line = kernel.private((sizes[1],), dtype)
    width = kernel.lanes(dtype, *y.dtypes)
    pool = RegionPool(rows, columns, Reduction("max", dtype), _greater, 0, line, width)

    def region(at: list[IndexExpr]) -> list[Piece]:
        image, x1, y1, x2, y2 = (rois.load([at[0], IndexExpr(part)]) for part in range(5))
        here = image_of(convert(image, "i64"), batch)
        rows.fill(_split(y1, y2, op.spatial_scale, op.sizes[0], sizes[0]))
        extent = columns.fill(_split(x1, x2, op.spatial_scale, op.sizes[1], sizes[1]))

        def channel(c: IndexExpr) -> None:
            def finish(value: Value, row: IndexExpr, cell: IndexExpr, lanes: Lanes) -> None:
                y.store(value, [at[0], c, row, cell], lanes)

            pool.channel(x.part([here, c]), extent, finish)

        return [Piece(channels, channel)]

    if y.tensor.size != 0:
        spread(Section(rois.shape[:1], channels, region))


def _greater(now: Value, seen: Value, weights: Sequence[Value]) -> Value:
    return now.maximum(seen)


def _split(first: Value, last: Value, scale: float, cells: Size, size: Size) -> Bounds:
    """Split the elements of one axis of a region in cells; neighbours may share one."""
    start = _rounded(first, scale)
    length = index_of((_rounded(last, scale) - start + 1).maximum(1))

    def inside(offset: IndexExpr) -> IndexExpr:
        return (index_of(start) + offset).maximum(0).minimum(size)

    def bounds(cell: IndexExpr) -> tuple[IndexExpr, IndexExpr]:
        end = (length * (cell + 1) + (IndexExpr(cells) - 1)) // cells
        return inside(length * cell // cells), inside(end)

    return bounds


def _rounded(coordinate: Value, scale: float) -> Value:
    """Round to the nearest integer, halves away from zero; NaN gives 0."""
    with strict_numbers():
        scaled = coordinate * scale
        size = (scaled.abs() + 0.5).apply("floor")
    whole = convert(size.minimum(FARTHEST), "i64")
    return scaled.less(0).select(whole.like(0) - whole, whole)
