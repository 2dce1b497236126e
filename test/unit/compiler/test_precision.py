"""Models in half precision: their types stay, their numbers are as good as the type allows."""

import math
from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.targets.options import CompileOptions

DEPTH, HIDDEN, CHANNELS = 64, 48, 8
EPSILON = {"fp16": 2.0**-11, "bf16": 2.0**-8}
"""By how much a number may change when it is rounded to a type, relative to itself."""

Arrays = dict[str, np.ndarray[Any, Any]]


def network(body: str, inputs: str, outputs: str, weights: Arrays) -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> net ({inputs}) => ({outputs}) {{ {body} }}'
    )
    for name, array in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def drawn(*shapes: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


V, W, BIAS, X = drawn((DEPTH, HIDDEN), (HIDDEN, 10), (HIDDEN,), (5, DEPTH))
LAYERS = network(
    "a = MatMul (x, v) b = Add (a, bias) c = Relu (b) y = MatMul (c, w)",
    f"float[5, {DEPTH}] x",
    "float[5, 10] y",
    {"v": V, "w": W, "bias": BIAS},
)


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_layers(precision: str) -> None:
    session = trivium.compile(LAYERS, precision=precision)
    assert [port.dtype for port in (*session.inputs, *session.outputs)] == ["float32"] * 2
    got = session(X)
    x, v, w, bias = (a.astype(np.float64) for a in (X, V, W, BIAS))
    hidden = np.maximum(x @ v + bias, 0)
    # Each factor and each result is rounded once; products of the factors' sizes bound the sums.
    epsilon = EPSILON[precision]
    inner = 4 * epsilon * (abs(x) @ abs(v) + abs(bias))
    bound = 2 * (inner @ abs(w)) + 4 * epsilon * (hidden @ abs(w))
    error = abs(got - hidden @ w)
    assert (error <= bound).all()
    assert error.max() > 1e-5  # or it was computed in f32


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_weights_take_half_of_the_bytes(precision: str) -> None:
    full, half = build(LAYERS, target="host"), build(LAYERS, target="host", precision=precision)
    assert full.manifest.memory.weight_bytes == 4 * (DEPTH * HIDDEN + HIDDEN * 10 + HIDDEN)
    assert half.manifest.memory.weight_bytes == 2 * (DEPTH * HIDDEN + HIDDEN * 10) + 128


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_images(precision: str) -> None:
    w, x = drawn((CHANNELS, 3, 3, 3), (1, 3, 12, 12))
    model = network(
        "a = Conv <pads = [1, 1, 1, 1]> (x, w) b = Sigmoid (a) y = GlobalAveragePool (b)",
        "float[1, 3, 12, 12] x",
        f"float[1, {CHANNELS}, 1, 1] y",
        {"w": w},
    )
    got = trivium.compile(model, precision=precision)(x)
    padded = np.pad(x[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    a = np.einsum("cyxij,ocij->oyx", windows, w.astype(np.float64))
    size = np.einsum("cyxij,ocij->oyx", abs(windows), abs(w))
    want = (1 / (1 + np.exp(-a))).mean((1, 2))
    # The slope of a sigmoid is 1/4 at most.
    bound = EPSILON[precision] * (size.mean((1, 2)) + 4)
    assert isinstance(got, np.ndarray)
    assert (abs(got.reshape(-1) - want) <= bound).all()


MASKS = {
    "selects": "m = Where (drop, low, s)",
    "adds": "d = Cast <to = 1> (drop) l = Mul (d, low) m = Add (s, l)",
}


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("low", [-1e9, float(np.finfo(np.float32).min)])
@pytest.mark.parametrize("body", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_the_lowest_numbers_of_masks(precision: str, body: str, low: float, level: int) -> None:
    """A query whose keys all have one number mixes all values: that number must not be -inf."""
    q, k, v = drawn((1, 4, 8), (1, 8, 6), (1, 6, 5))
    model = network(
        f"s = MatMul (q, k) {body} w = Softmax <axis = -1> (m) y = MatMul (w, v)",
        "float[1, 4, 8] q, float[1, 8, 6] k, float[1, 6, 5] v, bool[4, 6] drop",
        "float[1, 4, 5] y",
        {"low": np.float32(low)},
    )
    drop = np.zeros((4, 6), bool)
    drop[1], drop[2, 3] = True, True
    got = trivium.compile(model, precision=precision, opt_level=level)(q, k, v, drop)
    scores = np.where(drop, -1e9, q.astype(np.float64) @ k)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    want = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(got, want, atol=64 * EPSILON[precision])
    np.testing.assert_allclose(got[0, 1], v[0].mean(0), atol=2 * EPSILON[precision])


def dtypes(model: onnx.ModelProto, precision: str) -> set[str]:
    with new_context():
        module = import_onnx(model)
        pipeline_for("cpu", 2, CompileOptions(precision=precision)).run(module)
        groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        inside = [op for group in groups for op in ops(group.block)]
        return {tensor_of(v.type).dtype for op in inside for v in op.results}


def test_integers_stay_what_they_are() -> None:
    model = network("a = Mul (x, x) y = Add (a, x)", "int32[4] x", "int32[4] y", {})
    assert dtypes(model, "bf16") == {"i32"}


def test_inputs_are_cast_inside_of_kernels() -> None:
    with new_context():
        module = import_onnx(network("a = Exp (x) y = Mul (a, x)", "float[4] x", "float[4] y", {}))
        pipeline_for("cpu", 2, CompileOptions(precision="fp16")).run(module)
        groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        assert len(groups) == 1


def test_a_model_that_is_in_half_precision_already() -> None:
    body = "a = Cast <to = 1> (x) b = Exp (a) y = Cast <to = 10> (b)"
    model = network(body, "float16[4] x", "float16[4] y", {})
    assert dtypes(model, "fp16") == {"f16"}


def test_the_package_says_what_it_was_compiled_with(tmp_path: Any) -> None:
    first = build(LAYERS, precision="fp16")
    assert first.manifest.math.precision == "fp16"
    first.save(tmp_path / "first.trv")
    again = build(tmp_path / "first.trv")
    assert again.manifest.math == first.manifest.math
    assert math.isclose(again.manifest.memory.weight_bytes, first.manifest.memory.weight_bytes)


@pytest.mark.parametrize(
    ("choices", "fault"),
    [
        ({"precision": "f16"}, "precision is 'f16', must be one of f32, tf32, fp16, bf16"),
        ({"precision": "tf32"}, "precision is 'tf32', which 'cpu' does not compute in"),
        ({"precision": "tf32", "target": "host"}, "'tf32', which 'host' does not compute in"),
        ({"keep_f32": "norm"}, "keep_f32 names nodes, but precision is 'f32'"),
        ({"precision": "fp16", "keep_f32": "nor*"}, "keep_f32 has 'nor\\*', which is no node"),
    ],
)
def test_what_is_refused(choices: dict[str, str], fault: str) -> None:
    with pytest.raises(CompileError, match=fault):
        trivium.compile(LAYERS, **choices)  # pyright: ignore[reportArgumentType]


def test_nodes_that_are_named_stay_in_full() -> None:
    body = "[first] a = MatMul (x, v) [norm_1] b = MatMul (a, w) [norm_2] y = Mul (b, b)"
    model = network(body, f"float[5, {DEPTH}] x", "float[5, 10] y", {"v": V, "w": W})

    def error(**options: str) -> float:
        made = trivium.compile(model, **options).run({"x": X})["y"]  # pyright: ignore[reportArgumentType]
        expected = (X.astype(np.float64) @ V @ W) ** 2
        return float(np.abs(made - expected).max() / expected.max())

    assert error(precision="fp16", keep_f32="*") < 1e-6
    assert 1e-6 < error(precision="fp16", keep_f32="norm*") < error(precision="fp16")
