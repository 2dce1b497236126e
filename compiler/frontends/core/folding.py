"""Blocks that are added up where they overlap: the inverse of taking windows."""

import math

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Shape, numpy_dtype
from ....dialects.tri.image.window import Window
from .values import constant, tensor


def fold_blocks(
    x: ir.Value, image: Shape, block: Shape, *, strides: Shape, pads: Shape, dilations: Shape
) -> ir.Value:
    """Add up blocks: a transposed convolution with one tap for each channel.

    `x` is [batch, channels * block, windows], the result [batch, channels, image]. Raises Invalid
    where they do not fit.
    """
    seen = Window(block, strides, pads, dilations)
    windows, taps = seen.output_sizes(image), math.prod(block)
    if tensor(x).rank != 3:
        raise Invalid(f"has input {tensor(x)}, must have rank 3")
    batch, rows, count = tensor(x).shape
    if count != math.prod(windows) or rows % taps:
        raise Invalid(f"has input {tensor(x)}, must have blocks of {taps} at {windows} places")
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
