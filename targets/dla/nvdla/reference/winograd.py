"""Winograd convolutions: 2x2 results of a 3x3 kernel from 4x4 transformed pixels.

A converter of the input has no effect. Integers are transformed in 18 bits, shifted and saturated
to the bits of the input: that may lose bits. Products are added over the channels, and transformed
to results, exactly. Strides make phases of pixels channels, so that a kernel of up to 3 x 3 strides
has 3x3 taps.
"""

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import ConvOperation
from .arithmetic import Integers, saturate, shift_right
from .convolution import CHANNELS_AT_ONCE, clip, pad_value
from .floats import bits_of
from .winograd_fp16 import sums_fp16

TRANSFORMED = 4
_SHIFTS = 3
_DATA = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
"""It transforms rows, and its transpose columns, of 4x4 pixels."""

_RESULT = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])
"""It transforms rows, and its transpose columns, of sums to 2x2 results."""


def unsupported_winograd(operation: ConvOperation) -> str | None:
    """Explain what of a Winograd convolution is not computed here, None if all is."""
    if operation.dilation_x != 1 or operation.dilation_y != 1:
        return "Winograd with dilation"
    if operation.batch > 1:
        return "Winograd with a batch"
    if operation.input_precision != operation.output_precision:
        return "conversion of the precision of the input"
    return None


def convolve_winograd(
    image: npt.NDArray[np.generic],
    weights: npt.NDArray[np.generic],
    operation: ConvOperation,
    block: int = CHANNELS_AT_ONCE,
) -> npt.NDArray[np.generic]:
    """Return the accumulators [K, H', W'] of an image [C, H, W] and weights [K, C', 4, 4].

    C' is the channels of all phases of strides, each filled up with zeros. They are int64, or
    float32 for fp16, whose result depends on the `block` of products that are summed at once.
    """
    halves = operation.input_precision == Precision.FP16
    pixels = bits_of(image) if halves else image.astype(np.int64)
    phases = _phases(pixels, operation, weights.shape[1])
    height, width = operation.height_cmac, operation.width_cmac
    windows = np.lib.stride_tricks.sliding_window_view(phases, (TRANSFORMED,) * 2, (1, 2))
    tiles = windows[:, :height:2, :width:2]
    if halves:
        results = sums_fp16(tiles & 0xFFFF, bits_of(weights), _RESULT, block)
        return results.transpose(0, 3, 1, 4, 2).reshape(len(weights), height, width)
    transformed = _DATA @ tiles @ _DATA.T
    bits = 8 * Precision(operation.input_precision).bytes
    data = saturate(shift_right(transformed, operation.pra_truncate & _SHIFTS), bits)
    # Sums of products of 16 bits over up to 8192 channels are exact in float64.
    places = data.transpose(3, 4, 0, 1, 2).reshape(16, len(phases), -1).astype(np.float64)
    kernels = weights.transpose(2, 3, 0, 1).reshape(16, *weights.shape[:2]).astype(np.float64)
    sums = (kernels @ places).astype(np.int64).reshape(4, 4, len(weights), *tiles.shape[1:3])
    results = _RESULT @ sums.transpose(2, 3, 4, 0, 1) @ _RESULT.T
    values = results.transpose(0, 1, 3, 2, 4).reshape(len(weights), height, width)
    return clip(values, operation)


def _phases(image: Integers, operation: ConvOperation, channels: int) -> Integers:
    """Return the phases [C', H, W] of a padded image: rows, then columns of a stride."""
    down, across = operation.stride_y, operation.stride_x
    more = channels // (down * across) - len(image)
    pads = (
        (0, more),
        (operation.pad_top, operation.pad_bottom),
        (operation.pad_left, operation.pad_right),
    )
    padded = np.pad(image, pads, constant_values=pad_value(operation))
    parts = [padded[:, y::down, x::across] for y in range(down) for x in range(across)]
    return np.concatenate(parts)
