"""Convolutions of pixels: formats, converter and means, strides, and rows multiplied at once.

Expected values are of numpy on channels that the tests know, which they pack into bytes.
"""

from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import Configuration, published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.listing import listing
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import NO_CUBE, Cube, Precision, Storage
from trivium.targets.dla.nvdla.format.operations import (
    Converter,
    ConvOperation,
    ConvSurface,
    SdpOperation,
    SdpSurface,
)
from trivium.targets.dla.nvdla.image_weights import extended, pack_image_weights
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.pixels import FORMATS
from trivium.targets.dla.nvdla.simulator import run
from trivium.targets.dla.nvdla.timing.cycles import cost_of
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

FULL, SMALL = published()["nv_full"], published()["nv_small"]
INT8, INT16, FP16 = Precision
NUMBERS = {str(each): each.number for each in FORMATS}
BYTES = {
    "T_R8": (0,),
    "T_A8B8G8R8": (0, 1, 2, 3),
    "T_X8R8G8B8": (2, 1, 0, 3),
    "T_B8G8R8A8": (1, 2, 3, 0),
    "T_R8G8B8X8": (3, 2, 1, 0),
    "T_A8Y8U8V8": (2, 1, 0, 3),
    "T_V8U8Y8A8": (1, 2, 3, 0),
}
"""The bytes of red, green, blue and alpha, or Y, U, V and alpha, in a pixel."""

WORDS = {
    "T_R10": (0,),
    "T_R16_I": (0,),
    "T_X16B16G16R16": (0, 1, 2, 3),
    "T_A16Y16U16V16": (2, 1, 0, 3),
    "T_V16U16Y16A16": (1, 2, 3, 0),
}
SHIFTS = {
    "T_A2B10G10R10": (0, 10, 20, 30),
    "T_A2R10G10B10": (20, 10, 0, 30),
    "T_B10G10R10A2": (2, 12, 22, 0),
    "T_R10G10B10A2": (22, 12, 2, 0),
}


def packed(name: str, image: np.ndarray, stride: int) -> bytes:
    """Return rows of pixels with channels [C, H, W], unsigned, as far apart as the stride."""
    _, height, width = image.shape
    if name in SHIFTS:
        kept = [each.astype(np.uint32) >> (6 if i < 3 else 14) for i, each in enumerate(image)]
        words = sum(each << shift for each, shift in zip(kept, SHIFTS[name], strict=True))
        rows = np.asarray(words, np.uint32)[..., None]
    else:
        order = (BYTES | WORDS)[name]
        rows = np.empty((height, width, len(order)), image.dtype)
        for channel, place in enumerate(order):
            rows[..., place] = image[channel]
    return b"".join(row.tobytes().ljust(stride, b"\x5a") for row in rows)


def convolution(
    image: np.ndarray,
    weights: np.ndarray,
    pads: tuple[int, ...],
    strides: tuple[int, int],
    pad: int,
) -> np.ndarray:
    """Return the sums of an image [C, H, W] and weights [K, C, R, S]."""
    top, left, bottom, right = pads
    padded = np.pad(
        image.astype(np.int64), ((0, 0), (top, bottom), (left, right)), constant_values=pad
    )
    size = weights.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(padded, size, (1, 2))
    windows = windows[:, :: strides[0], :: strides[1]]
    return np.einsum("kcrs,chwrs->khw", weights.astype(np.int64), windows)


