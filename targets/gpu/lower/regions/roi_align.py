"""Lowering of sampling regions of images between elements: a program has a part of one region."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from .....dialects import tri
from .....dialects.core.sizes.atoms import Size
from ....kernels.arithmetic import compute_dtype
from ....kernels.conversion import convert
from ....kernels.lower.roi_align import (
    PLACES,
    is_seen,
    nearest_inside,
    region_span,
    sample_place,
    samples_of,
)
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.loop import loop
from ...kernels.regions import Region
from ...kernels.value import Value, full, scalar
from ...registry import template
from ..gather import place_in

Tap = tuple[Value, Value]  # where on an axis, an i32, and how much it counts


@template(tri.RoiAlign)
def lower_roi_align(
    op: tri.RoiAlign,
    kernel: KernelBuilder,
    x: Buffer,
    rois: Buffer,
    batch_indices: Buffer,
    y: Epilogue,
) -> None:
    region = Region(kernel, y)
    image = place_in(batch_indices.load([region.number]), x.shape[0])
    x1, y1, x2, y2 = (rois.load([region.number, scalar(side)]) for side in range(4))
    down = _Span.of(op, y1, y2, op.sizes[0], x.shape[2])
    right = _Span.of(op, x1, x2, op.sizes[1], x.shape[3])
    row, column = region.cell
    dtype = compute_dtype(x.dtype)

    def see(now: Value, rows: Sequence[Tap], columns: Sequence[Tap]) -> Value:
        for (at, share), (beside, other) in product(rows, columns):
            seen = x.load([image, region.channel, at, beside]) * (share * other)
            now = now + seen if op.mode == "avg" else now.maximum(seen)
        return now

    def line(number: Value, total: Value) -> Value:
        rows = down.taps(row, number, dtype)

        def sample(number: Value, total: Value) -> Value:
            return see(total, rows, right.taps(column, number, dtype))

        (total,) = loop(0, right.count, 1, [total], sample, "across")
        return total

    start = full(0 if op.mode == "avg" else -math.inf, dtype, region.shape)
    (total,) = loop(0, down.count, 1, [start], line, "down")
    if op.mode == "avg":
        samples = down.samples * right.samples
        total = total / samples.cast(dtype)
    y.store(total, region.at)


@dataclass(frozen=True)
class _Span:
    """Describe a region along one axis: `count` samples in each of its cells."""

    start: Value
    length: Value
    count: Value
    cells: Size
    size: Size

    @staticmethod
    def of(op: tri.RoiAlign, first: Value, last: Value, cells: Size, size: Size) -> "_Span":
        start, length = region_span(op, first, last)
        count = scalar(op.sampling_ratio)
        if not op.sampling_ratio:
            count = convert(samples_of(length, cells), "i32")
        return _Span(convert(start, PLACES), convert(length, PLACES), count, cells, size)

    @property
    def samples(self) -> Value:
        """Return how many samples a cell has as a number to divide by."""
        return self.count.maximum(1).cast(PLACES)

    def taps(self, cell: Value, number: Value, dtype: str) -> list[Tap]:
        """List the two elements that a sample of each cell sees, and their weights."""
        place = cell.cast(PLACES), number.cast(PLACES), self.samples
        at = sample_place(self.start, self.length, *place, self.cells)
        seen = is_seen(at, self.size)
        inside = nearest_inside(seen.select(at, 0), self.size)
        low = inside.apply("floor")
        first = convert(low, "i32")
        share = inside - low
        weights = (convert(seen.select(each, 0), dtype) for each in (1 - share, share))
        return list(zip((first, (first + 1).minimum(self.size - 1)), weights, strict=True))
