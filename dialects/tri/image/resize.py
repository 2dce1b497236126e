"""Resampling: images of other sizes, and images seen through a grid of points."""

import math

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need, need_if_any, need_same
from ...core.tensor import Array, Tensor, is_float
from ..dialect import TriOp
from ..numeric import need_wide
from .interpolation import MODES, MOST_WEIGHTS, NEAREST_MODES, TRANSFORMS, Axis, Kernel
from .sampling import Tap, sample


class Resize(TriOp):
    """Resample every axis of `x` to a new size.

    `sizes`, the result's shape, and `scales` have one entry for each axis of `x`; `roi`, used by
    tf_crop_and_resize alone, has all starts and then all ends, as parts of the axes. Of an empty
    axis, there is nothing to make elements of. Integers are interpolated in f64 and cut off.
    Source: ONNX `Resize`.
    """

    x: Operand
    sizes: tuple[int, ...]
    scales: tuple[float, ...]
    mode: str = "nearest"
    coordinate_transform: str = "half_pixel"
    nearest_mode: str = "round_prefer_floor"
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation_value: float = 0.0
    roi: tuple[float, ...] = ()
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        need_wide(x)
        need_one_of("mode", self.mode, MODES)
        need_one_of("coordinate_transform", self.coordinate_transform, TRANSFORMS)
        need_one_of("nearest_mode", self.nearest_mode, NEAREST_MODES)
        for name, values in {"sizes": self.sizes, "scales": self.scales}.items():
            if len(values) != x.rank:
                raise Invalid(f"{name} has {len(values)} entries, must have {x.rank}")
        if not all(0 < scale < math.inf for scale in self.scales):
            raise Invalid(f"scales is {self.scales}, must be above 0 and finite")
        crops = self.coordinate_transform == "tf_crop_and_resize"
        if crops and len(self.roi) != 2 * x.rank:
            raise Invalid(f"roi has {len(self.roi)} entries, must have {2 * x.rank}")
        if x.dtype == "i1" and self.mode != "nearest":
            raise Invalid(f"element type is i1, mode '{self.mode}' must have a number")
        kernel = Kernel(self.mode, antialias=self.antialias)
        for index, axis in enumerate(map(Axis, x.shape, self.sizes, self.scales)):
            if not axis.unchanged:
                need(axis.new_size, 0, f"sizes is {self.sizes}, must be at least 0 at axis {index}")
                fault = f"input is {x}, must not be empty along axis {index}, as the result is not"
                need_if_any(axis.new_size, axis.size, 1, fault)
            count = axis.table_size(kernel)
            needed = f"needs {count} weights to resample axis {index}"
            need(MOST_WEIGHTS, count, f"{needed}, must need at most {MOST_WEIGHTS}")
        return Tensor(self.sizes, x.dtype)

    def reference(self, x: Array) -> Array:
        crops = self.coordinate_transform == "tf_crop_and_resize"
        starts, ends = (
            (self.roi[: x.ndim], self.roi[x.ndim :]) if crops else ((0,) * x.ndim, (1,) * x.ndim)
        )
        axes = list(map(Axis, x.shape, self.sizes, self.scales, starts, ends))
        changed = {index: axis for index, axis in enumerate(axes) if not axis.unchanged}
        kernel = Kernel(self.mode, self.cubic_coeff_a, self.exclude_outside, self.antialias)
        y = x if self.mode == "nearest" else _computable(x)
        for index, axis in changed.items():
            if self.mode == "nearest":
                y = y.take(axis.nearest(self.coordinate_transform, self.nearest_mode), index)
            else:
                matrix = axis.weights(self.coordinate_transform, kernel).astype(y.dtype)
                y = np.moveaxis(np.tensordot(y, matrix, (index, 1)), -1, index)
        if crops:
            y = y.copy()
            for index, axis in changed.items():
                at = axis.coordinates(self.coordinate_transform)
                outside = (at < 0) | (at > axis.size - 1)
                y[(slice(None),) * index + (outside,)] = self.extrapolation_value
        return narrow(y, x)


