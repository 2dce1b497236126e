"""The convolution core: multiply data and weights, and accumulate; integers in 32 bits."""

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import ConvOperation
from .arithmetic import ACCUMULATOR_BITS, Integers, low_bits, saturate, shift_right
from .convolution_fp16 import convolve_fp16
from .floats import float16_of, from_integers

_CONVERTED_BITS = 17
_INPUT_SHIFTS = 63
_OUTPUT_SHIFTS = 31
_DTYPES = {Precision.INT8: np.int8, Precision.INT16: np.int16}
CHANNELS_AT_ONCE = 64
"""The channels whose products are summed at once where a configuration does not say."""


def unsupported_features(operation: ConvOperation) -> str | None:
    """Explain what of a convolution of feature data is not computed here, None if all is."""
    if operation.post_extension:
        return "channel post-extension of feature data"
    if operation.mean_format:
        return "subtraction of means from feature data"
    ends = operation.input_precision, operation.output_precision
    is_converted = bool(operation.input_converter.enable)
    if is_converted and ends[0] == Precision.FP16:
        return "conversion of an input of fp16"
    halves = is_converted and ends == (Precision.INT16, Precision.FP16)
    if ends[0] != ends[1] and not halves:
        return "conversion of the precision of the input"
    return None


def convert_input(
    values: Integers, operation: ConvOperation, offset: Integers
) -> npt.NDArray[np.generic]:
    """Return (values - offset) * scale >> truncate in the precision of the multipliers.

    Results are saturated to 17 bits first. Offsets have 16 bits, truncations 6.
    """
    converter, target = operation.input_converter, Precision(operation.output_precision)
    scaled = (values - low_bits(offset, 16)) * converter.scale
    results = saturate(shift_right(scaled, converter.truncate & _INPUT_SHIFTS), _CONVERTED_BITS)
    if target == Precision.FP16:
        return float16_of(from_integers(results))
    return saturate(results, 8 * target.bytes).astype(_DTYPES[target])


def pad_value(operation: ConvOperation) -> int:
    """Return the value of pads: the low bits that the precision has."""
    bits = 8 * Precision(operation.output_precision).bytes
    return int(low_bits(np.asarray(operation.pad_value, np.int64), bits))


def clip(sums: Integers, operation: ConvOperation) -> Integers:
    """Return accumulators as they are handed on: shifted by 5 bits' number, in 32 bits."""
    shifted = shift_right(sums, operation.output_converter.truncate & _OUTPUT_SHIFTS)
    return saturate(shifted, ACCUMULATOR_BITS)


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
    if operation.input_converter.enable:
        offset = np.asarray(operation.input_converter.offset, np.int64)
        image = convert_input(image.astype(np.int64), operation, offset)
    if operation.output_precision == Precision.FP16:
        return convolve_fp16(image, weights, operation, block)
    top, left = operation.pad_top, operation.pad_left
    pads = ((0, 0), (top, operation.pad_bottom), (left, operation.pad_right))
    padded = np.pad(image.astype(np.float64), pads, constant_values=pad_value(operation))
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
    return clip(sums.astype(np.int64).reshape(len(weights), height, width), operation)
