"""Pooling of regions of interest."""

import math
from itertools import product

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need, need_same, need_same_shape
from ...core.tensor import Array, Shape, Tensor, is_integer, same_dtype
from ..dialect import TriOp
from ..numeric import need_float


class RoiAlign(TriOp):
    """Sample each region on a grid of `sizes` cells, and pool the samples of each cell.

    `x` is [N, C, H, W], `rois` is [R, 4] with x1, y1, x2, y2 in units of 1 / `spatial_scale`,
    `batch_indices` is [R], `y` is [R, C, height, width]. A cell has `sampling_ratio` samples along
    each axis, or as many as it has elements when that is 0; with `half_pixel`, element i
    covers [i, i + 1]. Mode `max` takes the greatest of all weighted neighbours of all samples, as
    ONNX does. Source: ONNX `RoiAlign`; He et al., "Mask R-CNN", 2017.
    """

    x: Operand
    rois: Operand
    batch_indices: Operand
    sizes: tuple[int, ...]
    mode: str = "avg"
    sampling_ratio: int = 0
    spatial_scale: float = 1.0
    half_pixel: bool = True
    y: Result

    def infer(self, x: Tensor, rois: Tensor, batch_indices: Tensor) -> Tensor:
        same_dtype(need_float(x), rois)
        need_one_of("mode", self.mode, ("avg", "max"))
        if x.rank != 4:
            raise Invalid(f"input has rank {x.rank}, must have 4")
        count = batch_indices.size
        fault = f"regions are {rois} of images {batch_indices}, must be Rx4 and R"
        if batch_indices.rank != 1:
            raise Invalid(fault)
        need_same_shape(rois.shape, (count, 4), fault)
        if not is_integer(batch_indices.dtype):
            raise Invalid(f"batch indices are {batch_indices}, must be integers")
        _check_sizes(self.sizes)
        if self.sampling_ratio < 0:
            raise Invalid(f"sampling_ratio is {self.sampling_ratio}, must be at least 0")
        return Tensor((count, x.shape[1], *self.sizes), x.dtype)

    def reference(self, x: Array, rois: Array, batch_indices: Array) -> Array:
        _check_images(batch_indices, x)
        y = np.zeros((len(rois), x.shape[1], *self.sizes), widen(x).dtype)
        scaled = widen(rois) * self.spatial_scale - (0.5 if self.half_pixel else 0.0)
        at_least = 0.0 if self.half_pixel else 1.0
        for region, (x1, y1, x2, y2) in enumerate(scaled):
            rows = _samples(y1, y2, self.sizes[0], x.shape[2], self.sampling_ratio, at_least)
            columns = _samples(x1, x2, self.sizes[1], x.shape[3], self.sampling_ratio, at_least)
            y[region] = _pool(widen(x[batch_indices[region]]), rows, columns, self.mode)
        return narrow(y, x)


class MaxRoiPool(TriOp):
    """Split each region in a grid of `sizes` cells, and take the maximum of each cell.

    `x` is [N, C, H, W], `rois` is [R, 5] with the image, then x1, y1, x2, y2 of its first and last
    elements in units of 1 / `spatial_scale`; `y` is [R, C, height, width]. An empty cell gives 0.
    Source: ONNX `MaxRoiPool`; Girshick, "Fast R-CNN", 2015.
    """

    x: Operand
    rois: Operand
    sizes: tuple[int, ...]
    spatial_scale: float = 1.0
    y: Result

    def infer(self, x: Tensor, rois: Tensor) -> Tensor:
        same_dtype(need_float(x), rois)
        if x.rank != 4:
            raise Invalid(f"input has rank {x.rank}, must have 4")
        if rois.rank != 2:
            raise Invalid(f"regions are {rois}, must be Rx5")
        need_same(rois.shape[1], 5, f"regions are {rois}, must be Rx5")
        _check_sizes(self.sizes)
        return Tensor((rois.shape[0], x.shape[1], *self.sizes), x.dtype)

    def reference(self, x: Array, rois: Array) -> Array:
        _check_images(rois[:, 0], x)
        y = np.zeros((len(rois), x.shape[1], *self.sizes), x.dtype)
        for region, (image, *corners) in enumerate(np.nan_to_num(widen(rois))):
            x1, y1, x2, y2 = (_rounded(c * self.spatial_scale) for c in corners)
            rows = _cells(y1, y2, self.sizes[0], x.shape[2])
            columns = _cells(x1, x2, self.sizes[1], x.shape[3])
            for (row, down), (column, right) in product(enumerate(rows), enumerate(columns)):
                cell = x[int(image), :, down, right]
                if cell.size:
                    y[region, :, row, column] = cell.max(axis=(1, 2))
        return y


def _rounded(coordinate: float) -> int:
    """Round to the nearest integer, halves away from zero."""
    return int(math.copysign(math.floor(abs(coordinate) + 0.5), coordinate))


def _cells(first: int, last: int, count: int, size: int) -> list[slice]:
    """Split the elements of one axis of a region; neighbouring cells may share one."""
    length = max(last - first + 1, 1)
    starts = (first + math.floor(i * length / count) for i in range(count))
    ends = (first + math.ceil((i + 1) * length / count) for i in range(count))
    pairs = zip(starts, ends, strict=True)
    return [slice(min(max(a, 0), size), min(max(b, 0), size)) for a, b in pairs]


Samples = tuple[Array, Array]
"""The elements that samples of one axis see, and their weights: [cells, samples, 2] both."""


def _samples(
    start: float, end: float, cells: int, size: int, ratio: int, at_least: float
) -> Samples:
    """Place samples along one axis of a region, and find the two elements that each sees."""
    length = max(end - start, at_least)
    count = ratio or (math.ceil(length / cells) if math.isfinite(length) else 0)
    steps = (np.arange(cells)[:, None] + (np.arange(count) + 0.5) / max(count, 1)) / cells
    at = start + steps * length
    # A point up to one element outside sees the border, one further out sees nothing.
    seen = (at >= -1) & (at <= size)
    inside = np.where(seen, at, 0).clip(0, size - 1)
    low = np.floor(inside)
    high = np.minimum(low + 1, size - 1)
    weights = np.stack([1 - (inside - low), inside - low], -1) * seen[..., None]
    return np.stack([low, high], -1).astype(np.int64), weights


def _pool(image: Array, rows: Samples, columns: Samples, mode: str) -> Array:
    """Pool the samples of each cell of one region."""
    (at_rows, row_weights), (at_columns, column_weights) = rows, columns
    down = (slice(None), None, slice(None), None, slice(None), None)
    right = (None, slice(None), None, slice(None), None, slice(None))
    weights = (row_weights[down] * column_weights[right]).astype(image.dtype)
    seen = image[:, at_rows[down], at_columns[right]] * weights
    inner = (3, 4, 5, 6)  # samples and neighbours, down and right
    if mode == "max":
        return seen.max(axis=inner, initial=-np.inf)
    return seen.sum(axis=inner) / max(at_rows.shape[1] * at_columns.shape[1], 1)


def _check_sizes(sizes: Shape) -> None:
    fault = f"sizes is {sizes}, must be two numbers of at least 1"
    if len(sizes) != 2:
        raise Invalid(fault)
    for size in sizes:
        need(size, 1, fault)


def _check_images(images: Array, x: Array) -> None:
    """Raise Invalid for a region of an image that the batch does not have."""
    for image in images:
        if not 0 <= image < len(x):
            raise Invalid(f"region is of image {image}, must be in [0, {len(x)})")
