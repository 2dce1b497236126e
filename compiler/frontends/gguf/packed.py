"""From GGUF's blocks to operands of `tri.block_quantized_mat_mul`."""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.numerics.packed_bits import pack_bits
from ....dialects.core.tensor import Array
from .blocks import Blocks


@dataclass(frozen=True)
class PackedMatrix:
    """Hold the operands and attributes of a product: see `tri.block_quantized_mat_mul`."""

    numbers: Array
    scales: Array
    zero_points: Array | None
    bits: int
    block: int


def pack(blocks: Blocks) -> PackedMatrix:
    """Return the matrix of blocks [rows, blocks, elements of one].

    Elements without minimums are the same to the bit. Those with minimums are
    (number - minimum / scale) * scale: as far from number * scale - minimum as four roundings
    of either term to f32 make.
    """
    half, size = 1 << blocks.bits - 1, blocks.numbers.shape[-1]
    if blocks.minimums is None:
        numbers = blocks.numbers + np.uint8(half - blocks.zero)
        return PackedMatrix(pack_bits(numbers, blocks.bits), blocks.scales, None, blocks.bits, size)
    is_flat = blocks.scales == 0
    numbers = np.where(is_flat[..., None], np.uint8(0), blocks.numbers)  # (0 - 1) * minimum
    scales = np.where(is_flat, blocks.minimums, blocks.scales)
    quotients = blocks.minimums / np.where(is_flat, np.float32(1), blocks.scales)
    zeros = np.where(is_flat, np.float32(1), quotients).astype(np.float32)
    return PackedMatrix(pack_bits(numbers, blocks.bits), scales, zeros, blocks.bits, size)
