"""Convolutions of pixels: pixels are converted, and a row of a window is one set of channels."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..format.network import Precision
from ..format.operations import ConvOperation
from .arithmetic import Integers
from .convolution import CHANNELS_AT_ONCE, convert_input, convolve, pad_value

_DTYPES = {Precision.INT8: np.int8, Precision.INT16: np.int16, Precision.FP16: np.float16}
Pixels = npt.NDArray[np.generic]


def lines_at_once(operation: ConvOperation) -> int:
    """Return how many rows of a kernel are multiplied at once."""
    return 1 << operation.post_extension


def unsupported_pixels(operation: ConvOperation) -> str | None:
    """Explain what of a convolution of pixels is not computed here, None if all is."""
    if operation.post_extension > 2:
        return f"{lines_at_once(operation)} rows of a kernel at once"
    if operation.batch > 1:
        return "a batch of images"
    if operation.dilation_x != 1 or operation.dilation_y != 1:
        return "dilation over pixels"
    precisions = operation.input_precision, operation.output_precision
    if operation.input_precision == Precision.FP16 and precisions[1] != Precision.FP16:
        return "conversion of pixels of fp16"
    if precisions[0] != precisions[1] and not operation.input_converter.enable:
        return "another precision of pixels without a converter"
    return None


def convert_pixels(pixels: Pixels, operation: ConvOperation) -> Pixels:
    """Return pixels [C, H, W], unsigned, in the precision in which they are multiplied.

    With the converter they are (v - offset) * scale >> truncate, in the range of that precision;
    means replace the offset, one for each channel. Without it, and in fp16, bits stay as they are.
    """
    if not operation.input_converter.enable or operation.input_precision == Precision.FP16:
        return pixels.view(_DTYPES[Precision(operation.input_precision)])
    signed = np.int8 if pixels.dtype.itemsize == 1 else np.int16
    values = (pixels.view(signed) if operation.pixel_override else pixels).astype(np.int64)
    return convert_input(values, operation, _offsets(operation, len(pixels))[:, None, None])


def _offsets(operation: ConvOperation, channels: int) -> Integers:
    """Return what is subtracted from each channel."""
    means = operation.mean_ry, operation.mean_gu, operation.mean_bv, operation.mean_ax
    found = means if operation.mean_format else (operation.input_converter.offset,) * 4
    return np.array(found[:channels], np.int64)


def convolve_pixels(
    pixels: Pixels,
    weights: npt.NDArray[np.generic],
    operation: ConvOperation,
    block: int = CHANNELS_AT_ONCE,
) -> npt.NDArray[np.generic]:
    """Return the accumulators [K, H', W'] of pixels [C, H, W] and weights [K, S * C, R, 1].

    Windows are laid out as images whose channels are the rows that are multiplied at once, each
    with its pixels: their convolution is direct, and has a row for each step.
    """
    image = convert_pixels(pixels, operation)
    lines, rows = lines_at_once(operation), weights.shape[2]
    steps, channels = -(-rows // lines), len(pixels)
    windows = _windows(image, operation, weights.shape[1] // channels, steps * lines)
    height, width = operation.height_cmac, operation.width_cmac
    # From [R, S * C, H', W'] to [lines * S * C, steps * H', W'].
    parts = windows.reshape(steps, lines, -1, height, width).transpose(1, 2, 0, 3, 4)
    laid_out = parts.reshape(-1, steps * height, width)
    kernels = np.zeros((*weights.shape[:2], steps * lines), weights.dtype)
    kernels[:, :, :rows] = weights[..., 0]
    split = kernels.reshape(*weights.shape[:2], steps, lines).transpose(0, 3, 1, 2)
    direct = replace(
        operation,
        input_precision=operation.output_precision,
        input_converter=replace(operation.input_converter, enable=0),
        pad_left=0,
        pad_right=0,
        pad_top=0,
        pad_bottom=0,
        stride_x=1,
        stride_y=1,
        dilation_y=height,
    )
    return convolve(laid_out, split.reshape(len(weights), -1, steps, 1), direct, block)


def _windows(image: Pixels, operation: ConvOperation, columns: int, rows: int) -> Pixels:
    """Return the pixels of each window, [R, S * C, H', W']; rows behind the image are 0."""
    top, left = operation.pad_top, operation.pad_left
    pads = ((0, 0), (top, operation.pad_bottom), (left, operation.pad_right))
    padded = np.pad(
        image.view(f"i{image.dtype.itemsize}"), pads, constant_values=pad_value(operation)
    )
    needed = operation.stride_y * (operation.height_cmac - 1) + rows
    more = max(0, needed - padded.shape[1])
    padded = np.pad(padded, ((0, 0), (0, more), (0, 0))).view(image.dtype)
    height, width = operation.height_cmac, operation.width_cmac
    found = np.zeros((rows, columns, len(image), height, width), image.dtype)
    for r in range(rows):
        for s in range(columns):
            down = slice(r, r + operation.stride_y * (height - 1) + 1, operation.stride_y)
            across = slice(s, s + operation.stride_x * (width - 1) + 1, operation.stride_x)
            found[r, s] = padded[:, down, across]
    return found.reshape(rows, columns * len(image), height, width)
