"""Traces that the vendor publishes with the hardware: registers, inputs, and checksums of results.

They are of nv_small and nv_small_256, whose atoms are 8 bytes; a checksum is the CRC-32 of a memory
that was zero before. What SDP makes of the zeros behind the last channel is stored, too.
"""

import zlib

import numpy as np
from trivium.targets.dla.nvdla.format.operations import (
    CdpOperation,
    Converter,
    Lut,
    PdpOperation,
    SdpOperation,
    SdpStage,
)
from trivium.targets.dla.nvdla.reference import cdp, pdp, sdp
from trivium.targets.dla.nvdla.reference.stages import ALU, PER_ELEMENT, RELU, TABLE, Operands

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


LOOKED_UP = """
a7eb19d5e8b142ac07ebc41b237f5d0d94ee1a2524c2d6e855eeae2b7da1b0fce0c34e4a965eb5c1fe5b733356222b2c
47ff8f66dae8faa148a9bb81965c6e7ce9eff7805029858146480dd7fe5e8dfbbfe1649a8bad9a488fefd82a22a8d350
b0230a5d61c6c35c8e0b8652ae5e74e3a8b9025b7acb6d4923f4bd5a8bb3f1bc8eb4164ce1e670d7813a6242f80a4bad
882499aa90c7d34a455b73998ff30f97a1ee2f93d9c65a09b2627ae7bb534c662e9723cca669a59b076ab476620c95c7
da43e1ee44f5e4c99311f75a6ce4a7eae60181dd1854c0f1744f68b093e0e378026df85d99b2f51d8d9ba130292e0a9b
d02317c96fc648b8e34120f6767bf4b512961dfe122d1e391d8e114e71ca2103f1eef02d617726d9d82def79cc06eb82
5b8b352b114bb9263e
"""
ADDED_TO = """
620020b1e9bb8a74f02e60f8e8a86cf49f50f5cf972fac4bb8d816dc7d67c23e3439131a23c5c611648b0a3248b91624
79b2a0bccd10b1e64b42b9a5bbe1b75dfcc5727eaf44f8d72e8347178d1290c6cd1c84e6d109cd6806a25d83292ea194
0a5811858d8a87c62da391163171e8188ad844c59b87fe4d922c66c94500cea281298a40b2d832d9a00e77d00edf6a07
c6072f63aab41cd5bb63835ddf92f6efc4634b62d7f6b0ebc939eb64f1d8d3f85ec5362fb4270f5acdf4fbe66bfaf8b5
a96aead49efc31cfb3278d590bb9ae057587af3ad9ffa76ca0f01dd037cfe81b7dd58e3e5821402c5dd4a6ae4d13c726
b4de12dae57f9a720e733a0764c12c32ab23ff55e3a2ecf1ddcbc26ec02d0b6048110124e160b8f00d6ed28627319113
6c25dc3780bb9ddf9e
"""
ADDED = """
45e3193d190a8b803760b6a06279ca04e0c03a7f1644e78417ee54aaf49044eafed18813f352ff97b6d1d5732ac13639
aa17bf7e2d912a49f7e6c4a940603540a7b1a02638e7fb176075de880bbbbebecabd7722c85f1470c2aaf6b50b6dd6b5
337168a18e60e43e8848d79cb473bf0e26d1f2090af2506e3704a8dde5aaf2955867c699c0848105190e851ab5da7deb
371dbbcb27b6a476a119552c8e72734b049a14bb8cffe02d9f6f389891b95e7765528a8c2381d943952f1c97cc49a255
d44e5f57a518407104de5aa401a06c84dbaa8238f49ebaf19f262d3cfa4316cbbbe8824a1aa3b4a6e9ba7a54888b4732
8fd59873c44b168f90313c38b0a18759aa479efbcaab02527f72e2bdfb168a349edc8e20a5f2e0749890b0872c7648b8
52820cdccc8b212bf7
"""


def test_values_below_both_tables() -> None:
    """sdp_3x3x33_ew_le_lin_int8, and the same with the other priority."""
    x = cube(LOOKED_UP, 33, 3, 3)

    def looked_up(priority: int) -> int:
        lut = Lut(
            **STEPS,
            exponential_offset=0xFB,
            linear_offset=1,
            exponential_start=0x7F,
            exponential_end=0x81,
            linear_start=0x53B19EB3,
            linear_end=0x53B1A0B3,
            exponential_underflow_slope=slope(0x0E83, 9),
            exponential_overflow_slope=slope(0x116C, 9),
            linear_underflow_slope=slope(0x12B3, 0x16),
            linear_overflow_slope=slope(0x7F5C, 0x1C),
            underflow_priority=priority,
            method=1,
        )
        stage = SdpStage(1, activation=TABLE)
        found = sdp.process(x, SdpOperation(converter=PLAIN, y=stage), lut=lut)
        return checksum(found, 0x100, 0x300, 0xF00)

    assert looked_up(0) == 0x4DD84F2E
    assert looked_up(1) == 0x3347874C


def test_an_operand_for_each_element() -> None:
    """sdp_3x3x33_bn_int8_mem_0: an operand is doubled, a sum halved, and the rest not negative."""
    operand = cube(ADDED, 33, 3, 3)
    stage = SdpStage(1, kind=ALU, mode=PER_ELEMENT, activation=RELU, shift=1, truncate=1)
    operation = SdpOperation(converter=PLAIN, x2=stage)
    found = sdp.process(cube(ADDED_TO, 33, 3, 3), operation, x2=Operands(operand))
    assert checksum(found, 0x100, 0x400, 0x1400) == 0xF480B323