def pixel_conv(
    name: str,
    contents: bytes,
    sizes: tuple[int, int],
    weights: np.ndarray,
    configuration: Configuration = FULL,
    **values,
) -> Loadable:
    """Return a convolution of pixels [H, W] with weights [K, C, R, S], and an SDP to int8."""
    form = FORMATS[NUMBERS[name]]
    height, width = sizes
    kernels, channels, rows, columns = weights.shape
    precision = Precision(values.get("output_precision", form.precision))
    lines = 1 << values.get("post_extension", 0)
    fields = {"stride_x": 1, "stride_y": 1, "pad_left": 0, "pad_right": 0} | values
    fields = {"pad_top": 0, "pad_bottom": 0, "dilation_y": 1} | fields
    line = fields.pop("line_stride")
    pairs = {key: fields.pop(key, 0) for key in ("offset_u", "line_stride_uv")}
    across = width + fields["pad_left"] + fields["pad_right"]
    down = height + fields["pad_top"] + fields["pad_bottom"]
    out = Data(
        (
            kernels,
            (down - rows) // fields["stride_y"] + 1,
            (across - columns) // fields["stride_x"] + 1,
        ),
        FP16 if precision == FP16 else INT8,
        role="output",
    )
    stored = pack_image_weights(extended(weights), configuration, precision, lines)
    data = [
        Data((channels, height, width), contents=contents),
        Data((1, 1, 1), contents=stored),
        out,
    ]
    entries = -(-across * channels * precision.bytes // configuration.entry)
    conv = ConvOperation(
        entries_per_slice=entries,
        data_format=form.number,
        fetch_grain=1,
        release=height,
        data_banks=4,
        weight_banks=2,
        width_csc=width,
        height_csc=height,
        channels_csc=channels,
        kernel_width=1,
        kernel_height=rows,
        kernel_channels=channels * columns,
        width_cmac=out.shape[2],
        height_cmac=out.shape[1],
        bytes_per_kernel=channels * rows * columns * precision.bytes,
        **({"input_precision": form.precision, "output_precision": precision} | fields),
    )
    source = Cube(Storage.DRAM, TABLES, 0, len(contents), width, height, channels, 0, line)
    surface = ConvSurface(
        weights=Cube(Storage.DRAM, TABLES + 1, 0, len(stored)),
        source=source,
        destination=flying(out),
        **pairs,
    )
    codes = (FP16, FP16) if precision == FP16 else (precision, INT8)
    sdp = SdpOperation(*codes, converter=Converter(1, 0, 1))
    ends = SdpSurface(flying(out), NO_CUBE, NO_CUBE, NO_CUBE, cube(data, 2, configuration))
    return handmade([Step(conv, surface, True), Step(sdp, ends)], data, configuration)


def sums(loadable: Loadable, configuration: Configuration = FULL) -> np.ndarray:
    """Return the accumulators of the convolution."""
    found: list[np.ndarray] = []
    run(loadable, configuration, [], lambda _, values: found.append(values))
    return found[0]


@pytest.mark.parametrize("name", [*BYTES, *WORDS, *SHIFTS])
def test_channels_are_reordered_and_converted(name: str) -> None:
    rng = np.random.default_rng(7)
    wide = name not in BYTES
    count = len((BYTES | WORDS | SHIFTS)[name])
    image = rng.integers(0, 1 << (16 if wide else 8), (count, 5, 6)).astype("u2" if wide else "u1")
    if name in SHIFTS:
        image &= np.array([0xFFC0] * 3 + [0xC000], np.uint16)[:, None, None]
    weights = rng.integers(-128, 128, (3, count, 3, 2))
    converter = Converter(scale=-3, truncate=9 if wide else 2, enable=1, offset=37)
    contents = packed(name, image, 96)
    loadable = pixel_conv(
        name,
        contents,
        (5, 6),
        weights.astype(np.int8),
        line_stride=96,
        input_converter=converter,
        output_precision=INT8,
        pad_left=2,
        pad_top=1,
        stride_y=2,
        pad_value=-5,
    )
    scaled = (image.astype(np.int64) - 37) * -3 / (1 << converter.truncate)
    halves = np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)
    expected = convolution(np.clip(halves, -128, 127), weights, (1, 2, 0, 0), (2, 1), -5)
    assert np.array_equal(sums(loadable), expected)


@pytest.mark.parametrize("signed", [0, 1])
def test_means_replace_the_offset_of_each_channel(signed: int) -> None:
    rng = np.random.default_rng(8)
    image = rng.integers(0, 256, (4, 4, 5)).astype(np.uint8)
    weights = rng.integers(-128, 128, (2, 4, 1, 1)).astype(np.int8)
    loadable = pixel_conv(
        "T_A8B8G8R8",
        packed("T_A8B8G8R8", image, 32),
        (4, 5),
        weights,
        line_stride=32,
        pixel_override=signed,
        mean_format=1,
        mean_ry=100,
        mean_gu=-7,
        mean_bv=0,
        mean_ax=255,
        input_converter=Converter(1, 1, 1, offset=11),
    )
    values = image.astype(np.int8 if signed else np.uint8).astype(np.float64)
    halves = (values - np.array([100, -7, 0, 255])[:, None, None]) / 2
    halves = np.sign(halves) * np.floor(np.abs(halves) + 0.5)
    expected = convolution(np.clip(halves, -128, 127), weights, (0,) * 4, (1, 1), 0)
    assert np.array_equal(sums(loadable), expected)
    # Without the converter bytes are taken as they are, and means are not subtracted.
    plain = changed(loadable, 0, "descriptor", input_converter=Converter(1, 1, 0, 11))
    expected = convolution(image.view(np.int8), weights, (0,) * 4, (1, 1), 0)
    assert np.array_equal(sums(plain), expected)


