"""Rules of quantised numbers against ONNX Runtime, where ONNX's own cases do not reach."""

from typing import Any

import numpy as np
import pytest
from trivium.test.unit.compiler.frontends.onnx.graphs import array
from trivium.test.unit.compiler.frontends.onnx.single_node import agree, refused

pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_quantize_linear_of_all_axes(dtype: Any) -> None:
    x = array(2, 3, 4) * 90
    zero = np.array([3, 5, 7], dtype)
    scale = np.array([0.5, 0.25, 2.0], np.float32)
    agree("QuantizeLinear", [x, scale[0], zero[0]], 21)
    agree("QuantizeLinear", [x, scale, zero], 21, axis=-2)
    agree("DequantizeLinear", [(x * 2).astype(dtype), scale, zero], 21, axis=1)


def test_quantize_linear_of_blocks() -> None:
    x, scale = array(2, 5, 3) * 90, np.abs(array(2, 2, 3, seed=1)) + 0.1
    zero = RNG.integers(0, 9, (2, 2, 3)).astype(np.uint8)
    agree("QuantizeLinear", [x, scale, zero], 21, axis=1, block_size=3)
    agree("DequantizeLinear", [x.astype(np.uint8), scale, zero], 21, axis=1, block_size=3)


def test_quantize_linear_rounds_ties_to_even_and_saturates() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, 300, -300], np.float32)
    agree("QuantizeLinear", [x, np.float32(1), np.int8(1)], 13)


def test_dequantize_linear_of_wide_sums() -> None:
    agree("DequantizeLinear", [np.array([1 << 30, -5], np.int32), np.float32(0.5)], 13)


def test_integer_products() -> None:
    a, b = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((2, 3, 4), (4, 5)))
    agree("MatMulInteger", [a, b], 10)
    agree("MatMulInteger", [a, b, np.uint8(7), RNG.integers(0, 9, 5).astype(np.uint8)], 10)
    x, w = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((1, 4, 6, 5), (6, 2, 3, 3)))
    agree("ConvInteger", [x, w, np.uint8(7), np.uint8(9)], 10, group=2, pads=[1, 0, 1, 2])


def test_quantised_products() -> None:
    x, w = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((1, 4, 6, 5), (6, 4, 3, 3)))
    scales = (np.abs(array(6, seed=1)) + 0.1) / 64
    zeros = np.full(6, 128, np.uint8)
    bias = RNG.integers(-999, 999, 6).astype(np.int32)
    first, result = [np.float32(0.02), np.uint8(120)], [np.float32(0.5), np.uint8(100)]
    agree("QLinearConv", [x, *first, w, scales, zeros, *result, bias], 10, tolerance=1)
    a, b = (RNG.integers(0, 255, s).astype(np.uint8) for s in ((2, 3, 4), (4, 5)))
    operands = [a, *first, b, np.float32(0.03), np.uint8(90), *result]
    agree("QLinearMatMul", operands, 10)


def test_quantised_numbers_that_do_not_fit_are_refused() -> None:
    x, scale = array(2, 3), np.ones(4, np.float32)
    wanted = "has a scale or zero point tensor<4xf32> for axis 1"
    refused(wanted, "QuantizeLinear", [x, scale], 13)
    wanted = "has a scale or zero point tensor<4xf32> for blocks of 2"
    refused(wanted, "QuantizeLinear", [x, scale], 21, block_size=2)
    wanted = "quantises to i32, must be an integer of at most 16 bits"
    refused(wanted, "QuantizeLinear", [x, scale[0], np.int32(0)], 10)
    given = {"output_dtype": 3}
    wanted = "has output_dtype i8 and a zero point of ui8, must be the same"
    refused(wanted, "QuantizeLinear", [x, scale[0], np.uint8(0)], 21, **given)
