"""The weights of Winograd convolutions: 4x4 of each channel, transformed when they are packed.

In a group of kernels some channels of a kernel follow those of the one before: rows, columns, and
then channels of these. They are those for whose 4x4 places there are MACs.
"""

import numpy as np
import numpy.typing as npt

from .configuration import Configuration
from .format.network import Precision
from .surfaces import DTYPES, WEIGHT_UNIT, Array

SIZE = 4
"""The rows and columns of transformed weights, and of the tiles of images."""

_FILTER = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]]) / 2
"""It transforms rows, and its transpose columns, of kernels of 3x3."""


def exactly_transformed(weights: Array) -> npt.NDArray[np.float64]:
    """Return the transforms [K, C, 4, 4] of kernels of 3x3 in f64."""
    return _FILTER @ weights.astype(np.float64) @ _FILTER.T


def pack_winograd_weights(
    weights: Array, configuration: Configuration, precision: Precision
) -> bytes:
    """Return the bytes of transformed weights [K, C, 4, 4]."""
    group, block = configuration.kernel_group(precision), _block(configuration)
    parts = [
        weights[k : k + group, c : c + block].transpose(0, 2, 3, 1).tobytes()
        for k in range(0, len(weights), group)
        for c in range(0, weights.shape[1], block)
    ]
    data = b"".join(parts)
    return data + bytes(-len(data) % WEIGHT_UNIT)


def unpack_winograd_weights(
    data: bytes, kernels: int, channels: int, configuration: Configuration, precision: Precision
) -> Array:
    """Return weights [K, C, 4, 4] from the bytes that `pack_winograd_weights` makes of them."""
    stored = np.frombuffer(data, DTYPES[precision], kernels * channels * SIZE * SIZE)
    weights = np.empty((kernels, channels, SIZE, SIZE), stored.dtype)
    group, block, at = configuration.kernel_group(precision), _block(configuration), 0
    for k in range(0, kernels, group):
        for c in range(0, channels, block):
            part = weights[k : k + group, c : c + block]
            packed = stored[at : at + part.size].reshape(len(part), SIZE, SIZE, part.shape[1])
            part[...] = packed.transpose(0, 3, 1, 2)
            at += part.size
    return weights


def _block(configuration: Configuration) -> int:
    return max(configuration.macs_channels // SIZE**2, 1)
