"""Blocks that are added up where they overlap: the inverse of taking windows."""

import math

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.sizes.checks import need_divides, need_same
from ....dialects.core.sizes.dim import floordiv, highest
from ....dialects.core.tensor import Shape, numpy_dtype
from ....dialects.tri.image.window import Window
from .values import constant, counted, number, tensor


def fold_blocks(
    x: ir.Value, image: Shape, block: Shape, *, strides: Shape, pads: Shape, dilations: Shape
) -> ir.Value:
    """Add up blocks: a transposed convolution with one tap for each channel.

    Where sizes of blocks or images depend on a run, elements are added one by one.

    `x` is [batch, channels * block, windows], the result [batch, channels, image]. Raises Invalid
    where they do not fit.
    """
    seen = Window(block, strides, pads, dilations)
    windows, taps = seen.output_sizes(image), highest(math.prod(block), 1)
    if tensor(x).rank != 3:
        raise Invalid(f"has input {tensor(x)}, must have rank 3")
    batch, rows, count = tensor(x).shape
    fault = f"has input {tensor(x)}, must have blocks of {taps} at {windows} places"
    need_same(count, math.prod(windows), fault)
    need_divides(rows, taps, fault)
    if any(map(is_symbolic, (*image, *block))):
        return _scattered(x, image, windows, seen)
    channels = rows // taps
    one_tap = np.eye(taps, dtype=numpy_dtype(tensor(x).dtype)).reshape(taps, 1, *block)
    repeats = (channels, *(1,) * (1 + len(block)))
    covered = seen.input_sizes(windows)
    return tri.ConvTranspose.build(
        tri.Reshape.build(x, shape=(batch, rows, *windows)).y,
        tri.Tile.build(constant(one_tap), repeats=repeats).y,
        **seen.attributes,
        group=channels,
        output_padding=tuple(n - c for n, c in zip(image, covered, strict=True)),
    ).y


def _scattered(x: ir.Value, image: Shape, windows: Shape, seen: Window) -> ir.Value:
    """Add each element to the one at its place in a padded image, and cut the border off."""
    batch, rows, _ = tensor(x).shape
    channels = floordiv(rows, highest(math.prod(seen.kernel), 1))
    padded = tuple(b + n + e for b, n, e in zip(seen.begins, image, seen.ends, strict=True))
    images, area = batch * channels, math.prod(padded)
    places = _places(windows, padded, seen)
    inside = tri.Reshape.build(places, shape=(1, tensor(places).size)).y
    first = tri.Mul.build(counted(images, (images, 1)), number(area)).y
    where = tri.Add.build(first, inside).y
    zero = constant(np.zeros((), numpy_dtype(tensor(x).dtype)))
    zeros = tri.Expand.build(zero, shape=(images * area,)).y
    flat = (images * tensor(places).size,)
    added = tri.ScatterElements.build(
        zeros,
        tri.Reshape.build(where, shape=flat).y,
        tri.Reshape.build(x, shape=flat).y,
        axis=0,
        reduction="add",
    ).y
    whole = tri.Reshape.build(added, shape=(batch, channels, *padded)).y
    starts, sizes = (0, 0, *seen.begins), (batch, channels, *image)
    return tri.Slice.build(whole, starts=starts, sizes=sizes, steps=(1,) * len(sizes)).y


def _places(windows: Shape, padded: Shape, seen: Window) -> ir.Value:
    """Return the places in a padded image of the elements of each block, in each window."""
    rank = len(windows)
    total = number(0)
    for axis in range(rank):
        row = math.prod(padded[axis + 1 :])
        for at, size, step in (
            (axis, seen.kernel[axis], seen.dilations[axis]),
            (rank + axis, windows[axis], seen.strides[axis]),
        ):
            shape = tuple(size if at == other else 1 for other in range(2 * rank))
            far = tri.Mul.build(counted(size, shape), number(step * row)).y
            total = tri.Add.build(total, far).y
    return total
