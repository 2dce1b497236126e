"""Operations of fp16, in loadables made by hand; no fp16 was recorded from the hardware.

Expected values are numpy's where its arithmetic is that of the hardware, else of scalar code.
"""

from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.network import NO_CUBE, Precision
from trivium.targets.dla.nvdla.format.operations import (
    CdpOperation,
    Converter,
    ConvOperation,
    ConvSurface,
    Lut,
    PdpOperation,
    RubikOperation,
    SdpOperation,
    SdpStage,
    SdpSurface,
    TwoCubes,
)
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.reference import mac
from trivium.targets.dla.nvdla.reference.accumulator import Accumulator
from trivium.targets.dla.nvdla.simulator import run
from trivium.targets.dla.nvdla.surfaces import bank_use, entries_per_slice, pack, pack_weights
from trivium.targets.dla.nvdla.surfaces import dense as dense_layout
from trivium.test.unit.targets.dla.nvdla import fp16_by_hand as by_hand
from trivium.test.unit.targets.dla.nvdla.handmade import Data, Step, cube, flying, handmade

FULL = published()["nv_full"]
FP16 = Precision.FP16
CODES = {"source_precision": 2, "destination_precision": 2}


def numbers(rng: np.random.Generator, shape: tuple[int, ...], spread: int = 4) -> np.ndarray:
    scale = 2.0 ** rng.integers(-spread, spread + 1, shape)
    return (rng.normal(size=shape) * scale).astype(np.float16)


def packed(image: np.ndarray) -> bytes:
    """Return an image [C, H, W] of 2-byte elements as the hardware stores it."""
    layout = dense_layout(*image.shape, FULL.atom, 2)
    memory = np.zeros(layout.bytes, np.uint8)
    pack(image, layout, memory)
    return memory.tobytes()


def bits(values: np.ndarray) -> list[int]:
    return values.view(np.uint16).ravel().tolist()


def convolved(image, weights, stride: int, pad: int, dilation: int) -> np.ndarray:
    """Return the accumulators of a convolution, float32, each of them by scalar code."""
    padded = np.pad(image, ((0, 0), (pad, pad), (pad, pad)))
    count, channels, height, width = weights.shape
    rows = (padded.shape[1] - dilation * (height - 1) - 1) // stride + 1
    columns = (padded.shape[2] - dilation * (width - 1) - 1) // stride + 1
    found = np.zeros((count, rows, columns), np.uint32)
    for k, y, x in np.ndindex(count, rows, columns):
        total = (0, 0)
        for first in range(0, channels, 64):
            for r, s in np.ndindex(height, width):
                row, column = y * stride + r * dilation, x * stride + s * dilation
                part = slice(first, first + 64)
                data = bits(padded[part, row, column].copy())
                total = by_hand.accumulate(
                    total, by_hand.sum_of_products(bits(weights[k, part, r, s].copy()), data)
                )
        found[k, y, x] = by_hand.fp32(total)
    return found.view(np.float32)


@pytest.mark.parametrize("kind", ["near", "far", "any"])
def test_sums_of_products_bit_by_bit(kind: str) -> None:
    rng = np.random.default_rng(3)
    for channels in (1, 3, 17, 64):
        if kind == "any":
            weights, data = (rng.integers(0, 1 << 16, s) for s in ((3, channels), (channels, 4)))
        else:
            spread = 2 if kind == "near" else 14
            weights = numbers(rng, (3, channels), spread).view(np.uint16).astype(np.int64)
            data = numbers(rng, (channels, 4), spread).view(np.uint16).astype(np.int64)
        if kind == "any" and channels > 3:
            # Infinities remain, but not the NaNs that would hide the sums.
            weights, data = (np.where(v >> 10 & 31 == 31, v & ~1023, v) for v in (weights, data))
        total = Accumulator.zeros((3, 4))
        expected = {place: (0, 0) for place in np.ndindex(3, 4)}
        for _ in range(4):
            sums = mac.sums_of_products(weights, data)
            total = total.plus(sums)
            for k, p in expected:
                one = by_hand.sum_of_products(weights[k].tolist(), data[:, p].tolist())
                assert one == (sums.exponent[k, p], sums.mantissa[k, p])
                expected[k, p] = by_hand.accumulate(expected[k, p], one)
            weights = rng.permuted(weights, axis=1) ^ 0x8000
        found = total.to_fp32()
        assert all(by_hand.fp32(each) == found[place] for place, each in expected.items())


CONVOLUTIONS = [(5, 4, 3, 1, 1, 1), (70, 3, 2, 2, 0, 1), (16, 33, 1, 1, 0, 1), (3, 2, 3, 1, 2, 2)]


