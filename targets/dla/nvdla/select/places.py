"""Select what is only a place in memory: concats and slices, with copies between atoms."""

from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Shape, normalize_axis, numpy_dtype
from .....passes.rewriting import NoMatch
from ...select.images import is_made_here
from ..dialect.convolution import Conv
from ..dialect.moves import CHANNELS, ROWS, Join, Window
from ..dialect.single import Sdp
from .selection import NvdlaSelection, image_of


def select_concat(op: tri.Concat, selection: NvdlaSelection) -> None:
    """Select a concat along channels or rows.

    Channels behind an operand that is no whole atoms are moved, by a convolution.
    """
    shape = tensor_of(op.y.type).shape
    axis = normalize_axis(op.axis, len(shape))
    if len(shape) != 4 or axis not in (CHANNELS, ROWS):
        raise NoMatch(f"{selection.description.name} joins images along channels or rows")
    with selection.place():
        operands: Sequence[ir.Value] = op.xs
        if axis == CHANNELS:
            operands = _in_whole_atoms(operands, selection)
        y = selection.build(Join, list(operands), axis=axis).y
    selection.replaced(y, ())


def select_slice(op: tri.Slice, selection: NvdlaSelection) -> None:
    """Select a part of images that the accelerator has made.

    Channels that do not begin with an atom are moved, by a convolution.
    """
    name, shape = selection.description.name, tensor_of(op.x.type).shape
    if len(shape) != 4 or any(step != 1 for step in op.steps) or op.sizes[0] != shape[0]:
        raise NoMatch(f"{name} has parts of images, of adjacent elements")
    if not is_made_here(op.x, selection.rewriter):
        raise NoMatch(f"{name} has parts of results of its own")
    first, row, column = op.starts[1:]
    channels, rows, columns = op.sizes[1:]
    over = first % selection.atom
    start, sizes = (first - over, row, column), (over + channels, rows, columns)
    with selection.place():
        y = selection.build(Window, op.x, start=start, sizes=sizes).y
        if over:
            y = moved(y, range(over, over + channels), selection)
    selection.replaced(y, ())


def moved(x: ir.Value, picked: Sequence[int], selection: NvdlaSelection) -> ir.Value:
    """Build an image of some channels of another, in an order; a number below 0 is a zero.

    The convolution has one weight of 1 for each channel, so that its sums are values as they are.
    """
    channels = tensor_of(x.type).shape[1]
    dtype = numpy_dtype(tensor_of(x.type).dtype)
    wanted = np.asarray(picked)[:, None] == np.arange(channels)
    weights = selection.build_constant(wanted[:, :, None, None].astype(dtype), "weights")
    block = selection.configuration.macs_channels
    return selection.build(Sdp, selection.build(Conv, x, weights, block=block).y).result


def is_channel_of(part: Shape, whole: Shape) -> bool:
    """Report whether images are one channel for others that have several."""
    return len(part) == len(whole) > 2 and part == (whole[0], 1, *whole[2:])


def spread(x: ir.Value, shape: Shape, selection: NvdlaSelection) -> ir.Value:
    """Build images with the channels of a shape of images that have these, or one for all."""
    image = image_of(x)
    if not is_channel_of(tensor_of(x.type).shape, shape):
        return image
    return moved(image, [0] * shape[1], selection)


def _in_whole_atoms(operands: Sequence[ir.Value], selection: NvdlaSelection) -> Sequence[ir.Value]:
    """Return operands of which all but the last are whole atoms.

    Those from the first on that is none are joined with gaps, which are then left out.
    """
    atom = selection.atom
    kept = list(takewhile(lambda x: _channels(x) % atom == 0, operands))
    rest = operands[len(kept) :]
    if len(rest) < 2:
        return operands
    picked: list[int] = []
    whole: list[ir.Value] = []
    for x in rest:
        channels, start = _channels(x), sum(map(_channels, whole))
        picked += range(start, start + channels)
        more = -channels % atom
        whole.append(moved(x, [*range(channels), *[-1] * more], selection) if more else x)
    joined = selection.build(Join, whole, axis=CHANNELS).y
    return [*kept, moved(joined, picked, selection)]


def _channels(x: ir.Value) -> int:
    shape: Shape = tensor_of(x.type).shape
    return shape[1]
