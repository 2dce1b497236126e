"""Rules of ONNX Runtime that take parts of tensors: of images, and by windows."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.sizes.atoms import is_symbolic
from ......dialects.core.tensor import Array, normalize_axis
from ....core.values import constant, ints, tensor
from ...registry import Value, onnx_op
from . import DOMAIN


@onnx_op("CropAndResize", since=1, domain=DOMAIN)
def crop_and_resize(
    x: Value,
    rois: Value,
    batch_indices: Value,
    crop_size: Array,
    *,
    extrapolation_value: float = 0.0,
    mode: str = "bilinear",
) -> Value:
    """Resize parts [y1, x1, y2, x2] of images; 0 is the middle of the first pixel, 1 of the last.

    What lies outside of the image has the extrapolation value.
    """
    if mode != "bilinear":
        raise Unsupported(f"has mode '{mode}', must be bilinear")
    sizes = ints(crop_size)
    if len(sizes) != 2 or min(sizes) < 1:
        raise Invalid(f"has crop_size {list(sizes)}, must be a height and a width")
    corners = tri.Split.build(rois, axis=1, sizes=(1, 1, 1, 1)).results
    ys = _positions(corners[0], corners[2], sizes[0])
    xs = _positions(corners[1], corners[3], sizes[1])
    count = tensor(rois).shape[0]
    shape = (count, *sizes, 1)
    spread = [
        tri.Expand.build(tri.Reshape.build(at, shape=each).y, shape=shape).y
        for at, each in ((xs, (count, 1, sizes[1], 1)), (ys, (count, sizes[0], 1, 1)))
    ]
    grid = tri.Concat.build(spread, axis=3).y
    ends = tri.Sub.build(tri.Mul.build(grid, _number(2)).y, _number(1)).y
    images = tri.Gather.build(x, batch_indices, axis=0).y
    y = tri.GridSample.build(
        images, ends, mode="linear", padding_mode="border", align_corners=True
    ).y
    outside = tri.Reshape.build(_is_outside(grid, x), shape=(count, 1, *sizes)).y
    return tri.Where.build(outside, _number(extrapolation_value), y).y


def _positions(first: Value, last: Value, size: int) -> Value:
    """Return `size` positions from the first to the last, or the middle one."""
    parts = np.arange(size, dtype=np.float32) / max(size - 1, 1) if size > 1 else np.full(1, 0.5)
    ways = tri.Mul.build(tri.Sub.build(last, first).y, constant(parts.astype(np.float32))).y
    return tri.Add.build(first, ways).y


def _is_outside(grid: Value, x: Value) -> Value:
    """Report whether pixels lie outside; along an axis of one pixel, none does."""
    ends = [size - 1 for size in reversed(tensor(x).shape[2:])]
    if any(map(is_symbolic, ends)):
        raise Unsupported(f"crops images of type {tensor(x)}, must have a known height and width")
    last = constant(np.array(ends, np.float32))
    pixels = tri.Mul.build(grid, last).y
    low = tri.Less.build(pixels, _number(0)).y
    high = tri.Greater.build(pixels, last).y
    either = tri.Cast.build(tri.Or.build(low, high).y, to="i32").y
    most = tri.ReduceMax.build(either, axes=(3,), keepdims=False).y
    return tri.Cast.build(most, to="i1").y


@onnx_op("UnfoldTensor", since=1, domain=DOMAIN)
def unfold_tensor(x: Value, *, dim: int = -1, size: int, step: int = 1) -> Value:
    """Take windows of an axis; their elements are a new, last axis."""
    axis = normalize_axis(dim, tensor(x).rank)
    length = tensor(x).shape[axis]
    if is_symbolic(length):
        raise Unsupported(f"has windows of an axis of {length} elements, must be a number")
    if not 1 <= size <= length or step < 1:
        raise Invalid(f"has windows of {size} in steps of {step} of {length} elements")
    starts = np.arange(0, length - size + 1, step, dtype=np.int64)
    places = starts[:, None] + np.arange(size, dtype=np.int64)
    taken = tri.Gather.build(x, constant(places), axis=axis).y
    axes = [each for each in range(tensor(taken).rank) if each != axis + 1]
    return tri.Transpose.build(taken, permutation=(*axes, axis + 1)).y


def _number(value: float) -> Value:
    return constant(np.array(value, np.float32))