class GridSample(TriOp):
    """Sample an image at the points of a grid.

    `x` is [N, C, spatial…], `grid` is [N, points…, axes], `y` is [N, C, points…]. A point has one
    coordinate for each spatial axis, the last axis first; -1 and 1 are the ends of the axis: the
    centres of its first and last elements with `align_corners`, their outer edges otherwise.
    Without `normalized`, a coordinate is the number of an element instead.
    `padding_mode` defines the elements beyond the ends: zeros, the border, or a reflection.
    Source: ONNX `GridSample`; Jaderberg et al., "Spatial Transformer Networks", 2015.
    """

    x: Operand
    grid: Operand
    mode: str = "linear"
    padding_mode: str = "zeros"
    align_corners: bool = False
    normalized: bool = True
    y: Result

    def infer(self, x: Tensor, grid: Tensor) -> Tensor:
        need_wide(x)
        need_one_of("mode", self.mode, MODES)
        need_one_of("padding_mode", self.padding_mode, ("zeros", "border", "reflection"))
        for size in x.shape[2:]:
            need(size, 1, f"input is {x}, must have pixels")
        if not is_float(grid.dtype):
            raise Invalid(f"grid has element type {grid.dtype}, must be a float")
        if x.rank < 3 or grid.rank != x.rank:
            raise Invalid(f"input has rank {x.rank}, grid {grid.rank}, must be the same, 3 or more")
        fault = f"grid is {grid}, must have {x.shape[0]} batches and {x.rank - 2} axes"
        need_same(grid.shape[0], x.shape[0], fault)
        need_same(grid.shape[-1], x.rank - 2, fault)
        return Tensor((*x.shape[:2], *grid.shape[1:-1]), x.dtype)

    def reference(self, x: Array, grid: Array) -> Array:
        image = x if self.mode == "nearest" else _computable(x)
        points = np.moveaxis(widen(grid)[..., ::-1].astype(np.float64), -1, 0)
        axes = zip(points, x.shape[2:], strict=True)
        taps = [_taps(self, point, size) for point, size in axes]
        y = [
            sample(image[batch], [[(at[batch], w[batch]) for at, w in axis] for axis in taps])
            for batch in range(len(x))
        ]
        return narrow(np.stack(y), x)


def _computable(x: Array) -> Array:
    """Return `x` as floats wide enough to interpolate in."""
    wide = widen(x)
    return wide if np.issubdtype(wide.dtype, np.floating) else wide.astype(np.float64)


def _place(op: GridSample, point: Array, size: int) -> Array:
    """Return where points are between the elements of an axis."""
    if not op.normalized:
        return point
    return (point + 1) / 2 * (size - 1) if op.align_corners else ((point + 1) * size - 1) / 2


def _taps(op: GridSample, point: Array, size: int) -> list[Tap]:
    """List the elements of one axis that points see, with their weights: (index, weight)."""
    mode, padding_mode = op.mode, op.padding_mode
    at = _place(op, point, size)
    low, high = (0.0, size - 1.0) if op.align_corners else (-0.5, size - 0.5)
    if mode == "nearest":
        at = np.rint(at)
    if mode != "cubic":
        at = _inside(at, low, high, size, padding_mode)
    reach = {"nearest": (0, 1), "linear": (0, 2), "cubic": (-1, 3)}[mode]
    kernel = Kernel("linear" if mode == "nearest" else mode)
    taps: list[Tap] = []
    for offset in range(*reach):
        tap = np.floor(at) + offset
        weight = kernel(tap - at)
        index = _inside(tap, low, high, size, padding_mode)
        weight = weight * ((index >= 0) & (index < size))
        taps.append((index.clip(0, size - 1).astype(np.int64), weight))
    return taps


def _inside(at: Array, low: float, high: float, size: int, padding_mode: str) -> Array:
    """Move coordinates into the axis by the padding mode."""
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        span = high - low
        distance = np.abs(at - low) if span == 0 else np.abs(at - low) % (2 * span)
        at = low + np.minimum(distance, 2 * span - distance) if span else np.zeros_like(at)
    return at.clip(0, size - 1)
