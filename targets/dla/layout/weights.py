"""Packing of weights and of requantization tables, as the packet `conv` reads them."""

from collections.abc import Sequence

import numpy as np

from ....dialects.core.numerics.integers import TABLE_BYTES
from ....dialects.core.tensor import Array
from .memory_layout import MemoryLayout


def packed_kernel(kernel: Array, layout: MemoryLayout) -> Array:
    """Return weights as bytes; filters, the last axis, are padded with zeros to whole atoms."""
    extra = layout.description.padded(kernel.shape[-1]) - kernel.shape[-1]
    return np.pad(kernel, [(0, 0)] * (kernel.ndim - 1) + [(0, extra)]).reshape(-1)


def packed_table(
    bias: Array, multiplier: Sequence[int], shift: Sequence[int], layout: MemoryLayout
) -> Array:
    """Return a table: biases, multipliers (i32) and shifts (i8) of all padded filters.

    `multiplier` and `shift` have one entry for each filter, or one for all.
    """
    count, padded = bias.size, layout.description.padded(bias.size)
    table = np.zeros(TABLE_BYTES * padded, np.int8)
    words = table[: 8 * padded].view(np.int32).reshape(2, padded)
    words[0, :count] = bias
    words[1, :count] = multiplier
    table[8 * padded : 8 * padded + count] = shift
    return table


def kernel_with_table(kernel: Array, table: Array, layout: MemoryLayout) -> Array:
    """Return a chunk of packed weights with the table behind it, at an aligned address."""
    gap = layout.aligned(kernel.size) - kernel.size
    return np.concatenate([kernel, np.zeros(gap, np.int8), table])
