"""The convolution core: multiply data and weights, and accumulate; integers in 32 bits."""

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import ConvOperation
from .arithmetic import ACCUMULATOR_BITS, convert, saturate, shift_right
from .convolution_fp16 import convolve_fp16

CHANNELS_AT_ONCE = 64
"""The channels whose products are summed at once where a configuration does not say."""


def unsupported_features(operation: ConvOperation) -> str | None:
    """Explain what of a convolution of feature data is not computed here, None if all is."""
    if operation.post_extension:
        return "channel post-extension of feature data"
    if operation.mean_format:
        return "subtraction of means from feature data"
    if operation.input_precision != operation.output_precision:
        return "conversion of the precision of the input"
    if operation.input_converter.enable and operation.input_precision == Precision.FP16:
        return "conversion of an input of fp16"
    return None


def convolve(
    image: npt.NDArray[np.generic],
    weights: npt.NDArray[np.generic],
    operation: ConvOperation,
    block: int = CHANNELS_AT_ONCE,
) -> npt.NDArray[np.generic]:
    """Return the accumulators [K, H', W'] of an image [C, H, W] and weights [K, C, R, S].

    They are int64, or float32 for fp16, whose result depends on the `block` of channels that are
    summed at once.
    """
    if operation.input_precision == Precision.FP16:
        return convolve_fp16(image, weights, operation, block)
    if operation.input_converter.enable:
        bits = 8 * Precision(operation.input_precision).bytes
        image = saturate(convert(image.astype(np.int64), operation.input_converter), bits)
    top, left = operation.pad_top, operation.pad_left
    pads = ((0, 0), (top, operation.pad_bottom), (left, operation.pad_right))
    padded = np.pad(image.astype(np.float64), pads, constant_values=operation.pad_value)
    height, width = operation.height_cmac, operation.width_cmac
    sums = np.zeros((len(weights), height * width))
    for r in range(weights.shape[2]):
        for s in range(weights.shape[3]):
            y, x = r * operation.dilation_y, s * operation.dilation_x
            rows = slice(y, y + operation.stride_y * (height - 1) + 1, operation.stride_y)
            columns = slice(x, x + operation.stride_x * (width - 1) + 1, operation.stride_x)
            window = padded[:, rows, columns].reshape(len(image), -1)
            # Sums of products of integers of 16 bits are exact in float64, and fast.
            sums += weights[:, :, r, s].astype(np.float64) @ window
    values = sums.astype(np.int64).reshape(len(weights), height, width)
    shifted = shift_right(values, operation.output_converter.truncate)
    return saturate(shifted, ACCUMULATOR_BITS)
