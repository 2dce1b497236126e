"""The types of GGUF's tensors: plain numbers, and blocks of few bits with a scale for each.

A function for each type of blocks takes them apart. Source: the layouts of ggml's `ggml-common.h`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....dialects.core.numerics.packed_bits import unpack_bits
from ....dialects.core.tensor import Array

SUPER = 256
"""How many elements a block of the types with a K has; it is of smaller ones with scales."""


@dataclass(frozen=True)
class Blocks:
    """Hold elements of few bits: (numbers - zero) * scales - minimums.

    `numbers` are ui8 […, blocks, elements of one] and less than 2^`bits`; `scales` and `minimums`
    are f32 […, blocks].
    """

    numbers: Array
    scales: Array
    zero: int = 0
    minimums: Array | None = None
    bits: int = 8

    def reshaped(self, *outer: int) -> "Blocks":
        """Return the same elements with other axes before the last one of each array."""
        size = self.numbers.shape[-1]
        least = None if self.minimums is None else self.minimums.reshape(outer)
        numbers, scales = self.numbers.reshape(*outer, size), self.scales.reshape(outer)
        return Blocks(numbers, scales, self.zero, least, self.bits)

    def rows(self, order: Array) -> "Blocks":
        """Return some rows, in an order."""
        least = None if self.minimums is None else self.minimums[order]
        return Blocks(self.numbers[order], self.scales[order], self.zero, least, self.bits)

    def dequantized(self) -> Array:
        """Return the elements in f32, […, blocks * elements of one]; equal to ggml's to the bit."""
        values = self.numbers.astype(np.float32)
        values -= np.float32(self.zero)
        values *= self.scales[..., None]
        if self.minimums is not None:
            values -= self.minimums[..., None]
        return values.reshape(*values.shape[:-2], -1)


@dataclass(frozen=True)
class BlockType:
    """Describe a type: `elements` in `size` bytes, which `take_apart` turns into `Blocks`.

    It is given ui8 [blocks, size].
    """

    name: str
    elements: int
    size: int
    take_apart: Callable[[Array], Blocks]


BLOCK_TYPES: dict[int, BlockType] = {}
"""All types of blocks that are read, by their number in a file."""

PLAIN_TYPES = {0: np.dtype("<f4"), 1: np.dtype("<f2"), 30: np.dtype("<u2"), 28: np.dtype("<f8")}
"""The types that have a number of its own for each element; the one of 30 is the half of a f32."""

BF16 = 30

OTHER_TYPES = {
    9: "Q8_1",
    15: "Q8_K",
    16: "IQ2_XXS",
    17: "IQ2_XS",
    18: "IQ3_XXS",
    19: "IQ1_S",
    21: "IQ3_S",
    22: "IQ2_S",
    24: "I8",
    25: "I16",
    26: "I32",
    27: "I64",
    29: "IQ1_M",
    34: "TQ1_0",
    35: "TQ2_0",
    40: "NVFP4",
    41: "Q1_0",
}
"""The names of types that are refused."""


def block_type(
    number: int, name: str, elements: int, size: int
) -> Callable[[Callable[[Array], Blocks]], Callable[[Array], Blocks]]:
    """Register a function that takes blocks of a type apart."""

    def register(function: Callable[[Array], Blocks]) -> Callable[[Array], Blocks]:
        BLOCK_TYPES[number] = BlockType(name, elements, size, function)
        return function

    return register


def _half(raw: Array, at: int) -> Array:
    """Return the f16 number at a byte of each block as f32, [blocks, 1]."""
    return np.ascontiguousarray(raw[:, at : at + 2]).view("<f2").astype(np.float32)


def _nibbles(raw: Array, run: int) -> Array:
    """Return 4 bits for each element: in each run of bytes, first all low ones, then all high."""
    grouped = raw.reshape(len(raw), -1, 1, run)
    shifts = np.array([0, 4], np.uint8).reshape(2, 1)
    return (grouped >> shifts & np.uint8(15)).reshape(len(raw), -1)


def _pairs(raw: Array) -> Array:
    """Return 2 bits for each element: in each run of 32 bytes, the lowest of all first."""
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape(4, 1)
    return (raw.reshape(len(raw), -1, 1, 32) >> shifts & np.uint8(3)).reshape(len(raw), -1)


def _planes(raw: Array) -> Array:
    """Return a bit for each element: 32 bytes have the first 32 in their lowest bits."""
    shifts = np.arange(8, dtype=np.uint8).reshape(8, 1)
    return (raw.reshape(len(raw), 1, 32) >> shifts & np.uint8(1)).reshape(len(raw), -1)


def _divided(numbers: Array, size: int) -> Array:
    return numbers.reshape(len(numbers), -1, size)


# -- blocks of 32 ---------------------------------------------------------------------------------


@block_type(2, "Q4_0", 32, 18)
def q4_0(raw: Array) -> Blocks:
    return Blocks(_divided(_nibbles(raw[:, 2:], 16), 32), _half(raw, 0), 8, bits=4)


@block_type(3, "Q4_1", 32, 20)
def q4_1(raw: Array) -> Blocks:
    numbers = _divided(_nibbles(raw[:, 4:], 16), 32)
    return Blocks(numbers, _half(raw, 0), minimums=-_half(raw, 2), bits=4)


def _fifth_bits(raw: Array, at: int) -> Array:
    high = unpack_bits(raw[:, at : at + 4, None], 2)  # 4 pairs of bits in each byte
    bits = np.stack([high & np.uint8(1), high >> np.uint8(1)], axis=-1).reshape(len(raw), 32)
    return bits << np.uint8(4)


