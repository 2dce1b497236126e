"""Weights of few bits: rounded as ONNX Runtime does, or by data, and written for it."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import helper, numpy_helper
from onnxruntime.capi import _pybind_state
from trivium.compiler.quantize import WeightReport
from trivium.dialects.core.numerics.packed_bits import unpack_bits
from trivium.passes.quantize.block_rounding import BlockForm, round_to_nearest
from trivium.passes.quantize.gptq import DAMPING, round_by_hessian

RANDOM = np.random.default_rng(4)
FORMS = [BlockForm(bits, 32, symmetric) for bits in (4, 8) for symmetric in (False, True)]


def spelled(form: BlockForm) -> str:
    return f"int{form.bits}{' symmetric' * form.symmetric}"


@pytest.mark.parametrize("form", FORMS, ids=spelled)
@pytest.mark.parametrize("depth", [96, 200])
def test_the_nearest_integers_are_those_of_onnxruntime(form: BlockForm, depth: int) -> None:
    rows, blocks = 24, -(-depth // form.block)
    matrix = RANDOM.standard_normal((rows, depth)).astype(np.float32)
    numbers = np.zeros((rows, blocks, form.block * form.bits // 8), np.uint8)
    scales = np.zeros(rows * blocks, np.float32)
    zeros = np.zeros((rows, -(-blocks * form.bits // 8)), np.uint8)
    quantize = getattr(_pybind_state, f"quantize_matmul_{form.bits}bits")
    columns = np.ascontiguousarray(matrix.T)
    quantize(numbers, columns, scales, zeros.reshape(-1), 32, rows, depth, form.symmetric)
    made = round_to_nearest(matrix, form)
    np.testing.assert_array_equal(made.scales.reshape(-1), scales)
    wanted = unpack_bits(numbers, form.bits).reshape(rows, -1)
    np.testing.assert_array_equal(made.numbers.reshape(rows, -1)[:, :depth], wanted[:, :depth])
    if not form.symmetric:
        np.testing.assert_array_equal(made.zeros, unpack_bits(zeros, form.bits)[:, :blocks])


@pytest.mark.parametrize("form", FORMS, ids=spelled)
def test_integers_are_for_scales_as_they_are_stored(form: BlockForm) -> None:
    matrix = RANDOM.standard_normal((24, 96)).astype(np.float32)
    made = round_to_nearest(matrix, form, np.float16)
    np.testing.assert_array_equal(made.scales, made.scales.astype(np.float16))
    steps = np.abs(made.dequantized(96) - matrix).reshape(24, 3, 32) / np.abs(
        made.scales[..., None]
    )
    inside = (made.numbers > 0) & (made.numbers < form.highest)
    assert steps[inside].max() <= 0.5 + 1e-4


def correlated(samples: int, depth: int) -> Any:
    """Draw inputs most of which are sums of a few numbers."""
    mixed = RANDOM.standard_normal((depth, depth)) * np.exp(-np.arange(depth) / 10)[:, None]
    return (RANDOM.standard_normal((samples, depth)) @ mixed).astype(np.float32)


def rounded_step_by_step(matrix: Any, hessian: Any, form: BlockForm) -> Any:
    """Round as "Optimal Brain Quantization" does, in order: the inverse loses a row at a time."""
    rest, made = matrix.astype(np.float64), np.zeros_like(matrix, np.float64)
    damping = DAMPING * np.diag(hessian).mean()
    inverse = np.linalg.inv(hessian + damping * np.eye(len(hessian)))
    for i in range(matrix.shape[1]):
        if i % form.block == 0:
            scales, zeros = form.scales_of(rest[:, i : i + form.block])
        number = np.clip(np.rint(rest[:, i] / scales + zeros), 0, form.highest)
        made[:, i] = (number - zeros) * scales
        error = (rest[:, i] - made[:, i]) / inverse[i, i]
        rest -= np.outer(error, inverse[i])
        inverse -= np.outer(inverse[:, i], inverse[i]) / inverse[i, i]
    return made


@pytest.mark.parametrize("form", FORMS, ids=spelled)
def test_errors_are_made_up_for(form: BlockForm) -> None:
    matrix = RANDOM.standard_normal((16, 200)).astype(np.float32)
    x = correlated(400, 200)
    hessian = x.T.astype(np.float64) @ x
    made = round_by_hessian(matrix, hessian, form)
    got = made.dequantized(200)
    wanted = rounded_step_by_step(matrix, hessian, form)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)
    nearest = round_to_nearest(matrix, form).dequantized(200)
    errors = [np.linalg.norm(x @ (each - matrix).T) for each in (got, nearest)]
    assert errors[0] < 0.5 * errors[1]
    filled = (made.numbers[:, -1, 8:] - made.zeros[:, -1:]).any()
    assert not filled


def test_inputs_that_are_always_zero_keep_their_weights() -> None:
    matrix, form = RANDOM.standard_normal((4, 32)).astype(np.float32), BlockForm(8, 32)
    x = correlated(50, 32)
    x[:, 5] = 0
    got = round_by_hessian(matrix, x.T @ x, form).dequantized(32)
    assert np.abs(got[:, 5] - matrix[:, 5]).max() < np.ptp(matrix) / 255


# -- models ---------------------------------------------------------------------------------------


def network(batch: int | str = "batch") -> onnx.ModelProto:
    """Make two large products, one with a bias, around a relu, and a small one."""
    weights = {
        "first": RANDOM.standard_normal((96, 64)) / 8,
        "bias": RANDOM.standard_normal(64),
        "second": RANDOM.standard_normal((64, 80)) / 8,
        "small": RANDOM.standard_normal((80, 4)) / 8,
    }
    nodes = [
        helper.make_node("Gemm", ["x", "first", "bias"], ["h"], "one"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "second"], ["m"], "two"),
        helper.make_node("MatMul", ["m", "small"], ["y"], "three"),
    ]
    sizes = (("x", 96), ("y", 4))
    ports = [helper.make_tensor_value_info(name, 1, [batch, size]) for name, size in sizes]
    arrays = [numpy_helper.from_array(a.astype(np.float32), n) for n, a in weights.items()]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def results(path: Path | onnx.ModelProto, x: Any) -> Any:
    given = path.SerializeToString() if isinstance(path, onnx.ModelProto) else str(path)
    return onnxruntime.InferenceSession(given).run(None, {"x": x})[0]


def test_weights_are_quantised_without_data(tmp_path: Path) -> None:
    model, x = network(), RANDOM.standard_normal((5, 96)).astype(np.float32)
    errors = {}
    for weights in ("int4", "int8"):
        path = tmp_path / f"{weights}.onnx"
        assert trivium.quantize_weights(model, output=path, weights=weights) == 2
        nodes = [node.op_type for node in onnx.load(path).graph.node]
        assert nodes == ["MatMulNBits", "Add", "Relu", "MatMulNBits", "MatMul"]
        exact, got = results(model, x), results(path, x)
        errors[weights] = np.linalg.norm(got - exact) / np.linalg.norm(exact)
    assert 10 * errors["int8"] < errors["int4"] < 0.2


def matrix_of(path: Path) -> Any:
    """Return what the first product of a file is with, 4 bits in blocks of 16: [64, 96]."""
    model = onnx.load(path)
    held = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    packed, scales, zeros = (held[name] for name in model.graph.node[0].input[1:4])
    centered = unpack_bits(packed, 4) - unpack_bits(zeros, 4)[:, :6, None].astype(np.float32)
    return (centered * scales[..., None]).reshape(64, 96)


def test_a_report_has_what_results_lose(tmp_path: Path) -> None:
    """The error of a product on exact inputs follows from sums; here all inputs are known."""
    model, reports, x = network(8), list[WeightReport](), correlated(64, 96)
    made_up, nearest = tmp_path / "gptq.onnx", tmp_path / "rtn.onnx"
    given = {"method": "gptq", "report": reports.append}
    trivium.quantize_weights(model, {"x": x}, made_up, block=16, **given)
    trivium.quantize_weights(model, output=nearest, block=16, report=reports.append)
    by_data, without = reports

    exact = np.concatenate([results(model, part) for part in np.split(x, 8)])
    noises = {
        path: exact - np.concatenate([results(path, part) for part in np.split(x, 8)])
        for path in (made_up, nearest)
    }
    assert np.linalg.norm(noises[made_up]) < 0.7 * np.linalg.norm(noises[nearest])
    sqnr = 10 * np.log10(np.sum(exact**2) / np.sum(noises[made_up] ** 2))
    assert by_data.outputs["y"].sqnr == pytest.approx(sqnr, abs=0.1)
    assert by_data.batches == 8
    assert without.outputs == {}
    sizes = {"one": (64, 96), "two": (80, 64)}
    matrix = numpy_helper.to_array(model.graph.initializer[0]).T
    for report, path in ((by_data, made_up), (without, nearest)):
        assert {each.node: (each.columns, each.depth) for each in report.products} == sizes
        first = next(each for each in report.products if each.node == "one")
        noise = matrix - matrix_of(path)
        sqnr = 10 * np.log10(np.sum(matrix**2) / np.sum(noise**2))
        assert first.matrix.sqnr == pytest.approx(sqnr, abs=0.01)
        if first.result is not None:
            sqnr = 10 * np.log10(np.sum((x @ matrix.T) ** 2) / np.sum((x @ noise.T) ** 2))
            assert first.result.sqnr == pytest.approx(sqnr, abs=0.01)
    assert [each.result is None for each in without.products] == [True, True]


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"weights": "int3"}, "weights is 'int3', must be one of int4, int8"),
    ({"block": 24}, "block is 24, must be one of 16, 32, 64, 128, 256"),
    ({"method": "kl"}, "method is 'kl', must be one of rtn, gptq"),
    ({"method": "gptq"}, "method 'gptq' needs calibration data, and there is none"),
    ({"data": {"z": np.zeros(3)}}, "calibration data lacks input 'x'"),
    (
        {"data": {"x": np.zeros((3, 4), np.float32)}},
        "calibration data of 'x' has shape 3x4, must be samples of 96",
    ),
]


@pytest.mark.parametrize(("given", "fault"), FAULTS)
def test_faults_are_one_line(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(trivium.CompileError) as caught:
        trivium.quantize_weights(network(), **given)
    assert str(caught.value) == f"error: {fault}"


def test_a_model_without_products_is_refused() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g (float[3] x) => (float[3] y) { y = Relu(x) }'
    )
    with pytest.raises(trivium.CompileError, match="no products with constants of 4096"):
        trivium.quantize_weights(model)
