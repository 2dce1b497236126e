"""What the engines compute, against torch and against fractions, beyond the recorded cases."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from trivium.targets.dla.nvdla.format.operations import (
    Converter,
    ConvOperation,
    PdpOperation,
    SdpOperation,
    SdpStage,
)
from trivium.targets.dla.nvdla.reference.arithmetic import convert, saturate, shift_right
from trivium.targets.dla.nvdla.reference.convolution import convolve
from trivium.targets.dla.nvdla.reference.pdp import AVERAGE, MAXIMUM, MINIMUM, pool
from trivium.targets.dla.nvdla.reference.sdp import process
from trivium.targets.dla.nvdla.reference.stages import (
    ALU,
    BOTH,
    MAX,
    MIN,
    MULTIPLY,
    PRELU,
    RELU,
    SUM,
    Operands,
)


def half_away(value: Fraction) -> int:
    """Return the nearest integer, halves away from zero."""
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def nearest(value: int, bits: int) -> int:
    return min(max(value, -(2 ** (bits - 1))), 2 ** (bits - 1) - 1)


@pytest.mark.parametrize("shift", [0, 1, 2, 7, 31, 62, 255])
def test_right_shifts_round_halves_away_from_zero(shift: int) -> None:
    values = [0, 1, -1, 2, -2, 3, -3, 6, -6, 64, -64, 191, -192, 2**47 - 1, -(2**47)]
    found = shift_right(np.array(values), shift)
    assert found.tolist() == [half_away(Fraction(v, 2**shift)) for v in values]


def test_a_converter() -> None:
    values = np.array([-128, -3, 0, 5, 127])
    found = convert(values, Converter(scale=-3, truncate=1, enable=1, offset=4))
    assert found.tolist() == [half_away(Fraction(-3 * (int(v) - 4), 2)) for v in values]
    assert saturate(np.array([-129, -128, 127, 128]), 8).tolist() == [-128, -128, 127, 127]


@pytest.mark.parametrize("dilation", [1, 3])
@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
def test_a_convolution_is_that_of_torch(stride: tuple[int, int], dilation: int) -> None:
    rng = np.random.default_rng(1)
    image = rng.integers(-128, 128, (5, 11, 13))
    weights = rng.integers(-128, 128, (4, 5, 3, 2))
    top, bottom, left, right, value = 1, 2, 0, 3, -7
    padded = np.pad(image, ((0, 0), (top, bottom), (left, right)), constant_values=value)
    expected = torch.nn.functional.conv2d(
        torch.tensor(padded[None]), torch.tensor(weights), stride=stride, dilation=(dilation, 1)
    )[0].numpy()
    operation = ConvOperation(
        stride_y=stride[0],
        stride_x=stride[1],
        dilation_y=dilation,
        pad_top=top,
        pad_bottom=bottom,
        pad_left=left,
        pad_right=right,
        pad_value=value,
        height_cmac=expected.shape[1],
        width_cmac=expected.shape[2],
    )
    assert np.array_equal(convolve(image, weights, operation), expected)
    halved = replace(operation, output_converter=Converter(scale=1, truncate=4, enable=1))
    rounded = [half_away(Fraction(int(each), 16)) for each in expected.ravel()]
    assert convolve(image, weights, halved).ravel().tolist() == rounded


def test_accumulators_saturate() -> None:
    image = np.full((2**18, 1, 1), -128)
    weights = np.stack([np.full((2**18, 1, 1), -128), np.full((2**18, 1, 1), 127)])
    found = convolve(image, weights, ConvOperation(height_cmac=1, width_cmac=1))
    assert found.ravel().tolist() == [2**31 - 1, -(2**31)]


X_STAGES = [
    SdpStage(1, SUM, ALU, shift=3),
    SdpStage(1, MAX, ALU, activation=RELU, truncate=1),
    SdpStage(1, MIN, ALU),
    SdpStage(1, SUM, MULTIPLY, truncate=5),
    SdpStage(1, SUM, BOTH, activation=RELU, truncate=2),
    SdpStage(1, SUM, MULTIPLY, activation=PRELU, truncate=4),
    SdpStage(1, SUM, 0, activation=RELU),
    SdpStage(0, SUM, BOTH, activation=RELU, truncate=9),
]
Y_STAGES = [
    SdpStage(0, SUM, BOTH),
    SdpStage(1, MIN, ALU, mode=1, truncate=3),
    SdpStage(1, SUM, BOTH, mode=1, truncate=12),
    SdpStage(1, SUM, MULTIPLY, mode=1, activation=PRELU, truncate=4),
    SdpStage(1, MAX, BOTH, 1, 0, 0, 9, 0, 0, 0, Converter(3, 1, 1, 2), Converter(-2, 3, 1, 1)),
    SdpStage(1, SUM, BOTH, 1, 0, 0, 9, 0, 0, 0, Converter(3, 1, 0, 2), Converter(-2, 3, 0, 1)),
]


def expected_x(value: int, alu: int, factor: int, stage: SdpStage) -> int:
    """Compute a stage X for one value: ALU, multiplier, shift, activation."""
    if not stage.enable:
        return value
    if stage.kind & ALU:
        value = CHOOSE[stage.alu](value, nearest(alu << stage.shift, 32))
    if stage.activation == PRELU and value >= 0:
        return nearest(value, 32)
    if stage.kind & MULTIPLY:
        value *= factor
    value = nearest(half_away(Fraction(value, 2**stage.truncate)), 32)
    return max(value, 0) if stage.activation == RELU else value


def expected_y(value: int, alu: int, factor: int, stage: SdpStage) -> int:
    """Compute a stage Y for one value: converted operands, multiplier and shift, then ALU."""
    if not stage.enable:
        return value
    if stage.kind & MULTIPLY and not (stage.activation == PRELU and value >= 0):
        if stage.mul_converter.enable:
            factor = nearest(scaled(factor, stage.mul_converter), 32)
        value = nearest(half_away(Fraction(value * factor, 2**stage.truncate)), 32)
    if stage.kind & ALU:
        if stage.alu_converter.enable:
            alu = nearest(scaled(alu, stage.alu_converter), 32)
        value = nearest(CHOOSE[stage.alu](value, alu), 32)
    return value


CHOOSE = {SUM: int.__add__, MAX: max, MIN: min}


def scaled(value: int, converter: Converter) -> int:
    product = (value - converter.offset) * converter.scale
    return half_away(Fraction(product, 2**converter.truncate))


@pytest.mark.parametrize("second", Y_STAGES)
@pytest.mark.parametrize("first", X_STAGES)
def test_stages_of_sdp(first: SdpStage, second: SdpStage) -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(-(2**31), 2**31, (3, 4, 5))
    values[0] = rng.integers(-300, 300, (4, 5))
    alu = rng.integers(-(2**15), 2**15, (3, 1, 1))
    factor = rng.integers(-(2**15), 2**15, (3, 1, 1))
    output = Converter(scale=77, truncate=20, enable=0, offset=-5)

    def used(stage: SdpStage) -> Operands:
        return Operands(
            alu if stage.kind & ALU else None, factor if stage.kind & MULTIPLY else None
        )

    operation = SdpOperation(converter=output, x1=first, y=second)
    found = process(values, operation, x1=used(first), y=used(second))
    for place in np.ndindex(3, 4, 5):
        a, f = int(alu[place[0], 0, 0]), int(factor[place[0], 0, 0])
        value = expected_x(int(values[place]), a, f, first)
        value = scaled(expected_y(value, a, f, second), output)
        assert found[place] == nearest(value, 8)


@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (2, 1, 0, 2)])
def test_pools_are_those_of_torch(pads: tuple[int, int, int, int]) -> None:
    image = np.random.default_rng(4).integers(-128, 128, (3, 9, 10))
    top, bottom, left, right = pads
    operation = PdpOperation(
        mode=MAXIMUM,
        window_height=2,
        window_width=3,
        stride_y=2,
        stride_x=1,
        pad_top=top,
        pad_bottom=bottom,
        pad_left=left,
        pad_right=right,
    )
    outer = ((0, 0), (top, bottom), (left, right))
    low = torch.tensor(np.pad(image, outer, constant_values=-128).astype(np.float64))
    largest = torch.nn.functional.max_pool2d(low, (3, 4), (2, 1)).numpy()
    assert np.array_equal(pool(image, operation), largest)
    high = torch.tensor(np.pad(-image, outer, constant_values=-127).astype(np.float64))
    smallest = -torch.nn.functional.max_pool2d(high, (3, 4), (2, 1)).numpy()
    assert np.array_equal(pool(image, replace(operation, mode=MINIMUM)), smallest)
    zeros = torch.tensor(np.pad(image, outer).astype(np.float64))
    sums = torch.nn.functional.avg_pool2d(zeros, (3, 4), (2, 1), divisor_override=1).numpy()

    def average(total: float) -> int:
        across = half_away(Fraction(int(total) * (65536 // 4), 65536))
        return half_away(Fraction(across * (65536 // 3), 65536))

    found = pool(image, replace(operation, mode=AVERAGE))
    assert found.ravel().tolist() == [average(each) for each in sums.ravel()]


def test_the_input_of_a_convolution_is_converted() -> None:
    """Pads are put after the conversion, and have their own value."""
    image = np.arange(-128, 128, 7).reshape(1, 1, -1)
    converter = Converter(scale=5, truncate=1, enable=1, offset=-3)
    operation = ConvOperation(
        width_cmac=image.size + 1, height_cmac=1, pad_left=1, pad_value=9, input_converter=converter
    )
    found = convolve(image, np.ones((1, 1, 1, 1)), operation)
    converted = [nearest(half_away(Fraction(5 * (int(v) + 3), 2)), 8) for v in image.ravel()]
    assert found.ravel().tolist() == [9, *converted]