@block_type(6, "Q5_0", 32, 22)
def q5_0(raw: Array) -> Blocks:
    numbers = _nibbles(raw[:, 6:], 16) | _fifth_bits(raw, 2)
    return Blocks(_divided(numbers, 32), _half(raw, 0), 16)


@block_type(7, "Q5_1", 32, 24)
def q5_1(raw: Array) -> Blocks:
    numbers = _nibbles(raw[:, 8:], 16) | _fifth_bits(raw, 4)
    return Blocks(_divided(numbers, 32), _half(raw, 0), minimums=-_half(raw, 2))


@block_type(8, "Q8_0", 32, 34)
def q8_0(raw: Array) -> Blocks:
    return Blocks(_divided(_biased(raw[:, 2:]), 32), _half(raw, 0), 128)


def _biased(raw: Array) -> Array:
    """Return i8 numbers as ui8 ones that are 128 more."""
    return raw ^ np.uint8(128)


# -- blocks of 256 --------------------------------------------------------------------------------


@block_type(10, "Q2_K", SUPER, 84)
def q2_k(raw: Array) -> Blocks:
    both, least = raw[:, :16], _half(raw, 82)
    scales = _half(raw, 80) * (both & np.uint8(15)).astype(np.float32)
    minimums = least * (both >> np.uint8(4)).astype(np.float32)
    return Blocks(_divided(_pairs(raw[:, 16:80]), 16), scales, minimums=minimums, bits=2)


@block_type(11, "Q3_K", SUPER, 110)
def q3_k(raw: Array) -> Blocks:
    numbers = _pairs(raw[:, 32:96]) | _planes(raw[:, :32]) << np.uint8(2)
    low = _nibbles(raw[:, 96:104], 8)
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape(4, 1)
    high = (raw[:, None, 104:108] >> shifts & np.uint8(3)).reshape(len(raw), 16)
    factors = (low | high << np.uint8(4)).astype(np.float32) - np.float32(32)
    return Blocks(_divided(numbers, 16), _half(raw, 108) * factors, 4, bits=4)


def _factors_of_6_bits(raw: Array) -> tuple[Array, Array]:
    """Return factors of 8 scales and of 8 minimums, in f32, that 12 bytes have."""
    first, second, third = raw[:, 4:8], raw[:, 8:12], raw[:, 12:16]
    six, four, two = np.uint8(63), np.uint8(15), np.uint8(48)
    scales = np.concatenate([first & six, third & four | first >> np.uint8(2) & two], axis=1)
    least = np.concatenate(
        [second & six, third >> np.uint8(4) | second >> np.uint8(2) & two], axis=1
    )
    return scales.astype(np.float32), least.astype(np.float32)


@block_type(12, "Q4_K", SUPER, 144)
def q4_k(raw: Array) -> Blocks:
    scales, least = _factors_of_6_bits(raw)
    numbers = _divided(_nibbles(raw[:, 16:], 32), 32)
    scales, minimums = _half(raw, 0) * scales, _half(raw, 2) * least
    return Blocks(numbers, scales, minimums=minimums, bits=4)


@block_type(13, "Q5_K", SUPER, 176)
def q5_k(raw: Array) -> Blocks:
    scales, least = _factors_of_6_bits(raw)
    numbers = _nibbles(raw[:, 48:], 32) | _planes(raw[:, 16:48]) << np.uint8(4)
    scales, minimums = _half(raw, 0) * scales, _half(raw, 2) * least
    return Blocks(_divided(numbers, 32), scales, minimums=minimums)


@block_type(14, "Q6_K", SUPER, 210)
def q6_k(raw: Array) -> Blocks:
    numbers = _nibbles(raw[:, :128], 64) | _pairs(raw[:, 128:192]) << np.uint8(4)
    factors = np.ascontiguousarray(raw[:, 192:208]).view(np.int8).astype(np.float32)
    return Blocks(_divided(numbers, 16), _half(raw, 208) * factors, 32)


# -- tables of 16 numbers -------------------------------------------------------------------------

CURVE = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
"""The numbers that 4 bits stand for in the types IQ4."""

E2M1 = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
"""Twice the floats of 4 bits. Source: OCP Microscaling Formats, 1.0."""


def _looked_up(table: tuple[int, ...], numbers: Array) -> Array:
    return (np.array(table, np.int16) + 128).astype(np.uint8)[numbers]


@block_type(20, "IQ4_NL", 32, 18)
def iq4_nl(raw: Array) -> Blocks:
    return Blocks(_divided(_looked_up(CURVE, _nibbles(raw[:, 2:], 16)), 32), _half(raw, 0), 128)


@block_type(23, "IQ4_XS", SUPER, 136)
def iq4_xs(raw: Array) -> Blocks:
    low = unpack_bits(raw[:, 4:8], 4)
    high = unpack_bits(raw[:, 2:4], 2)
    factors = (low | high << np.uint8(4)).astype(np.float32) - np.float32(32)
    numbers = _looked_up(CURVE, _nibbles(raw[:, 8:], 16))
    return Blocks(_divided(numbers, 32), _half(raw, 0) * factors, 128)


@block_type(39, "MXFP4", 32, 17)
def mxfp4(raw: Array) -> Blocks:
    exponent = raw[:, :1].astype(np.uint32)
    small = np.uint32(0x200000) << np.minimum(exponent, 1)
    bits = np.where(exponent < 2, small, np.maximum(exponent, 1) - 1 << 23).astype(np.uint32)
    numbers = _looked_up(E2M1, _nibbles(raw[:, 1:], 16))
    return Blocks(_divided(numbers, 32), bits.view(np.float32), 128)
