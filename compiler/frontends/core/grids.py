"""Grids of points, to sample an image at."""

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.checks import need, need_same_shape
from ....dialects.core.sizes.dim import highest
from ....dialects.core.tensor import Shape, numpy_dtype
from .reals import Real, real
from .values import cast, constant, counted, tensor


def affine_grid(theta: ir.Value, size: Shape, *, align_corners: bool) -> ir.Value:
    """Transform the points of a regular grid: a sum over axes of coordinate times column.

    `size` is that of the image to be made, [batch, channels, pixels…], `theta` has a matrix for
    each sample. Raises Invalid where they do not fit.
    """
    if len(size) < 3:
        raise Invalid(f"has size {size}, must be batch, channels and pixels above 0")
    for each in size:
        need(each, 1, f"has size {size}, must be batch, channels and pixels above 0")
    batch, _, *pixels = size
    count, dtype = len(pixels), numpy_dtype(tensor(theta).dtype)
    wanted = (batch, count, count + 1)
    if tensor(theta).rank != len(wanted):
        raise Invalid(f"has theta {tensor(theta)}, must have rank {len(wanted)}")
    need_same_shape(
        tensor(theta).shape,
        wanted,
        f"has theta {tensor(theta)}, must be {batch}x{count}x{count + 1}",
    )
    grid = _column(theta, count)
    for axis, number in enumerate(pixels):
        shape = (1,) * axis + (number,) + (1,) * (count - axis)
        if is_symbolic(number):
            at = cast(_places(number, shape, align_corners).value, tensor(theta).dtype)
        else:
            end = 1.0 if align_corners else 1 - 1 / number
            places = np.linspace(-end, end, number) if number > 1 else np.zeros(1)
            at = constant(places.astype(dtype).reshape(shape))
        # The last spatial axis is the first coordinate.
        grid = tri.Add.build(tri.Mul.build(at, _column(theta, count - 1 - axis)).y, grid).y
    return grid


def _places(size: Size, shape: Shape, align_corners: bool) -> Real:
    """Return the places of pixels from -1 to 1, where their number is known in a run."""
    index = Real(cast(counted(size, shape), "f64")) * 2
    if not align_corners:
        return (index + 1) / real(size) - 1
    return (index - real(size - 1)) / real(highest(size - 1, 1))


def _column(theta: ir.Value, index: int) -> ir.Value:
    """Return a column of each matrix, shaped to broadcast over pixels: [batch, 1…, rows]."""
    batch, rows, _ = tensor(theta).shape
    column = tri.Slice.build(theta, starts=(0, 0, index), sizes=(batch, rows, 1), steps=(1, 1, 1)).y
    return tri.Reshape.build(column, shape=(batch, *(1,) * rows, rows)).y
