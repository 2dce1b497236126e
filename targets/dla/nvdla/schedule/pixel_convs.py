"""Convolutions of pixels: which inputs may be images of pixels, and what their convolutions need.

The pixels of a row and their channels are one set of channels, so that few channels use more of the
MACs. Zeros as columns of kernels fill units of weights; they reach into the padding.
"""

from dataclasses import dataclass, replace

from .....dialects.core.attributes import tensor_of
from .....dialects.core.tensor import Shape
from ..configuration import Configuration
from ..dialect.convolution import Conv
from ..format.network import Precision
from ..format.operations import ConvOperation
from ..image_weights import rows_fit
from ..pixels import FORMATS, PixelFormat
from ..surfaces import WEIGHT_UNIT, pixel_entries

INT8 = Precision.INT8
_ALIGNMENT = 32
"""Lines of pixels begin at multiples of this many bytes."""

_LINES = (1, 2, 4)
"""How many rows of a kernel may be multiplied at once."""


@dataclass(frozen=True)
class PixelSizes:
    """What a convolution of pixels needs: weights [K, C, R, S], entries of CBUF for a row.

    `extension` is the logarithm of the rows of a kernel that are multiplied at once.
    """

    weights: Shape
    entries: int
    extension: int


def format_for(channels: int) -> PixelFormat | None:
    """Return the format of pixels of some bytes, None for more than four."""
    names = {1: "R8", 2: "A8B8G8R8", 3: "A8B8G8R8", 4: "A8B8G8R8"}
    return next((each for each in FORMATS if each.name == names.get(channels)), None)


def line_stride(width: int, form: PixelFormat, configuration: Configuration) -> int:
    """Return the bytes from row to row of an image of pixels."""
    unit = max(_ALIGNMENT, configuration.atom)
    return -(-width * sum(form.pixel_bytes) // unit) * unit


def pixel_sizes(op: Conv, form: PixelFormat, configuration: Configuration) -> PixelSizes:
    """Return what a convolution of pixels needs."""
    width = tensor_of(op.x.type).shape[3]
    kernels, _, rows, columns = tensor_of(op.w.type).shape
    channels, atom = form.channels, configuration.atom
    tried = (
        (count, more)
        for more in range(columns, columns + WEIGHT_UNIT)
        for count in (kernels, -(-kernels // atom) * atom)
    )
    count, more = next(
        each for each in tried if each[0] * each[1] * channels * rows % WEIGHT_UNIT == 0
    )
    across = width + op.pads[1] + op.pads[3] + more - columns
    sizes = channels, more * channels, op.strides[1]
    possible = [each for each in _LINES if rows_fit(each, *sizes, configuration)]
    lines = max(possible) if op.strides[1] <= columns else 1
    entries = pixel_entries(across, channels, configuration, INT8)
    return PixelSizes((count, channels, rows, more), entries, lines.bit_length() - 1)


def pixel_operation(op: Conv, form: PixelFormat, configuration: Configuration) -> ConvOperation:
    """Return the descriptor of a convolution of pixels of signed bytes, without banks."""
    sizes = pixel_sizes(op, form, configuration)
    count, channels, rows, columns = sizes.weights
    shape, out = tensor_of(op.x.type).shape, tensor_of(op.y.type).shape
    x = (1, channels, *shape[2:])
    direct = op.operation_for(x, (count, columns * channels, rows, 1), out)
    return replace(
        direct,
        data_format=form.number,
        pixel_override=1,
        post_extension=sizes.extension,
        pad_right=direct.pad_right + columns - tensor_of(op.w.type).shape[3],
        entries_per_slice=sizes.entries,
    )
