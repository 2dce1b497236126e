"""The lowering of sampling regions of images between elements.

The mean of samples is a weighted sum of elements, and weights are products of one for each axis:
bands of weights are made once for a region, and pool all of its channels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, for_each, index_of
from ...kernels.loops import Piece, Section, spread
from ...kernels.reduction import Reduction
from ...kernels.value import Value, strict_numbers
from ...registry import template
from .bands import Bands, Extent, RegionPool, image_of


@template(tri.RoiAlign)
def lower_roi_align(
    op: tri.RoiAlign,
    kernel: KernelBuilder,
    x: Buffer,
    rois: Buffer,
    batch_indices: Buffer,
    y: Epilogue,
) -> None:
    batch, channels, height, width = x.shape
    dtype = compute_dtype(x.dtype)
    weights = (dtype,) if op.mode == "avg" else (dtype, dtype)
    rows = Bands(kernel, op.sizes[0], height, weights)
    columns = Bands(kernel, op.sizes[1], width, weights)
    how = Reduction("add" if op.mode == "avg" else "max", dtype)
    line = kernel.private((width,), dtype)
    combine, empty = (_add, 0.0) if op.mode == "avg" else (_compare, -math.inf)
    lanes = kernel.lanes(dtype, *y.dtypes)
    pool = RegionPool(rows, columns, how, combine, empty, line, lanes)

    def region(at: list[IndexExpr]) -> list[Piece]:
        image = image_of(convert(batch_indices.load(at), "i64"), batch)
        down, right = _spans(op, rois, at[0], (height, width))
        _weigh(rows, down)
        extent = _weigh(columns, right)

        def channel(c: IndexExpr) -> None:
            def finish(value: Value, row: IndexExpr, cell: IndexExpr, lanes: Lanes) -> None:
                y.store(value, [at[0], c, row, cell], lanes)

            pool.channel(x.part([image, c]), extent, finish)

        return [Piece(channels, channel)]

    if y.tensor.size != 0:
        spread(Section(rois.shape[:1], channels, region))


def _add(now: Value, seen: Value, weights: Sequence[Value]) -> Value:
    return seen.fma(weights[0], now)


def _compare(now: Value, seen: Value, weights: Sequence[Value]) -> Value:
    """Take the greatest product: of the highest weight, or of the lowest if they are negative."""
    highest, lowest = weights
    return now.maximum(seen * highest).maximum(seen * lowest)


@dataclass(frozen=True)
class _Sample:
    """Describe a sample of an axis: the elements beside it, and the share of the second one."""

    first: IndexExpr
    second: IndexExpr
    share: Value
    seen: Value

    def elements(self) -> list[tuple[IndexExpr, Value]]:
        """List the two elements that it sees, with their weights."""
        weights = (self.seen.select(w, 0) for w in (1 - self.share, self.share))
        return list(zip((self.first, self.second), weights, strict=True))


@dataclass(frozen=True)
class _Span:
    """Describe a region along one axis: `count` samples in each of the cells of its length."""

    start: Value
    length: Value
    count: IndexExpr
    cells: Size
    size: Size

    def sample(self, cell: IndexExpr, number: IndexExpr) -> _Sample:
        """Place a sample of a cell."""
        with strict_numbers():
            at = self._at(cell, number)
            seen = is_seen(at, self.size)
            inside = nearest_inside(at, self.size)
            low = inside.apply("floor")
        first = index_of(convert(low, "i64"))
        return _Sample(first, self._next(first), inside - low, seen)

    def bounds(self, cell: IndexExpr) -> tuple[IndexExpr, IndexExpr]:
        """Return the first element that samples of a cell see, and the one behind the last."""
        first = self.sample(cell, IndexExpr(0)).first
        last = self.sample(cell, (self.count - 1).maximum(0))
        return first, last.second + 1

    def _at(self, cell: IndexExpr, number: IndexExpr) -> Value:
        which, sample, count = (
            each.to_value("i64").cast(PLACES) for each in (cell, number, self.count.maximum(1))
        )
        return sample_place(self.start, self.length, which, sample, count, self.cells)

    def _next(self, first: IndexExpr) -> IndexExpr:
        return (first + 1).minimum(IndexExpr(self.size) - 1)


def _spans(
    op: tri.RoiAlign, rois: Buffer, region: IndexExpr, sizes: tuple[Size, Size]
) -> list[_Span]:
    """Describe a region along the rows and the columns of an image."""
    corners = [rois.load([region, IndexExpr(side)]) for side in range(4)]
    spans: list[_Span] = []
    with strict_numbers():
        x1, y1, x2, y2 = corners
        pairs = (y1, y2), (x1, x2)
        for pair, cells, size in zip(pairs, op.sizes, sizes, strict=True):
            start, length = region_span(op, *pair)
            count = IndexExpr(op.sampling_ratio)
            if not op.sampling_ratio:
                count = index_of(convert(samples_of(length, cells), "i64"))
            spans.append(_Span(convert(start, PLACES), convert(length, PLACES), count, cells, size))
    return spans


def _weigh(bands: Bands, span: _Span) -> Extent:
    """List the elements of an axis that samples see, with sums or bounds of their weights."""
    dtype = bands.weights[0].dtype
    unseen = zero(dtype).like(-1), zero(dtype).like(2)

    def weigh(cell: IndexExpr, first: IndexExpr) -> None:
        end = span.bounds(cell)[1]

        def clear(number: IndexExpr) -> None:
            for table, weight in zip(bands.weights, unseen, strict=False):
                table.store(weight, [number, cell])

        def add(number: IndexExpr) -> None:
            for element, weight in span.sample(cell, number).elements():
                _note(bands.weights, weight, span.count, [element - first, cell])

        for_each(end - first, clear)
        for_each(span.count, add)

    return bands.fill(span.bounds, weigh)


def _note(tables: Sequence[Buffer], weight: Value, count: IndexExpr, at: list[IndexExpr]) -> None:
    """Add the share of a sample to that of an element, or note it as the highest or lowest."""
    old = [table.load(at) for table in tables]
    if len(tables) == 1:
        share = convert(weight / count.to_value("i64").cast(PLACES), old[0].dtype)
        tables[0].store(old[0].maximum(0) + share, at)
        return
    share = convert(weight, old[0].dtype)
    tables[0].store(old[0].maximum(share), at)
    tables[1].store(old[1].minimum(share), at)
