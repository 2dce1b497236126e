"""A convolution whose taps move: samples of its input, and a product of matrices."""

import math

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.atoms import Size, is_symbolic
from ...dialects.core.tensor import Shape
from ...dialects.tri.image.window import Window
from ..building import (
    add,
    cast,
    constant,
    mat_mul,
    mul,
    per_channel,
    reshape,
    shape_of,
)
from ..fold.fold_slices import build_slice
from .norms import narrowed, widened
from .registry import decomposes


@decomposes(tri.DeformConv)
def deform_conv(op: tri.DeformConv) -> ir.Value:
    x, w = widened(op.x), widened(op.w)
    batch, outputs, *windows = shape_of(op.y)
    depth = math.prod(shape_of(w)[1:])
    columns = _columns(op, x, op.window(shape_of(w)[2:]), tuple(windows))
    columns = reshape(columns, batch, op.group, depth, math.prod(windows))
    y = mat_mul(reshape(w, op.group, outputs // op.group, depth), columns)
    y = reshape(y, batch, outputs, *windows)
    if op.b is not None:
        y = add(y, per_channel(widened(op.b), len(windows) + 2))
    return narrowed(y, op.y)


def _columns(op: tri.DeformConv, x: ir.Value, window: Window, windows: Shape) -> ir.Value:
    """Return what all taps of all windows read: [images, channels, taps, windows]."""
    batch, channels, *sizes = shape_of(x)
    images, taps, points = batch * op.offset_group, math.prod(window.kernel), math.prod(windows)
    parts = reshape(x, images, channels // op.offset_group, *sizes)
    ones = [1] * (window.rank - 2)
    moved = (taps, points, *ones) if window.rank > 1 else (taps * points,)
    grid = reshape(_grid(op, window, windows), images, *moved, window.rank)
    seen = tri.GridSample.build(parts, grid, normalized=False).y
    if op.mask is None:
        return seen
    mask = reshape(widened(op.mask), images, 1, taps, points)
    return mul(reshape(seen, images, channels // op.offset_group, taps, points), mask)


def _grid(op: tri.DeformConv, window: Window, windows: Shape) -> ir.Value:
    """Return where taps are in an image: [images, taps, windows, axes], its last axis first."""
    offset = widened(op.offset)
    images, taps = shape_of(offset)[0] * op.offset_group, math.prod(window.kernel)
    offset = reshape(offset, images, taps, window.rank, *windows)
    made: list[ir.Value] = []
    for axis in reversed(range(window.rank)):
        dtype = tensor_of(offset.type).dtype
        moves = reshape(build_slice(offset, 2, axis, 1).y, images, taps, *windows)
        at = add(moves, _regular(window, axis, windows[axis], dtype))
        made.append(reshape(at, images, taps, *windows, 1))
    return made[0] if len(made) == 1 else tri.Concat.build(made, axis=window.rank + 2).y


def _regular(window: Window, axis: int, count: Size, dtype: str) -> ir.Value:
    """Return where taps are along an axis before they move: [taps, windows…], broadcast."""
    numbers = np.indices(window.kernel)[axis].reshape(-1, *[1] * window.rank)
    taps = numbers * window.dilations[axis] - window.begins[axis]
    along = [count if other == axis else 1 for other in range(window.rank)]
    if not is_symbolic(count):
        return constant(taps + np.arange(count).reshape(along) * window.strides[axis], dtype)
    starts = cast(reshape(tri.Iota.build(size=count).y, *along), dtype)
    return add(mul(starts, window.strides[axis]), constant(taps, dtype))
