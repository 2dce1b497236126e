"""Traces that the vendor publishes with the hardware: registers, inputs, and checksums of results.

They are of nv_small and nv_small_256, whose atoms are 8 bytes; a checksum is the CRC-32 of a memory
that was zero before.
"""

import zlib

import numpy as np
from trivium.targets.dla.nvdla.format.operations import (
    CdpOperation,
    Converter,
    Lut,
    PdpOperation,
)
from trivium.targets.dla.nvdla.reference import cdp, pdp

ATOM = 8
PLAIN = Converter(scale=1, enable=1)
STEPS = {"exponential": tuple(range(65)), "linear": tuple(range(257))}
"""Tables whose entries are their indices."""


def cube(text: str, channels: int, height: int, width: int) -> np.ndarray:
    """Return values [C, H, W] of full atoms, then single bytes of the last channel."""
    values = np.frombuffer(bytes.fromhex(text), np.int8).astype(np.int64)
    full = channels // ATOM * ATOM
    pixels, rest = np.split(values, [full * height * width])
    image = np.zeros((-(-channels // ATOM) * ATOM, height, width), np.int64)
    atoms = pixels.reshape(-1, height, width, ATOM).transpose(0, 3, 1, 2)
    image[:full] = atoms.reshape(full, height, width)
    if rest.size:
        image[full] = rest.reshape(height, width)
    return image


def checksum(image: np.ndarray, line: int, surface: int, size: int) -> int:
    """Return the CRC-32 of a memory that has values [C, H, W]."""
    memory = bytearray(size)
    for c, y, x in np.ndindex(image.shape):
        place = c // ATOM * surface + y * line + x * ATOM + c % ATOM
        memory[place] = int(image[c, y, x]) & 255
    return zlib.crc32(memory)


def slope(scale: int, shift: int) -> int:
    return scale | shift << 16


def test_a_response_normalisation() -> None:
    """cdp_1x1x31_lrn3_int8_0, whose window is of 5 channels: both tables, and beyond them."""
    x = cube("a9173291e750e599f6b6a5828519fa627f2bc6528f0ef7844326f4beb5cb2600", 32, 1, 1)
    one = slope(1, 0)
    lut = Lut(
        **STEPS,
        exponential_offset=0xFE,
        linear_offset=8,
        exponential_start=2**38 - 14,
        exponential_end=2,
        linear_end=0x10000,
        exponential_underflow_slope=one,
        exponential_overflow_slope=one,
        linear_underflow_slope=one,
        linear_overflow_slope=one,
        hybrid_priority=1,
        underflow_priority=1,
        overflow_priority=1,
        method=1,
    )
    outer = Converter(scale=1, truncate=9, enable=1)
    operation = CdpOperation(0, 0, 0, PLAIN, outer, local_size=5)
    found = cdp.normalize(x[:31], operation, lut)
    assert checksum(found, 0x100, 0x800, 0x2000) == 0x7A762723


def test_an_average_of_pads_with_a_value() -> None:
    """pdp_1x3x8_8x8_ave_int8_0: a window of 64, of which 3 are pixels."""
    x = cube("32bef4a95250b643199162cb2626f6e7f7a52bfa8f0e84e5", 8, 3, 1)
    operation = PdpOperation(
        window_width=7,
        window_height=7,
        pad_left=1,
        pad_top=2,
        pad_right=6,
        pad_bottom=3,
        pad_values=(0x7F, 0xFE, 0x17D, 0x1FC, 0x27B, 0x2FA, 0x379),
    )
    assert checksum(pdp.pool(x, operation), 0x2000, 0x26C0, 0x26C0) == 0xAD5A0FC3
