"""Operators of ONNX Runtime that move or choose elements, and images with channels last."""

from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
import trivium
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from trivium.dialects.core.errors import CompileError
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft_nodes import (
    RANDOM,
    Array,
    bytes_of,
    check,
    check_integers,
    floats,
    refused,
    run_both,
    scale,
)

ZERO = np.array(120, np.uint8)


def exact(op: str, inputs: list[Array | None], *args: Any, **attributes: Any) -> None:
    for got, wanted in run_both(op, inputs, *args, **attributes):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(got, wanted)


def number(value: int, kind: str = "int64") -> Array:
    return np.array(value, kind)


@settings(max_examples=12)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(-5, 5), st.booleans())
def test_trilu(rows: int, columns: int, k: int, upper: bool) -> None:
    exact("Trilu", [floats(2, rows, columns), number(k)], upper=int(upper))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("shape", [(4,), (1, 4)])
def test_pad(mode: str, shape: tuple[int, ...]) -> None:
    pads = np.array([1, 0, 2, 3], np.int64).reshape(shape)
    value = [np.array(2.5, np.float32)] if mode == "constant" else []
    exact("Pad", [floats(3, 5), pads, *value], constants={"i1": pads}, mode=mode)


@settings(max_examples=8)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_unique(numbers: list[int]) -> None:
    x = np.array(numbers, np.float32)
    for got, wanted in run_both("Unique", [x], 3, inner=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_expand_dims(axis: int) -> None:
    at = number(axis, "int32")
    exact("ExpandDims", [floats(3, 5), at], constants={"i1": at})


@pytest.mark.parametrize("kind", ["float32", "int64", "int32"])
@pytest.mark.parametrize("delta", [None, 3])
def test_range(kind: str, delta: int | None) -> None:
    numbers = [number(2, kind), number(12, kind), *([number(delta, kind)] if delta else [])]
    given = {f"i{i}": each for i, each in enumerate(numbers)}
    exact("Range", numbers, constants=given)
    exact("Range", numbers)


def test_gather_nd() -> None:
    places = np.array([[0, 2], [1, 0]], np.int64)
    exact("GatherND", [floats(2, 3, 4), places])


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode: str, padding: str) -> None:
    grid = RANDOM.uniform(-1.2, 1.2, (2, 3, 4, 2)).astype(np.float32)
    check("GridSample", [floats(2, 3, 5, 6), grid], mode=mode, padding_mode=padding)


def test_transpose_matmul() -> None:
    check("TransposeMatMul", [floats(2, 5, 3), floats(2, 4, 5)], transA=1, transB=1, alpha=0.5)


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16"])
def test_quantize_and_dequantize(kind: str, each: bool) -> None:
    sizes = (3,) if each else ()
    attributes = {"axis": 1} if each else {}
    factor, zero = scale(*sizes), bytes_of("uint8", *sizes).astype(kind)
    exact("QuantizeLinear", [floats(2, 3, 4), factor, zero], **attributes)
    check("DequantizeLinear", [bytes_of(kind, 2, 3, 4), factor, zero], **attributes)


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


@settings(max_examples=8)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 5), st.integers(2, 5))
def test_crop_and_resize(height: int, width: int, rows: int, columns: int) -> None:
    rois = RANDOM.uniform(-0.2, 1.2, (3, 4)).astype(np.float32)
    images, sizes = np.array([1, 0, 1], np.int32), np.array([rows, columns], np.int32)
    inputs: list[Array | None] = [floats(2, 3, height, width), rois, images, sizes]
    check("CropAndResize", inputs, constants={"i3": sizes}, extrapolation_value=7.0)


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


@settings(max_examples=8)
@given(st.sampled_from([0, 1, -1]), st.integers(1, 4), st.integers(1, 3))
def test_unfold(dim: int, size: int, step: int) -> None:
    exact("UnfoldTensor", [floats(5, 6)], dim=dim, size=size, step=step)


def test_windows_longer_than_the_axis_are_refused() -> None:
    with pytest.raises(CompileError, match="has windows of 7 in steps of 1 of 6 elements"):
        compiled("UnfoldTensor", [floats(5, 6)], size=7)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_distances(metric: str, kind: str) -> None:
    check("CDist", [floats(3, 7).astype(kind), floats(5, 7).astype(kind)], metric=metric)


def test_products_of_16_bits() -> None:
    exact("MatMulInteger16", [bytes_of("int16", 3, 2), bytes_of("int16", 2, 4)])


@pytest.mark.parametrize("kind", ["int32", "uint32", "float32", "int64", "uint64", "float64"])
@pytest.mark.parametrize(("positive", "seed"), [(1, 0), (0, 7)])
def test_hash(kind: str, positive: int, seed: int) -> None:
    x = (floats(3, 5) * 1000).astype(kind)
    exact("MurmurHash3", [x], positive=positive, seed=seed)


def test_hashes_of_other_types_are_refused() -> None:
    with pytest.raises(CompileError, match="hashes elements of type f16, must be one of i32"):
        compiled("MurmurHash3", [floats(3).astype(np.float16)])


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


