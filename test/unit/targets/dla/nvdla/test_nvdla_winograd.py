"""Winograd convolutions: equal to direct ones where no bits are lost, and to scalar code elsewhere.

Weights are transformed by twice the matrix that is usual, so that they are integers: sums are 4
times those of a direct convolution.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import NO_CUBE, Cube, Precision, Storage
from trivium.targets.dla.nvdla.format.operations import (
    Converter,
    ConvOperation,
    ConvSurface,
    SdpOperation,
    SdpSurface,
)
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.reference.winograd import convolve_winograd
from trivium.targets.dla.nvdla.simulator import run
from trivium.targets.dla.nvdla.surfaces import dense, pack
from trivium.targets.dla.nvdla.timing.cycles import cost_of
from trivium.targets.dla.nvdla.winograd_weights import pack_winograd_weights
from trivium.test.unit.targets.dla.nvdla import fp16_by_hand as by_hand
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import changed
from trivium.test.unit.targets.dla.nvdla.handmade import (
    TABLES,
    Data,
    Step,
    cube,
    flying,
    handmade,
)

FULL = published()["nv_full"]
INT8, INT16, FP16 = Precision
TWICE = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])


def extended(weights: np.ndarray, stride: int, channels: int) -> np.ndarray:
    """Return weights [K, C, R, S] as [K, C', 3, 3]: phases of a stride are filled channels."""
    count, given = weights.shape[:2]
    phases = np.zeros((count, stride, stride, channels, 3, 3), np.int64)
    for r, s in np.ndindex(weights.shape[2:]):
        phases[:, r % stride, s % stride, :given, r // stride, s // stride] = weights[:, :, r, s]
    return phases.reshape(count, -1, 3, 3)


def winograd(
    image: np.ndarray, weights: np.ndarray, stride: int = 1, pad: int = 1, **values
) -> Loadable:
    """Return a Winograd convolution of an image [C, H, W], padded to whole tiles."""
    precision = {"int8": INT8, "int16": INT16, "float16": FP16}[image.dtype.name]
    channels, height, width = image.shape
    atom = FULL.atom_elements(precision)
    filled = -(-channels // atom) * atom
    kernels = TWICE @ extended(weights, stride, filled) @ TWICE.T
    stored = pack_winograd_weights(kernels.astype(image.dtype), FULL, precision)
    sizes = [(n + 2 * pad - weights.shape[2]) // stride + 1 for n in (height, width)]
    out_rows, out_columns = (-(-n // 4) * 4 for n in sizes)
    layout = dense(*image.shape, FULL.atom, precision.bytes)
    memory = np.zeros(layout.bytes, np.uint8)
    pack(image, layout, memory)
    out = Data((len(weights), out_rows, out_columns), INT16, role="output")
    data = [
        Data(image.shape, precision, memory.tobytes()),
        Data((1, 1, 1), contents=stored),
        out,
    ]
    depth = filled * stride * stride
    conv = ConvOperation(
        mode=1,
        data_format=36,
        entries_per_slice=(out_columns + 4) * depth * precision.bytes // FULL.entry,
        fetch_grain=1,
        data_banks=8,
        weight_banks=8,
        height_csc=out_rows + 4,
        width_csc=out_columns + 4,
        channels_csc=depth,
        kernel_height=4,
        kernel_width=4,
        kernel_channels=depth,
        height_cmac=out_rows,
        width_cmac=out_columns,
        bytes_per_kernel=16 * depth * precision.bytes,
        stride_x=stride,
        stride_y=stride,
        pad_top=pad,
        pad_left=pad,
        pad_bottom=(out_rows + 4) * stride - height - pad,
        pad_right=(out_columns + 4) * stride - width - pad,
        input_precision=precision,
        output_precision=precision,
        **values,
    )
    surface = ConvSurface(
        weights=Cube(Storage.DRAM, TABLES + 1, 0, len(stored)),
        source=cube(data, 0, FULL),
        destination=flying(out),
    )
    surface = replace(surface, source=source_of(surface.source, image, precision))
    sdp = SdpOperation(precision, INT16, converter=Converter(1, 0, 1), conv_mode=1)
    ends = SdpSurface(flying(out), NO_CUBE, NO_CUBE, NO_CUBE, cube(data, 2, FULL))
    return handmade([Step(conv, surface, True), Step(sdp, ends)], data, FULL)


def source_of(found: Cube, image: np.ndarray, precision: Precision) -> Cube:
    layout = dense(*image.shape, FULL.atom, precision.bytes)
    strides = {"line_stride": layout.line_stride, "surface_stride": layout.surface_stride}
    return replace(found, size=layout.bytes, **strides)


def sums(loadable: Loadable) -> np.ndarray:
    found: list[np.ndarray] = []
    run(loadable, FULL, [], lambda _, values: found.append(values))
    return found[0]


def direct(image: np.ndarray, weights: np.ndarray, stride: int, pad: int, value: int):
    padded = np.pad(image.astype(np.int64), ((0, 0), (pad, pad), (pad, pad)), constant_values=value)
    size = weights.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(padded, size, (1, 2))
    return np.einsum("kcrs,chwrs->khw", weights, windows[:, ::stride, ::stride])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float16])
@pytest.mark.parametrize(("stride", "size"), [(1, 3), (2, 5), (3, 7)])
def test_it_is_a_direct_convolution_where_no_bits_are_lost(
    stride: int, size: int, dtype: type
) -> None:
    rng = np.random.default_rng(stride)
    most = {np.int8: 31, np.int16: 4000, np.float16: 200}[dtype]
    image = rng.integers(-most, most + 1, (5, 11, 14)).astype(dtype)
    weights = rng.integers(-3, 4, (37, 5, size, size))
    pad = int(np.array(-7, dtype).view(f"i{image.itemsize}"))
    found = sums(winograd(image, weights, stride, size // 2, pad_value=pad))
    expected = direct(image, weights, stride, size // 2, -7)
    # Parts of a product of fp16 are shifted each for itself, which takes far less than a half.
    found = np.rint(found[:, : expected.shape[1], : expected.shape[2]])
    assert np.array_equal(found, 4 * expected)


def test_what_is_lost_is_rounded_and_saturated_before_products() -> None:
    """A single tile, in scalar code: rows of 4 differ as 0-2, 1+2, 2-1 and 1-3."""
    rng = np.random.default_rng(4)
    image = rng.integers(-128, 128, (2, 6, 6)).astype(np.int8)
    weights = rng.integers(-2, 3, (1, 2, 3, 3))
    found = sums(winograd(image, weights, pad=0, pra_truncate=1))

    def turned(a, b, c, d):
        return [a - c, b + c, c - b, b - d]

    expected = np.zeros((2, 2), np.int64)
    for channel in range(2):
        tile = image[channel, 2:6, 2:6].astype(int).tolist()
        rows = [turned(*row) for row in tile]
        both = np.array([turned(*column) for column in zip(*rows, strict=True)]).T
        halves = np.sign(both) * ((np.abs(both) + 1) // 2)
        products = np.clip(halves, -128, 127) * (TWICE @ weights[0, channel] @ TWICE.T)
        for y, x in np.ndindex(2, 2):
            signs = ((1, 1, 1, 0), (0, 1, -1, -1))
            expected[y, x] += sum(
                signs[y][r] * signs[x][s] * products[r, s] for r, s in np.ndindex(4, 4)
            )
    assert np.array_equal(found[0, 2:4, 2:4], expected)


LARGEST = Fraction(2**32 - 2**21)
"""The largest number of 17 bits, which stands for infinity."""


def in_17_bits(value: Fraction) -> Fraction:
    """Return the nearest number with a mantissa of 11 bits, ties to even."""
    if not value:
        return value
    unit = Fraction(2) ** (math.frexp(float(value))[1] - 11)
    return max(min(round(value / unit) * unit, LARGEST), -LARGEST)


@pytest.mark.parametrize("has_nan", [False, True])
def test_halves_are_transformed_in_17_bits_and_all_places_summed_at_once(has_nan: bool) -> None:
    """A single tile of 8 channels, in two steps of 4: number by number with fractions."""
    rng = np.random.default_rng(6)
    image = (rng.normal(size=(8, 4, 4)) * 2.0 ** rng.integers(-6, 7, (8, 4, 4))).astype("<f2")
    weights = (rng.normal(size=(3, 8, 4, 4)) * 2.0 ** rng.integers(-9, 3, (3, 8, 4, 4))).astype(
        "<f2"
    )
    if has_nan:
        weights[1, 5, 2, 3], image[6, 1, 1] = np.nan, np.inf

    def turned(a, b, c, d):
        return [in_17_bits(value) for value in (a - c, b + c, c - b, b - d)]

    places: list[list[int]] = []
    for tile in np.where(np.isinf(image), float(LARGEST), image.astype(float)):
        columns = [turned(*map(Fraction, column)) for column in tile.T]
        rows = [turned(*row) for row in zip(*columns, strict=True)]
        values = np.clip(np.array(rows, float), -65504, 65504).astype("<f2")
        places.append(values.view(np.uint16).ravel().tolist())
    operation = ConvOperation(1, width_cmac=2, height_cmac=2, input_precision=2, output_precision=2)
    found = convolve_winograd(image, weights, operation, 64)
    signs = ((1, 1, 1, 0), (0, 1, -1, -1))
    for k, y, x in np.ndindex(3, 2, 2):
        total = 0, 0
        for first in (0, 4):
            part = weights[k, first : first + 4].reshape(4, 16).view(np.uint16).T
            data = [places[c][place] for place in range(16) for c in range(first, first + 4)]
            exponent, terms = by_hand.products(part.ravel().tolist(), data)
            value = terms[0]
            if exponent < 63:
                value = sum(
                    signs[y][place // 4] * signs[x][place % 4] * terms[4 * place + c]
                    for place, c in np.ndindex(16, 4)
                )
            total = by_hand.accumulate(total, (exponent, value))
        assert by_hand.fp32(total) == found[k, y, x].view(np.uint32)
    assert np.isnan(found[1]).all() == has_nan


def test_cycles_are_those_of_four_results_at_once() -> None:
    image = np.zeros((64, 8, 8), np.int8)
    loadable = winograd(image, np.zeros((32, 64, 3, 3), np.int64))
    (task,) = dla_tasks(Tables(loadable))
    # A direct one takes 9 places for 64 pixels.
    assert cost_of(task.operations[0], FULL).compute == 16 * 16


FAULTS = [
    ({"width_csc": 10}, "has phases of 10x12 pixels, must be multiples of 4 and the padded image"),
    ({"height_cmac": 6}, "has output 8x6, must be multiples of 4"),
    ({"height_cmac": 12}, "has output that reaches behind its input"),
    ({"kernel_channels": 3}, "has 32 and 3 channels of data and kernels, must be 32"),
    ({"kernel_width": 3}, "has kernels of 3x4, must be 4x4"),
    ({"bytes_per_kernel": 512 + 1}, "has 513 bytes for each kernel, must be 512"),
    ({"entries_per_slice": 9}, "has 9 entries per row in CBUF, must be 3"),
    ({"data_format": 12}, "has mode 1, must be 0, or 1 for feature data"),
    ({"mode": 2}, "has mode 2, must be 0, or 1 for feature data"),
]


@pytest.mark.parametrize(("values", "message"), FAULTS)
def test_faults_of_winograd(values: dict[str, int], message: str) -> None:
    loadable = winograd(np.zeros((3, 8, 8), np.int8), np.zeros((2, 3, 3, 3), np.int64))
    assert lint(loadable, FULL) == ()
    found = [each.message for each in lint(changed(loadable, 0, "descriptor", **values), FULL)]
    assert any(each.startswith(message) for each in found)


def test_a_configuration_without_winograd_and_other_arithmetic_are_refused() -> None:
    loadable = winograd(np.zeros((3, 8, 8), np.int8), np.zeros((2, 3, 3, 3), np.int64))
    without = replace(FULL, winograd=False, name="plain")
    assert [each.message for each in lint(loadable, without)] == ["plain has no Winograd"]
    dilated = changed(loadable, 0, "descriptor", dilation_x=2)
    with pytest.raises(CompileError, match="needs Winograd with dilation, which the simulator"):
        run(dilated, FULL, [])


def test_what_follows_a_convolution_must_be_in_its_mode() -> None:
    loadable = winograd(np.zeros((3, 8, 8), np.int8), np.zeros((2, 3, 3, 3), np.int64))
    (found,) = lint(changed(loadable, 1, "descriptor", conv_mode=0), FULL)
    assert found.message == "has mode 0 of convolutions, operation 0 (CONV) has 1"
