"""The weights of convolutions of pixels: a row of a kernel is one channel after the other.

The channels of all pixels of a row are channels (the vendor's pre-extension). With few of them, 2
or 4 rows are multiplied at once (post-extension): rows of a kernel then follow one another.
"""

import numpy as np

from .configuration import Configuration
from .format.network import Precision
from .surfaces import DTYPES, WEIGHT_UNIT, Array, pack_weights, unpack_weights


def extended(weights: Array) -> Array:
    """Return weights [K, C, R, S] as [K, S * C, R, 1]."""
    kernels, channels, rows, columns = weights.shape
    moved = weights.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(moved).reshape(kernels, columns * channels, rows, 1)


def rows_fit(
    lines: int, channels: int, row: int, stride: int, configuration: Configuration
) -> bool:
    """Report whether some rows of a kernel can be multiplied at once.

    Pixels have some `channels`, of which a row of a kernel has `row` in all; `stride` is that of
    columns. More than one row needs MACs for all of them, and for the pixels between windows.
    """
    most = configuration.macs_channels
    return lines == 1 or (lines * row <= most and (lines - 1) * channels * stride + row <= most)


def pack_image_weights(
    weights: Array, configuration: Configuration, precision: Precision, lines: int = 1
) -> bytes:
    """Return the bytes of extended weights [K, C, R, 1], of which some rows are taken at once."""
    if lines == 1:
        return pack_weights(weights, configuration, precision)
    group, kernels = configuration.kernel_group(precision), len(weights)
    parts = [
        weights[start : start + group, :, row : row + lines, 0].transpose(0, 2, 1).tobytes()
        for start in range(0, kernels, group)
        for row in range(0, weights.shape[2], lines)
    ]
    data = b"".join(parts)
    return data + bytes(-len(data) % WEIGHT_UNIT)


def unpack_image_weights(
    data: bytes,
    shape: tuple[int, int, int, int],
    configuration: Configuration,
    precision: Precision,
    lines: int = 1,
) -> Array:
    """Return weights [K, C, R, 1] from the bytes that `pack_image_weights` makes of them."""
    if lines == 1:
        return unpack_weights(data, shape, configuration, precision)
    kernels, channels, rows, _ = shape
    stored = np.frombuffer(data, DTYPES[precision], kernels * channels * rows)
    weights = np.empty(shape, stored.dtype)
    group, at = configuration.kernel_group(precision), 0
    for start in range(0, kernels, group):
        for row in range(0, rows, lines):
            part = weights[start : start + group, :, row : row + lines, 0]
            sizes = len(part), part.shape[2], channels
            part[...] = stored[at : at + part.size].reshape(sizes).transpose(0, 2, 1)
            at += part.size
    return weights
