"""Select averages that divide by the number of pixels of a window that are inside of an image."""

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array, Shape
from .....passes.rewriting import NoMatch
from ...select.pools import summed_windows, sums_windows
from ...select.selection import HIGH
from ..dialect.single import Sdp, spelled
from ..format.operations import SdpStage
from ..reference import sdp
from ..reference.arithmetic import Integers
from .convolutions import Ending, Kernel, bias_of, convolved_groups, summed
from .elementwise import converter
from .selection import NvdlaSelection, image_of, image_shape

_CLOSE = 2.0**-10
"""How far from its quotient a share may be: an eighth of a step for the largest value."""


def select_counted_average(op: tri.RequantizeMean, selection: NvdlaSelection) -> None:
    """Select an average as a convolution with ones, whose sums SDP multiplies pixel by pixel.

    A window of n pixels has the share m / n, a byte: of 3x3 these are 4, 6 and 9 for m = 36.
    """
    name = selection.description.name
    conv = selection.sole(op.x, tri.Conv)
    if not sums_windows(conv, selection):
        raise NoMatch(f"{name} divides sums of windows, not of products")
    source, window, covered = summed_windows(conv, selection)
    selection.ending(op)
    ending = Ending(op.zero_point, op.low, op.high)
    shape = image_shape(tensor_of(op.y.type).shape)
    counts = _counts_of(selection.constant(op.count, "counts"), tensor_of(op.y.type).shape, name)
    whole, shares = _shares(counts.reshape(shape[2:]), name)
    scaled = converter(op.multiplier * 2.0**-op.shift / whole, ending)

    def convolve(x: ir.Value, kernel: Kernel) -> ir.Value:
        sums = summed(selection, x, kernel, window)
        batch = tensor_of(sums.type).shape
        operand = np.broadcast_to(shares, batch).astype(np.int8)
        first = SdpStage(enable=1, kind=sdp.ALU, mode=sdp.PER_CHANNEL, precision=1)
        second = SdpStage(enable=1, kind=sdp.MULTIPLY, mode=sdp.PER_ELEMENT)
        return selection.build(
            Sdp,
            sums,
            selection.vector(bias_of(kernel), "biases"),
            selection.build_constant(operand, "shares"),
            x1=spelled(first),
            x2=spelled(second),
            **scaled,
        ).result

    with selection.place(*covered):
        image = image_of(source.value)
        channels = tensor_of(image.type).shape[1]
        ones = np.ones((channels, 1, *window.kernel), np.int64)
        nothing = np.zeros(channels, np.int64)
        kernel = Kernel(ones, nothing, nothing, nothing, source.zero)
        y = convolved_groups(selection, image, kernel, channels, convolve)
        y = selection.clamped(y, ending.low, ending.high)
    selection.replaced(y, covered)


def _counts_of(given: Array, shape: Shape, name: str) -> Integers:
    """Return the counts of pixels, which must be those of every channel."""
    counts = np.broadcast_to(given, shape).astype(np.int64)
    if not (counts == counts[:1, :1]).all():
        raise NoMatch(f"{name} divides all channels of a pixel by one number")
    return counts[0, 0]


def _shares(counts: Integers, name: str) -> tuple[int, Integers]:
    """Return the number whose quotients by all counts are closest to bytes, and these bytes."""
    found = np.unique(counts)
    most = np.arange(1, HIGH * int(found[0]) + 1)
    quotients = most[:, None] / found
    faults = np.abs(np.round(quotients) / quotients - 1).max(axis=1)
    best = int(faults.argmin())
    if faults[best] > _CLOSE:
        listed = ", ".join(map(str, found))
        raise NoMatch(f"{name} divides by numbers whose ratios are those of bytes, not {listed}")
    whole = int(most[best])
    return whole, np.round(whole / counts).astype(np.int64)
