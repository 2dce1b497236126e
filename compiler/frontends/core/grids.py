"""Grids of points, to sample an image at."""

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Shape, numpy_dtype
from .values import constant, tensor


def affine_grid(theta: ir.Value, size: Shape, *, align_corners: bool) -> ir.Value:
    """Transform the points of a regular grid: a sum over axes of coordinate times column.

    `size` is that of the image to be made, [batch, channels, pixels…], `theta` has a matrix for
    each sample. Raises Invalid where they do not fit.
    """
    if len(size) < 3 or min(size) < 1:
        raise Invalid(f"has size {size}, must be batch, channels and pixels above 0")
    batch, _, *pixels = size
    count, dtype = len(pixels), numpy_dtype(tensor(theta).dtype)
    if tensor(theta).shape != (batch, count, count + 1):
        raise Invalid(f"has theta {tensor(theta)}, must be {batch}x{count}x{count + 1}")
    grid = _column(theta, count)
    for axis, number in enumerate(pixels):
        end = 1.0 if align_corners else 1 - 1 / number
        shape = (1,) * axis + (number,) + (1,) * (count - axis)
        places = np.linspace(-end, end, number) if number > 1 else np.zeros(1)
        at = constant(places.astype(dtype).reshape(shape))
        # The last spatial axis is the first coordinate.
        grid = tri.Add.build(tri.Mul.build(at, _column(theta, count - 1 - axis)).y, grid).y
    return grid


def _column(theta: ir.Value, index: int) -> ir.Value:
    """Return a column of each matrix, shaped to broadcast over pixels: [batch, 1…, rows]."""
    batch, rows, _ = tensor(theta).shape
    column = tri.Slice.build(theta, starts=(0, 0, index), sizes=(batch, rows, 1), steps=(1, 1, 1)).y
    return tri.Reshape.build(column, shape=(batch, *(1,) * rows, rows)).y
