"""Round matrices to integers of few bits with a scale for each block of their depth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects.core.numerics.packed_bits import pack_bits
from ...dialects.core.tensor import Array


@dataclass(frozen=True)
class BlockForm:
    """Describe blocks: of so many `bits`, for `block` elements in depth each.

    The zero point is in the middle of the integers where they are `symmetric`, and else one of
    them for each block.
    """

    bits: int = 4
    block: int = 32
    symmetric: bool = False

    @property
    def middle(self) -> int:
        return 1 << self.bits - 1

    @property
    def highest(self) -> int:
        return (1 << self.bits) - 1

    def scales_of(self, columns: Array, dtype: Any = np.float32) -> tuple[Array, Array]:
        """Return the scale and zero point of each row of [rows, elements of a block].

        Scales are rounded to `dtype`, in f32. All that is in a block, and zero, is in the range.
        Symmetric ones have the largest element at the end of the range that has one integer more.
        """
        if self.symmetric:
            place = np.abs(columns).argmax(axis=1)
            largest = np.take_along_axis(columns, place[:, None], axis=1)[:, 0]
            scales, zeros = largest / -self.middle, np.full(len(columns), self.middle)
        else:
            low = np.minimum(columns.min(axis=1), 0)
            scales = (np.maximum(columns.max(axis=1), 0) - low) / self.highest
            zeros = np.rint(-low / np.where(scales == 0, 1, scales))
        rounded = scales.astype(dtype).astype(np.float32)
        return np.where(rounded == 0, np.float32(1), rounded), zeros.astype(np.float32)

    def numbers_of(self, elements: Array, scales: Array, zeros: Array) -> Array:
        """Return the integers nearest to elements, in f32."""
        return np.clip(np.rint(elements / scales + zeros), 0, self.highest)


@dataclass(frozen=True)
class RoundedMatrix:
    """Hold integers [rows, blocks, block] in ui8, and scales and zero points [rows, blocks]."""

    numbers: Array
    scales: Array
    zeros: Array

    def operands(self, form: BlockForm, dtype: Any) -> list[Array]:
        """Return the constant operands of `tri.block_quantized_mat_mul`."""
        made = [pack_bits(self.numbers, form.bits), self.scales.astype(dtype)]
        return made if form.symmetric else [*made, self.zeros.astype(np.uint8)]

    def dequantized(self, depth: int) -> Array:
        """Return the matrix that the integers stand for, [rows, depth] in f32."""
        matrix = (self.numbers - self.zeros[..., None]) * self.scales[..., None]
        return matrix.reshape(len(matrix), -1)[:, :depth].astype(np.float32)


def round_to_nearest(matrix: Array, form: BlockForm, dtype: Any = np.float32) -> RoundedMatrix:
    """Round each element of [rows, depth] by itself; what fills up the last block is zero."""
    rows, depth = matrix.shape
    filled = np.pad(matrix.astype(np.float32), ((0, 0), (0, -depth % form.block)))
    elements = filled.reshape(-1, form.block)
    scales, zeros = form.scales_of(elements, dtype)
    numbers = form.numbers_of(elements, scales[:, None], zeros[:, None]).astype(np.uint8)
    return RoundedMatrix(
        numbers.reshape(rows, -1, form.block), scales.reshape(rows, -1), zeros.reshape(rows, -1)
    )