@pytest.mark.parametrize("lines", [1, 2, 4])
@pytest.mark.parametrize("configuration", [FULL, SMALL], ids=str)
def test_rows_that_are_multiplied_at_once(lines: int, configuration: Configuration) -> None:
    rng = np.random.default_rng(lines)
    image = rng.integers(0, 256, (1, 9, 11)).astype(np.uint8)
    weights = rng.integers(-128, 128, (37, 1, 5, 2)).astype(np.int8)
    loadable = pixel_conv(
        "T_R8",
        packed("T_R8", image, 32),
        (9, 11),
        weights,
        configuration,
        line_stride=32,
        post_extension=lines // 2,
        pad_top=2,
        pad_right=1,
        pad_bottom=1,
        stride_x=2,
        pad_value=0x17F,
    )
    expected = convolution(image.view(np.int8), weights, (2, 0, 1, 1), (1, 2), 127)
    assert np.array_equal(sums(loadable, configuration), expected)
    (task,) = dla_tasks(Tables(loadable))
    groups = -(-37 // configuration.macs_kernels)
    steps = -(-5 // lines)
    assert cost_of(task.operations[0], configuration).compute == groups * steps * 8 * 6
    assert "    pixels T_R8\n" in listing(loadable)


@pytest.mark.parametrize("order", ["U8V8", "V8U8"])
def test_a_plane_of_y_and_one_of_pairs(order: str) -> None:
    rng = np.random.default_rng(9)
    y, u, v = rng.integers(0, 256, (3, 3, 7)).astype(np.uint8)
    pairs = np.stack([v, u] if order == "U8V8" else [u, v], -1).reshape(3, 14)
    first = b"".join(row.tobytes().ljust(32, b"\1") for row in y)
    second = b"".join(row.tobytes().ljust(64, b"\2") for row in pairs)
    weights = rng.integers(-128, 128, (2, 3, 2, 3)).astype(np.int8)
    loadable = pixel_conv(
        f"T_Y8___{order}_N444",
        first + second,
        (3, 7),
        weights,
        line_stride=32,
        offset_u=96,
        line_stride_uv=64,
    )
    expected = convolution(np.stack([y, u, v]).view(np.int8), weights, (0,) * 4, (1, 1), 0)
    assert np.array_equal(sums(loadable), expected)
    beyond = changed(loadable, 0, "surface", offset_u=640)
    message = "operation 0 (CONV): 'source' ends at 0x30e by its strides, its address at 0x2a0"
    assert [str(each) for each in lint(beyond, FULL)] == [message]


def bits(values: np.ndarray) -> list[int]:
    return np.ascontiguousarray(values).view(np.uint16).ravel().tolist()


@pytest.mark.parametrize("lines", [1, 2])
def test_pixels_of_fp16(lines: int) -> None:
    """A sum has the products of one block of channels of a row, or of rows that go together."""
    rng = np.random.default_rng(11)
    columns = 17 if lines == 1 else 3
    image = (rng.normal(size=(4, 4, 18)) * 4).astype(np.float16)
    weights = rng.normal(size=(2, 4, 3, columns)).astype(np.float16)
    rows = np.ascontiguousarray(image.transpose(1, 2, 0)).reshape(4, -1)
    contents = b"".join(row.tobytes().ljust(160) for row in rows)
    loadable = pixel_conv(
        "T_A16B16G16R16_F", contents, (4, 18), weights, line_stride=160, post_extension=lines // 2
    )
    expected = np.zeros((2, 2, 19 - columns), np.uint32)
    for k, y, x in np.ndindex(expected.shape):
        total = (0, 0)
        window = image[:, y : y + 3, x : x + columns].transpose(1, 2, 0).reshape(3, -1)
        kernel = weights[k].transpose(1, 2, 0).reshape(3, -1)
        for first in range(0, columns * 4, 64):
            for row in range(0, 3, lines):
                part = slice(row, row + lines), slice(first, first + 64)
                total = by_hand.accumulate(
                    total, by_hand.sum_of_products(bits(kernel[part]), bits(window[part]))
                )
        expected[k, y, x] = by_hand.fp32(total)
    assert np.array_equal(sums(loadable).view(np.uint32), expected)


def test_integers_become_fp16() -> None:
    image = np.array([[[0, 1, 4096, 65535]]], np.uint16)
    weights = np.ones((1, 1, 1, 1), np.float16)
    loadable = pixel_conv(
        "T_R16",
        image.tobytes().ljust(32),
        (1, 4),
        weights,
        line_stride=32,
        output_precision=FP16,
        input_converter=Converter(1, 0, 1, offset=2),
    )
    assert sums(loadable).ravel().tolist() == [-2, -1, 4094, 65504]
    refused = changed(loadable, 0, "descriptor", input_converter=Converter())
    with pytest.raises(CompileError, match="another precision of pixels without a converter"):
        run(refused, FULL, [])


def test_an_input_of_pixels() -> None:
    rng = np.random.default_rng(12)
    image = rng.integers(-128, 128, (4, 3, 5)).astype(np.int8)
    name, weights = "T_R8G8B8A8", rng.integers(-1, 2, (2, 4, 1, 1)).astype(np.int8)
    loadable = pixel_conv(name, bytes(96), (3, 5), weights, line_stride=32)
    loadable = as_input(loadable, NUMBERS[name], (4, 3, 5), 32)
    (found,) = run(loadable, FULL, [image])
    expected = np.clip(convolution(image, weights, (0,) * 4, (1, 1), 0), -128, 127)
    assert np.array_equal(found, expected)
    with pytest.raises(CompileError, match=r"input 'pixels' is uint8 .* must be int8"):
        run(loadable, FULL, [image.view(np.uint8)])
    other = as_input(loadable, 28, (4, 3, 5), 32)
    with pytest.raises(CompileError, match="has pixels T_Y8___U8V8_N444, must be of one plane"):
        run(other, FULL, [image])


def as_input(loadable: Loadable, number: int, shape: tuple[int, ...], line: int) -> Loadable:
    """Return a loadable whose source is an input of some pixels."""
    memory = replace(loadable.memory_list[TABLES], flags=5, contents=(), offsets=())
    memory = replace(memory, bind_id=0, tensor_desc_id=9)
    channels, height, width = shape
    tensor = replace(
        loadable.tensor_desc_list[0],
        name="pixels",
        id=9,
        mem_id=TABLES,
        size=memory.size,
        pixel_format=number,
        c=channels,
        h=height,
        w=width,
        stride_1=line,
    )
    memories = (*loadable.memory_list[:TABLES], memory, *loadable.memory_list[TABLES + 1 :])
    tensors = (loadable.tensor_desc_list[0], tensor)
    return replace(loadable, memory_list=memories, tensor_desc_list=tensors)


FAULTS = [
    ({"channels_csc": 3}, "has 3 channels, pixels T_A8B8G8R8 have 4"),
    ({"input_precision": 1}, "has precision 1, pixels T_A8B8G8R8 have 0"),
    ({"kernel_width": 2}, "has kernels with 2 columns of 8 channels, must be 1 of a multiple of 4"),
    ({"post_extension": 4}, "has 16 rows of 8 channels at once, which need more than 64 MACs"),
    ({"post_extension": 2, "stride_x": 20}, "has 4 rows of 8 channels at once, which need"),
    ({"width_cmac": 3}, "has output 3x1, its window and strides give 4x1"),
    ({"entries_per_slice": 2}, "has 2 entries per row in CBUF, must be 1"),
    ({"data_format": 40}, "has data of format 40, must be 0 to 36"),
]


@pytest.mark.parametrize(("values", "message"), FAULTS)
def test_faults_of_pixels(values: dict[str, int], message: str) -> None:
    loadable = pixel_conv(
        "T_A8B8G8R8", bytes(32), (1, 5), np.zeros((2, 4, 1, 2), np.int8), line_stride=32
    )
    assert lint(loadable, FULL) == ()
    found = [str(each) for each in lint(changed(loadable, 0, "descriptor", **values), FULL)]
    assert any(each.startswith(f"operation 0 (CONV): {message}") for each in found)
