"""Unsigned numbers of 2, 4 or 8 bits that are packed in bytes, the first in the lowest bits."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

WIDTHS = (2, 4, 8)
"""The widths that are packed: those that divide a byte, and a byte."""


def unpack_bits(packed: Array, bits: int) -> Array:
    """Return the numbers in ui8; the last axis has 8 / bits times as many elements."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    numbers = packed[..., None] >> shifts & np.uint8((1 << bits) - 1)
    return numbers.reshape(*packed.shape[:-1], packed.shape[-1] * len(shifts))


def pack_bits(numbers: Array, bits: int) -> Array:
    """Undo `unpack_bits`; zeros fill up the last byte along the last axis."""
    count = 8 // bits
    fill = -numbers.shape[-1] % count
    padded = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, fill)]).astype(np.uint8)
    parts = padded.reshape(*padded.shape[:-1], -1, count) & np.uint8((1 << bits) - 1)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(parts << shifts, axis=-1).astype(np.uint8)
