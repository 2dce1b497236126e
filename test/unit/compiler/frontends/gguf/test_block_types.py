"""The types of GGUF's tensors: taken apart as the package gguf does, to the bit."""

from typing import Any

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type
from trivium.compiler.frontends.gguf.blocks import BLOCK_TYPES
from trivium.compiler.frontends.gguf.file import GgufTensor
from trivium.compiler.frontends.gguf.packed import pack
from trivium.dialects.tri.linear_algebra.block_quantized import dequantized_blocks

KINDS = [Type(number) for number in BLOCK_TYPES]


def names(kind: Type) -> str:
    return kind.name


def drawn(kind: Type, rows: int, blocks: int, is_finite: bool = False) -> tuple[GgufTensor, Any]:
    """Draw bytes; return the tensor that they are, and its elements as the package has them."""
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    raw = np.random.default_rng(kind).integers(0, 256, (4 * rows, blocks * size), dtype=np.uint8)
    with np.errstate(all="ignore"):
        wanted = gguf.quants.dequantize(raw, kind)
    if is_finite:
        raw, wanted = (each[np.isfinite(wanted).all(1)] for each in (raw, wanted))
    raw, wanted = raw[:rows], wanted[:rows]
    assert len(raw) == rows
    tensor = GgufTensor("w", int(kind), (rows, blocks * elements), np.ascontiguousarray(raw))
    return tensor, wanted


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_any_bytes_are_dequantized_to_the_bit(kind: Type) -> None:
    tensor, wanted = drawn(kind, rows=40, blocks=3)
    assert tensor.type_name == kind.name
    with np.errstate(all="ignore"):
        got = tensor.floats()
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, wanted)
    known = ~np.isnan(wanted)
    np.testing.assert_array_equal(got[known].view(np.uint32), wanted[known].view(np.uint32))


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_products_have_the_same_matrix(kind: Type) -> None:
    """Where a minimum is subtracted, each term is rounded to f32 a few times more."""
    tensor, wanted = drawn(kind, rows=30, blocks=1, is_finite=True)
    blocks = tensor.blocks()
    packed = pack(blocks)
    got = dequantized_blocks(packed.numbers, packed.scales, packed.zero_points, packed.bits)
    if blocks.minimums is None:
        np.testing.assert_array_equal(got, wanted)
        return
    terms = np.abs(blocks.numbers * blocks.scales[..., None].astype(np.float64))
    bound = 2.0**-22 * (terms + np.abs(blocks.minimums[..., None])).reshape(wanted.shape)
    assert np.all(np.abs(got - wanted) <= bound)


def test_blocks_of_equal_elements_have_no_scale() -> None:
    raw = np.zeros((3, 20), np.uint8)  # Q4_1: scale, minimum, numbers
    raw[:, 4:] = 0x5A
    raw[1:, 2:4] = np.array([[-3.5], [0.0]], np.float16).view(np.uint8)
    packed = pack(GgufTensor("w", Type.Q4_1, (3, 32), raw).blocks())
    got = dequantized_blocks(packed.numbers, packed.scales, packed.zero_points, packed.bits)
    np.testing.assert_array_equal(got, np.repeat([[0.0], [-3.5], [0.0]], 32, axis=1))


@pytest.mark.parametrize("kind", [Type.F32, Type.F16, Type.BF16], ids=names)
def test_plain_numbers_are_what_they_are(kind: Type) -> None:
    values = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    raw = gguf.quants.quantize(values, kind)
    tensor = GgufTensor("w", int(kind), (3, 8), np.frombuffer(raw.tobytes(), np.uint8))
    np.testing.assert_array_equal(tensor.floats(), gguf.quants.dequantize(raw, kind))
