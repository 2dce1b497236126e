"""Operators of ONNX Runtime on images: crops, convolutions and pools, and channels last."""

from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft.microsoft_nodes import (
    RANDOM,
    Array,
    agree,
    bytes_of,
    check,
    check_integers,
    compiled,
    exact,
    floats,
    run_both,
    scale,
)

ZERO = np.array(120, np.uint8)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode: str, padding: str) -> None:
    grid = RANDOM.uniform(-1.2, 1.2, (2, 3, 4, 2)).astype(np.float32)
    check("GridSample", [floats(2, 3, 5, 6), grid], mode=mode, padding_mode=padding)


@pytest.mark.parametrize("group", [1, 2])
def test_transposed_convolution_with_pads_as_an_input(group: int) -> None:
    pads = np.array([1, 0, 1, 1], np.int64)
    inputs: list[Array | None] = [floats(1, 4, 5, 6), floats(4, 3, 3, 3), pads, floats(3 * group)]
    given = {"strides": [2, 1], "group": group}
    check("ConvTransposeWithDynamicPads", inputs, constants={"i2": pads}, **given)


def test_pads_that_a_run_gives_are_refused() -> None:
    pads = np.array([1, 0, 1, 1], np.int64)
    with pytest.raises(CompileError, match=r"needs the value of input 'pads' \('i2'\)"):
        run_both("ConvTransposeWithDynamicPads", [floats(1, 4, 5, 6), floats(4, 3, 3, 3), pads])


def crops(height: int, width: int, rows: int, columns: int) -> list[Array]:
    rois = RANDOM.uniform(-0.2, 1.2, (3, 4)).astype(np.float32)
    images, sizes = np.array([1, 0, 1], np.int32), np.array([rows, columns], np.int32)
    return [floats(2, 3, height, width), rois, images, sizes]


@settings(max_examples=8)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 5), st.integers(2, 5))
def test_crop_and_resize(height: int, width: int, rows: int, columns: int) -> None:
    agree("CropAndResize", crops(height, width, rows, columns), extrapolation_value=7.0)


def test_crop_and_resize_as_native_code() -> None:
    inputs = crops(4, 5, 3, 2)
    check("CropAndResize", inputs, constants={"i3": inputs[3]}, extrapolation_value=7.0)


def test_crops_of_images_of_any_size_are_refused() -> None:
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["com.microsoft" : 1]>
    g (float[1, 1, H, W] x, float[2, 4] r, int32[2] i) => (float[2, 1, 2, 2] y)
    <int32[2] s = {2, 2}> { y = com.microsoft.CropAndResize (x, r, i, s) }""")
    with pytest.raises(CompileError, match="must have a known height and width"):
        trivium.compile(model)


def test_crops_of_the_nearest_pixels_are_refused() -> None:
    sizes = np.array([2, 2], np.int32)
    inputs: list[Array | None] = [floats(1, 1, 3, 3), floats(1, 4), np.zeros(1, np.int32), sizes]
    with pytest.raises(CompileError, match="has mode 'nearest', must be bilinear"):
        run_both("CropAndResize", inputs, constants={"i3": sizes}, mode="nearest")


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("each", [False, True])
def test_convolution_of_integers(last: int, group: int, each: bool) -> None:
    image = bytes_of("uint8", 2, 7, 6, 4) if last else bytes_of("uint8", 2, 4, 7, 6)
    channels = (6,) if each else ()
    w, factors = bytes_of("int8", 6, 4 // group, 3, 2), scale(*channels)
    ends = [np.array(2.0, np.float32), np.array(90, np.uint8)]
    bias = RANDOM.integers(-999, 999, 6).astype(np.int32)
    inputs = [image, scale(), ZERO, w, factors, np.zeros(channels, np.int8), *ends, bias]
    given = {"group": group, "strides": [2, 1], "pads": [1, 0, 1, 1]}
    check_integers("QLinearConv", inputs, channels_last=last, **given)


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("counts", [0, 1])
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_average_pool_of_integers(last: int, counts: int, kind: str) -> None:
    x = bytes_of(kind, 2, 7, 6, 3) if last else bytes_of(kind, 2, 3, 7, 6)
    ends = [np.array(0.03, np.float32), np.array(9, kind)]
    given = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    inputs = [x, scale(), np.array(11, kind), *ends]
    check_integers(
        "QLinearAveragePool", inputs, channels_last=last, count_include_pad=counts, **given
    )


def test_max_pool_with_channels_last() -> None:
    given = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "dilations": [1, 2]}
    exact("NhwcMaxPool", [bytes_of("uint8", 2, 7, 6, 3)], **given)


def test_a_vector_has_no_channels_behind_pixels() -> None:
    with pytest.raises(CompileError, match="must be an image of rank 3 and more"):
        compiled("NhwcMaxPool", [floats(2, 3)], kernel_shape=[1])


@pytest.mark.parametrize("op", ["NhwcConv", "NhwcFusedConv"])
def test_convolution_with_channels_last(op: str) -> None:
    """ONNX Runtime has no such kernel on CPUs: it convolves the transposed image."""
    x, w, b = floats(1, 7, 6, 4), floats(6, 2, 3, 3), floats(6)
    given: dict[str, Any] = {"group": 2, "pads": [1, 1, 1, 1], "strides": [2, 1]}
    fused = op == "NhwcFusedConv"
    image = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    ((_, wanted),) = run_both("FusedConv", [image, w, b], **given, activation="Relu")
    ((_, plain),) = run_both("FusedConv", [image, w, b], **given)
    more = {"activation": "Relu"} if fused else {}
    (got,) = compiled(op, [x, w, b], **given, **more)
    expected = (wanted if fused else plain).transpose(0, 2, 3, 1)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_what_is_added_has_channels_last_too() -> None:
    x, w, b = floats(1, 5, 6, 4), floats(6, 4, 1, 1), floats(6)
    z = floats(1, 5, 6, 6)
    (got,) = compiled("NhwcFusedConv", [x, w, b, z])
    np.testing.assert_allclose(got, x @ w[:, :, 0, 0].T + b + z, rtol=1e-4, atol=1e-5)