@pytest.mark.parametrize("sizes", CONVOLUTIONS)
def test_a_convolution_with_bias_scale_and_relu(sizes: tuple[int, ...]) -> None:
    channels, kernels, kernel, stride, pad, dilation = sizes
    rng = np.random.default_rng(channels)
    image, weights = (
        numbers(rng, (channels, 6, 5)),
        numbers(rng, (kernels, channels, kernel, kernel)),
    )
    bias, scale = numbers(rng, (kernels,)), numbers(rng, (kernels,))
    sums = convolved(image, weights, stride, pad, dilation)
    wide = (sums + bias.astype(np.float32)[:, None, None]) * scale.astype(np.float32)[:, None, None]
    expected = np.maximum(wide, 0).astype(np.float16)

    shape = expected.shape
    both = np.stack([bias, scale], 1).tobytes()
    data = [
        Data(image.shape, FP16, role="input"),
        Data(shape, FP16, role="output"),
        Data((1, 1, 1), contents=pack_weights(weights, FULL, FP16)),
        Data((kernels, 1, 1), contents=both.ljust(-(-len(both) // 32) * 32, b"\0")),
    ]
    entries = entries_per_slice(5, channels, FULL, FP16)
    banks = bank_use(FULL, entries, 6, len(data[2].contents))
    conv = ConvOperation(
        entries_per_slice=entries,
        data_format=36,
        fetch_grain=1,
        release=6,
        data_banks=banks.data,
        weight_banks=banks.weights,
        width_csc=5,
        height_csc=6,
        channels_csc=channels,
        kernel_width=kernel,
        kernel_height=kernel,
        kernel_channels=channels,
        width_cmac=shape[2],
        height_cmac=shape[1],
        bytes_per_kernel=channels * kernel * kernel * 2,
        stride_x=stride,
        stride_y=stride,
        pad_left=pad,
        pad_right=pad,
        pad_top=pad,
        pad_bottom=pad,
        dilation_x=dilation,
        dilation_y=dilation,
        input_precision=2,
        output_precision=2,
    )
    stage = SdpStage(1, 2, 3, 1, 1, precision=2)
    weights_cube = replace(cube(data, 2, FULL), size=len(data[2].contents))
    steps = [
        Step(
            conv,
            ConvSurface(weights_cube, source=cube(data, 0, FULL), destination=flying(data[1])),
            feeds=True,
        ),
        Step(
            SdpOperation(**CODES, x1=stage),
            SdpSurface(
                source=flying(data[1]), x1=cube(data, 3, FULL), destination=cube(data, 1, FULL)
            ),
        ),
    ]
    (found,) = run(handmade(steps, data, FULL), FULL, [image])
    assert found.dtype == np.float16
    assert np.array_equal(found, expected)
    # Other bytes for each kernel are a fault: an element has two.
    wrong = replace(steps[0], descriptor=replace(conv, bytes_per_kernel=channels * kernel * kernel))
    faults = [str(each) for each in lint(handmade([wrong, steps[1]], data, FULL), FULL)]
    assert any("bytes for each kernel, must be" in each for each in faults)


def through_sdp(operation: SdpOperation, x, *operands, shape=None, luts=()) -> np.ndarray:
    """Run SDP on data from memory, with operands [C, H, W] of x1, x2 and y."""
    target = Precision(operation.destination_precision)
    data = [Data(x.shape, FP16, role="input"), Data(x.shape, target, role="output")]
    cubes = []
    for each in operands:
        if each is None:
            cubes.append(NO_CUBE)
            continue
        data.append(Data(each.shape, FP16, packed(each)))
        cubes.append(cube(data, len(data) - 1, FULL))
    cubes += [NO_CUBE] * (3 - len(cubes))
    surface = SdpSurface(cube(data, 0, FULL), *cubes, cube(data, 1, FULL))
    (found,) = run(handmade([Step(operation, surface)], data, FULL, luts), FULL, [x])
    return found


def test_elements_are_added_and_multiplied_in_32_bits() -> None:
    rng = np.random.default_rng(6)
    x, first, second = (numbers(rng, (19, 4, 3), 9) for _ in range(3))
    operation = SdpOperation(
        **CODES,
        x1=SdpStage(1, 2, 2, 2, precision=2),
        x2=SdpStage(1, 2, 1, 2, 3, precision=2),
        y=SdpStage(1, 0, 2, 2, precision=2),
    )
    third = numbers(rng, x.shape, 9)
    found = through_sdp(operation, x, first, second, third)
    wide = x.astype(np.float32) + first
    wide = np.where(wide < 0, wide * second.astype(np.float32), wide)
    expected = np.maximum(wide, third.astype(np.float32)).astype(np.float16)
    assert np.array_equal(found, expected)


def test_infinity_is_the_largest_number_and_nan_is_handed_on() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 60000, 6e-8, -0.0, 1, -1], np.float16).reshape(8, 1, 1)
    added = np.array([0, 0, 1, 60000, 0, 0, -1, 1], np.float16).reshape(8, 1, 1)
    operation = SdpOperation(**CODES, x1=SdpStage(1, 2, 2, 2, precision=2))
    found = through_sdp(operation, x, added).ravel()
    assert found[:2].tolist() == [65504, -65504]
    assert np.isnan(found[2])
    assert found[3:5].tolist() == [65504, np.float16(6e-8)]
    # Of numbers that are as large, the sign of a zero is that of the first.
    assert np.signbit(found[5:]).tolist() == [True, False, True]
    relu = SdpOperation(**CODES, x1=SdpStage(1, activation=1))
    assert not np.signbit(through_sdp(relu, x).ravel()[5])


def test_conversions_of_precision() -> None:
    x = np.array([2.5, -2.5, 0.49, 70, 40000, -40000, np.nan], np.float16).reshape(7, 1, 1)
    operation = SdpOperation(source_precision=2, destination_precision=1)
    assert through_sdp(operation, x).ravel().tolist() == [3, -3, 0, 70, 32767, -32768, -32768]
    data = [Data((3, 1, 2), Precision.INT16, role="input"), Data((3, 1, 2), FP16, role="output")]
    surface = SdpSurface(cube(data, 0, FULL), destination=cube(data, 1, FULL))
    convert = Converter(scale=3, truncate=1, enable=1, offset=1)
    step = Step(SdpOperation(1, 2, converter=convert), surface)
    x = np.array([[[1, 2]], [[4096, -4097]], [[32767, -32768]]], np.int16)
    (found,) = run(handmade([step], data, FULL), FULL, [x])
    scaled = (x.astype(np.int64) - 1) * 3
    halves = np.sign(scaled) * ((np.abs(scaled) + 1) >> 1)
    assert np.array_equal(found, halves.astype(np.float16))
    with pytest.raises(CompileError, match="needs conversion of fp16 to int8"):
        through_sdp(SdpOperation(source_precision=2), np.zeros((3, 1, 1), np.float16))


def nearest(values, digits: int = 11) -> np.ndarray:
    """Return numbers of 17 bits: 11 binary digits, in a range that the tests stay within."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, digits)), exponent - digits)


def pooled(x: np.ndarray, operation: PdpOperation, shape: tuple[int, int, int]) -> np.ndarray:
    kind = Precision(operation.precision)
    data = [Data(x.shape, kind, role="input"), Data(shape, kind, role="output")]
    surface = TwoCubes(cube(data, 0, FULL), cube(data, 1, FULL))
    (found,) = run(handmade([Step(operation, surface)], data, FULL), FULL, [x])
    return found


POOL = PdpOperation(1, 0, 0, 1, 0, 0, 1, 1, 2, 1, 2, 1, 1, 0, 0, 1, 2)


def test_pools() -> None:
    x = numbers(np.random.default_rng(8), (18, 5, 7))
    outside = ((0, 0), (0, 1), (1, 0))
    for mode, fill in ((1, -np.inf), (2, np.inf)):
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(x, outside, constant_values=fill), (2, 3), (1, 2)
        )[:, :, ::2]
        expected = windows.max((3, 4)) if mode == 1 else windows.min((3, 4))
        assert np.array_equal(pooled(x, replace(POOL, mode=mode), (18, 5, 3)), expected)
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, outside).astype(np.float64), (2, 3), (1, 2)
    )[:, :, ::2]
    rows = nearest(nearest(windows[..., 0] + windows[..., 1]) + windows[..., 2])
    total = nearest(rows[..., 0] + rows[..., 1])
    # A third in 17 bits, as the firmware has it, is a little smaller.
    expected = nearest(nearest(total * 1365 / 4096) / 2).astype(np.float16)
    assert np.array_equal(pooled(x, replace(POOL, mode=0), (18, 5, 3)), expected)
    integers = np.random.default_rng(9).integers(-32768, 32768, (18, 5, 7)).astype(np.int16)
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(integers, outside, constant_values=-32768), (2, 3), (1, 2)
    )[:, :, ::2]
    found = pooled(integers, replace(POOL, precision=1), (18, 5, 3))
    assert np.array_equal(found, windows.max((3, 4)))


def fp32_bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def table(function, **values: int) -> Lut:
    """Return a table of a function: of 65 entries from -8 to 8, and of 257 from -2 to 2."""
    first = function(np.linspace(-8, 8, 65)).astype(np.float16).view(np.int16)
    second = function(np.linspace(-2, 2, 257)).astype(np.float16).view(np.int16)
    given = {
        "exponential_offset": -2 & 0xFFFF,
        "linear_offset": -6 & 0xFFFF,
        "exponential_start": fp32_bits(-8),
        "exponential_end": fp32_bits(8),
        "linear_start": fp32_bits(-2),
        "linear_end": fp32_bits(2),
        "method": 1,
        "hybrid_priority": 1,
    }
    return Lut(tuple(first.tolist()), tuple(second.tolist()), **(given | values))


def test_a_table_of_sigmoid_is_near_it() -> None:
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    x = np.linspace(-9, 9, 16 * 9 * 5).astype(np.float16).reshape(16, 9, 5)
    operation = SdpOperation(**CODES, lut=0, y=SdpStage(1, activation=2))
    found = through_sdp(operation, x, luts=[table(sigmoid)])
    inside = np.abs(x) < 2
    wide = x.astype(np.float64)
    assert np.abs(found[inside] - sigmoid(wide[inside])).max() < 1e-3
    assert np.abs(found - sigmoid(np.clip(wide, -8, 8))).max() < 4e-3
    # Entries are met exactly, but for the first, which is outside.
    places = np.linspace(-2, 2, 257)[1:-1].astype(np.float16)
    found = through_sdp(operation, places.reshape(255, 1, 1), luts=[table(sigmoid)]).ravel()
    assert np.array_equal(found, sigmoid(places.astype(np.float64)).astype(np.float16))


def test_tables_interpolate_in_17_bits_and_have_slopes() -> None:
    rng = np.random.default_rng(4)
    steps = rng.integers(1, 200, 257).astype(np.float64)
    lut = table(lambda places: steps[: len(places)] / 8)
    lut = replace(lut, linear_overflow_slope=int(np.float16(0.5).view(np.uint16)))
    lut = replace(lut, overflow_priority=1, hybrid_priority=1)
    x = rng.uniform(-1.99, 1.99, (16, 3, 3)).astype(np.float16)
    operation = SdpOperation(**CODES, lut=0, y=SdpStage(1, activation=2))
    place = (x.astype(np.float64) + 2) * 64
    index = np.floor(place).astype(int)
    fraction = place - index
    before, after = steps[index] / 8, steps[index + 1] / 8
    expected = nearest(nearest(nearest(1 - fraction) * before) + nearest(nearest(fraction) * after))
    assert np.array_equal(through_sdp(operation, x, luts=[lut]), expected.astype(np.float16))
    beyond = np.array([9, 20.5], np.float16).reshape(2, 1, 1)
    found = through_sdp(operation, beyond, luts=[lut]).ravel()
    assert found.tolist() == (steps[256] / 8 + 0.5 * (beyond.ravel() - 2)).tolist()


def test_local_response_normalisation() -> None:
    rng = np.random.default_rng(11)
    x = numbers(rng, (21, 3, 4), 1)
    lut = table(lambda places: 1 / (1 + np.maximum(places, 0)))
    lut = replace(lut, exponential_start=fp32_bits(0), exponential_end=fp32_bits(16))
    lut = replace(lut, exponential_offset=-2 & 0xFFFF, hybrid_priority=0)
    data = [Data(x.shape, FP16, role="input"), Data(x.shape, FP16, role="output")]
    surface = TwoCubes(cube(data, 0, FULL), cube(data, 1, FULL))
    operation = CdpOperation(2, 2, 0, local_size=5)
    (found,) = run(handmade([Step(operation, surface)], data, FULL, [lut]), FULL, [x])
    squares = np.pad(x.astype(np.float32) ** 2, ((2, 2), (0, 0), (0, 0)))
    near = (squares[1:22] + squares[3:24]) + squares[2:23]
    total = (near + (squares[0:21] + squares[4:25])).astype(np.float64)
    entries = np.array(lut.exponential, np.int16).view(np.float16).astype(np.float64)
    place = np.minimum(total * 4, 64)
    index = np.minimum(np.floor(place).astype(int), 63)
    cut = np.floor((place - index) * 65536) / 65536
    rise = nearest(nearest(entries[index + 1] - entries[index]) * nearest(cut))
    factor = np.where(total >= 16, entries[64], nearest(rise + entries[index]))
    expected = nearest(x.astype(np.float64) * factor).astype(np.float16)
    assert (total < 16).any()
    assert np.array_equal(found[total < 16], expected[total < 16])
    # Beyond the table its slope is 0, and where the other table has a value it is taken.
    assert np.array_equal(found[total > 16], expected[total > 16])


def test_the_reshape_engine_moves_two_bytes() -> None:
    x = numbers(np.random.default_rng(12), (16 * 4, 2, 3))
    data = [Data(x.shape, FP16, role="input"), Data((10, 4, 6), FP16, role="output")]
    surface = TwoCubes(cube(data, 0, FULL), cube(data, 1, FULL))
    step = Step(RubikOperation(0, 2, 2, 2), surface)
    (found,) = run(handmade([step], data, FULL), FULL, [x])
    for y, column in np.ndindex(2, 2):
        part = x[16 * (2 * y + column) :][:10]
        assert np.array_equal(found[:, y::2, column::2], part)
