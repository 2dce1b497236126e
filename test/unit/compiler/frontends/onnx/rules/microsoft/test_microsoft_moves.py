"""Operators of ONNX Runtime that move, choose, hash or transform elements."""

import numpy as np
import onnxruntime
import pytest
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
    refused,
    run_both,
    scale,
)

ZERO = np.array(120, np.uint8)


def number(value: int, kind: str = "int64") -> Array:
    return np.array(value, kind)


@settings(max_examples=12)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(-5, 5), st.booleans())
def test_trilu(rows: int, columns: int, k: int, upper: bool) -> None:
    agree("Trilu", [floats(2, rows, columns), number(k)], upper=int(upper))


@pytest.mark.parametrize("upper", [0, 1])
def test_trilu_as_native_code(upper: int) -> None:
    exact("Trilu", [floats(2, 3, 5), number(-1)], upper=upper)


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


@settings(max_examples=8)
@given(st.sampled_from([0, 1, -1]), st.integers(1, 4), st.integers(1, 3))
def test_unfold(dim: int, size: int, step: int) -> None:
    agree("UnfoldTensor", [floats(5, 6)], dim=dim, size=size, step=step)


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
