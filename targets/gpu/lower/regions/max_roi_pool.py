"""Lowering of the maxima of the cells of regions: a program has a part of one region."""

from dataclasses import dataclass

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size
from ....kernels.arithmetic import compute_dtype, extreme_value
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.loop import loop
from ...kernels.regions import Region
from ...kernels.value import Value, full, scalar
from ...registry import template
from ..gather import place_in

FARTHEST = 2**31
"""Corners beyond are moved there, so that no product of places overflows."""


@template(tri.MaxRoiPool)
def lower_max_roi_pool(
    op: tri.MaxRoiPool, kernel: KernelBuilder, x: Buffer, rois: Buffer, y: Epilogue
) -> None:
    region = Region(kernel, y)
    number, x1, y1, x2, y2 = (rois.load([region.number, scalar(part)]) for part in range(5))
    image = place_in(convert(number, "i64"), x.shape[0])
    row, column = region.cell
    down = _Cells.of(op, y1, y2, row, op.sizes[0], x.shape[2])
    right = _Cells.of(op, x1, x2, column, op.sizes[1], x.shape[3])
    least = extreme_value(x.dtype, least=True)

    def line(offset: Value, top: Value) -> Value:
        at = down.place(offset)

        def element(offset: Value, top: Value) -> Value:
            beside = right.place(offset)
            return top.maximum(x.load([image, region.channel, at, beside], least))

        (top,) = loop(0, right.most, 1, [top], element, "across")
        return top

    start = full(least, compute_dtype(x.dtype), region.shape)
    (top,) = loop(0, down.most, 1, [start], line, "down")
    empty = down.is_empty().logical_or(right.is_empty())
    y.store(empty.select(top.like(0), top), region.at)


@dataclass(frozen=True)
class _Cells:
    """Describe cells along one axis, those of a block: the elements in each, `most` at most."""

    first: Value
    end: Value
    most: Value

    @staticmethod
    def of(
        op: tri.MaxRoiPool, first: Value, last: Value, cell: Value, cells: Size, size: Size
    ) -> "_Cells":
        """Split the elements of one axis of a region; neighbouring cells may share one."""
        start = _rounded(first, op.spatial_scale)
        length = (_rounded(last, op.spatial_scale) - start + 1).maximum(1)
        cell = cell.cast("i64")
        begins, ends = (
            (start + offset).maximum(0).minimum(size).cast("i32")
            for offset in (length * cell / cells, (length * (cell + 1) + (cells - 1)) / cells)
        )
        return _Cells(begins, ends, (length / cells + 2).minimum(size).cast("i32"))

    def place(self, offset: Value) -> Value:
        """Return an element of each cell; nowhere, beyond its end."""
        at = self.first + offset
        return at.less(self.end).select(at, -1)

    def is_empty(self) -> Value:
        return self.first.greater_equal(self.end)


def _rounded(coordinate: Value, scale: float) -> Value:
    """Round to the nearest integer, halves away from zero; NaN gives 0."""
    scaled = coordinate * scale
    size = (scaled.abs() + 0.5).apply("floor")
    whole = convert(size.minimum(FARTHEST), "i64")
    return scaled.less(0).select(-whole, whole)