def compiled(op: str, inputs: list[Array], outputs: int = 1, **attributes: Any) -> list[Array]:
    """Compile and run one node by Trivium alone."""
    names = [f"i{i}" for i in range(len(inputs))]
    results = [f"o{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, domain="com.microsoft", **attributes)
    ports = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in zip(names, inputs, strict=True)
    ]
    made = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([node], "g", ports, made)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return list(trivium.compile(model).run(dict(zip(names, inputs, strict=True))).values())


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


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_choice_of_integers(kind: str) -> None:
    zero = np.array(3, kind)
    condition = RANDOM.integers(0, 2, (3, 40)).astype(bool)
    sides = [bytes_of(kind, 3, 40), scale(), zero, bytes_of(kind, 40), scale(), zero]
    check_integers("QLinearWhere", [condition, *sides, np.array(0.04, np.float32), zero])


@pytest.mark.parametrize(("axes", "keepdims"), [([1, -1], 1), ([0], 0), (None, 1)])
def test_mean_of_integers(axes: list[int] | None, keepdims: int) -> None:
    """ONNX Runtime has no such kernel on CPUs: the definition is."""
    x, factor = bytes_of("uint8", 3, 4, 5), scale()
    ends = [np.array(0.02, np.float32), np.array(9, np.uint8)]
    given = {"keepdims": keepdims} | ({"axes": axes} if axes else {})
    (got,) = compiled("QLinearReduceMean", [x, factor, ZERO, *ends], **given)
    over = tuple(axes) if axes else (0, 1, 2)
    mean = ((x.astype(int) - 120) * float(factor)).mean(axis=over, keepdims=bool(keepdims))
    wanted = np.clip(np.rint(mean / 0.02) + 9, 0, 255)
    assert got.shape == wanted.shape
    assert np.abs(got - wanted).max() <= 1
    assert got.dtype == np.uint8


def test_softmax_of_a_sum() -> None:
    """ONNX Runtime has no such kernel on CPUs: it computes the sum and the softmax apart."""
    x, bias = floats(2, 3, 4, 5), floats(2, 1, 1, 5)
    ((_, wanted),) = run_both("Softmax", [(x + bias).reshape(2, 3, 20)], domain="", axis=2)
    (got,) = compiled("BiasSoftmax", [x, bias], axis=2, is_inner_broadcast=1)
    np.testing.assert_allclose(got, wanted.reshape(x.shape), rtol=1e-5, atol=1e-6)


def test_dropout_of_a_sum_keeps_all_elements_where_nothing_is_trained() -> None:
    x, bias, rest = floats(2, 3), floats(3), floats(2, 3)
    y, mask = compiled("BiasDropout", [x, bias, rest], 2)
    np.testing.assert_allclose(y, x + bias + rest, rtol=1e-6)
    assert mask.dtype == bool
    assert mask.all()


def test_gelu_of_a_product() -> None:
    """ONNX Runtime has no such kernel on CPUs, but one of the Gelu of a sum."""
    x, w, bias = floats(3, 5), floats(5, 4), floats(4)
    ((_, wanted),) = run_both("FastGelu", [x @ w, bias])
    (got,) = compiled("GemmFastGelu", [x, w, bias])
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_onnx_runtime_takes_no_part_in_what_it_lacks() -> None:
    for op in ("NhwcConv", "QLinearReduceMean", "BiasSoftmax", "GemmFastGelu"):
        kernels = onnxruntime.capi.onnxruntime_pybind11_state.get_all_opkernel_def()
        assert not any(k.op_name == op and k.provider.startswith("CPU") for k in kernels)


@pytest.mark.parametrize(("kind", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
def test_inverses_of_matrices(kind: str, tolerance: float) -> None:
    x = RANDOM.normal(size=(2, 5, 4, 4)).astype(kind)
    ((got, wanted),) = run_both("Inverse", [x])
    assert got.dtype == wanted.dtype == kind
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("shape", [(8,), (2, 3, 6)])
def test_spectra_of_real_signals(shape: tuple[int, ...]) -> None:
    """ONNX Runtime has such kernels on GPUs alone."""
    x = floats(*shape)
    spectrum = np.fft.rfft(x)
    parts = np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)
    (got,) = compiled("Rfft", [x], signal_ndim=1, normalized=0, onesided=1)
    np.testing.assert_allclose(got, parts, rtol=1e-4, atol=1e-5)
    (back,) = compiled("Irfft", [parts], signal_ndim=1, normalized=0, onesided=1)
    np.testing.assert_allclose(back, x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["Rfft", "Irfft"])
@pytest.mark.parametrize("given", [("signal_ndim", 2), ("normalized", 1), ("onesided", 0)])
def test_other_transforms_are_refused(op: str, given: tuple[str, int]) -> None:
    name, value = given
    attributes = {"signal_ndim": 1} | {name: value}
    refused(f"node has {name} {value}, must be ", op, [floats(3, 2)], **attributes)


def test_what_has_no_axis_of_a_signal_is_refused() -> None:
    refused("node has signal tensor<f32>, must have an axis", "Rfft", [floats()], signal_ndim=1)
    message = "node has spectrum tensor<2xf32>, must have an axis of numbers and one of parts"
    refused(message, "Irfft", [floats(2)], signal_ndim=1)
