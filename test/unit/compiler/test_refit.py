"""Packages compiled with refit: other weights without compiling, equal to a model that has them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from numpy.typing import NDArray
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import RunError
from trivium.runtime.observe.calls import CallTable
from trivium.runtime.package import Package
from trivium.runtime.refit.part import RefitPart
from trivium.tools.main import main

Arrays = Mapping[str, NDArray[np.float32]]
Shapes = Mapping[str, tuple[int, ...]]

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
NETS: dict[str, tuple[str, Shapes]] = {
    "linear": (
        """net (float[N, 64] x) => (float[N, 32] y)
        { a = MatMul (x, w) c = Add (a, b) r = Relu (c) y = Gemm <transB = 1> (r, v, d) }""",
        {"w": (64, 48), "b": (48,), "v": (32, 48), "d": (32,)},
    ),
    "conv and batch norm": (
        """net (float[1, 8, 14, 14] x) => (float[1, 16, 14, 14] y) {
            a = Conv <pads = [1, 1, 1, 1]> (x, w, b) n = BatchNormalization (a, s, t, mean, var)
            r = Relu (n) d = Conv <group = 16, pads = [1, 1, 1, 1]> (r, v) y = Add (n, d)
        }""",
        {"w": (16, 8, 3, 3), "b": (16,), "s": (16,), "t": (16,), "mean": (16,), "var": (16,)}
        | {"v": (16, 1, 3, 3)},
    ),
    "winograd and groups": (
        """net (float[1, 32, 28, 28] x) => (float[1, 24, 14, 14] y) {
            a = Conv <pads = [1, 1, 1, 1]> (x, w) n = BatchNormalization (a, s, t, mean, var)
            r = Relu (n) g = Conv <group = 4, pads = [1, 1, 1, 1], strides = [2, 2]> (r, u, c)
            m = BatchNormalization (g, s2, t2, mean2, var2) y = Clip (m)
        }""",
        {"w": (48, 32, 3, 3), "s": (48,), "t": (48,), "mean": (48,), "var": (48,)}
        | {"u": (24, 12, 3, 3), "c": (24,), "s2": (24,), "t2": (24,), "mean2": (24,)}
        | {"var2": (24,)},
    ),
    "norms of other ops": (
        """net (float[4, 24] x) => (float[4, 5] y) {
            n = BatchNormalization (x, s, t, mean, var) a = Gemm <transB = 1> (n, w, b)
            r = Relu (a) m = BatchNormalization (r, s2, t2, mean2, var2)
            h = Gemm (m, v) y = BatchNormalization (h, s3, t3, mean3, var3)
        }""",
        {"s": (24,), "t": (24,), "mean": (24,), "var": (24,), "w": (17, 24), "b": (17,)}
        | {"s2": (17,), "t2": (17,), "mean2": (17,), "var2": (17,), "v": (17, 5)}
        | {"s3": (5,), "t3": (5,), "mean3": (5,), "var3": (5,)},
    ),
    "transposed": (
        """net (float[1, 6, 5, 5] x) => (float[1, 8, 10, 10] y) {
            a = ConvTranspose <strides = [2, 2], kernel_shape = [2, 2]> (x, w, b)
            n = BatchNormalization (a, s, t, mean, var)
            d = ConvTranspose <group = 2, kernel_shape = [1, 1]> (n, v)
            y = BatchNormalization (d, s2, t2, mean2, var2)
        }""",
        {"w": (6, 8, 2, 2), "b": (8,), "s": (8,), "t": (8,), "mean": (8,), "var": (8,)}
        | {"v": (8, 4, 1, 1), "s2": (8,), "t2": (8,), "mean2": (8,), "var2": (8,)},
    ),
    "attention": (
        """net (float[1, 16, 64] x) => (float[1, 16, 64] y) {
            h = LayerNormalization (x, g, e)
            q = MatMul (h, wq) k = MatMul (h, wk) v = MatMul (h, wv)
            t = Transpose <perm = [0, 2, 1]> (k) m = MatMul (q, t) p = Softmax (m)
            o = MatMul (p, v) y = Add (x, o)
        }""",
        {"g": (64,), "e": (64,), "wq": (64, 64), "wk": (64, 64), "wv": (64, 64)},
    ),
    "lstm": (
        """net (float[5, 1, 16] x) => (float[5, 1, 1, 8] y)
        { y = LSTM <hidden_size = 8> (x, w, r, b) }""",
        {"w": (1, 32, 16), "r": (1, 32, 8), "b": (1, 64)},
    ),
    "gru that resets behind the product": (
        """net (float[5, 2, 16] x) => (float[5, 2, 2, 8] y) { y = GRU <hidden_size = 8,
            linear_before_reset = 1, direction = "bidirectional"> (x, w, r, b) }""",
        {"w": (2, 24, 16), "r": (2, 24, 8), "b": (2, 48)},
    ),
    "phases": (  # kernels that are no whole multiple of the strides are filled up with zeros
        """net (float[1, 6, 5, 4] x) => (float[1, 4, 11, 7] y) {
            y = ConvTranspose <strides = [2, 2], kernel_shape = [3, 3], group = 2,
                               pads = [0, 1, 0, 1]> (x, w, b)
        }""",
        {"w": (6, 2, 3, 3), "b": (4,)},
    ),
    "phases of a signal": (
        """net (float[2, 5, 9] x) => (float[2, 3, 27] y)
        { y = ConvTranspose <strides = [3], kernel_shape = [5], pads = [1, 1]> (x, w, b) }""",
        {"w": (5, 3, 5), "b": (3,)},
    ),
    "phases of blocks": (
        """net (float[1, 32, 9, 9] x) => (float[1, 32, 18, 18] y) {
            a = Conv <pads = [1, 1, 1, 1]> (x, v) r = Relu (a)
            c = ConvTranspose <strides = [2, 2], kernel_shape = [4, 4],
                               pads = [1, 1, 1, 1]> (r, w, b)
            y = Relu (c)
        }""",
        {"v": (32, 32, 3, 3), "w": (32, 32, 4, 4), "b": (32,)},
    ),
    "tied": (
        """net (float[N, 32] x) => (float[N, 32] y)
        { a = MatMul (x, w) t = Transpose <perm = [1, 0]> (w) y = MatMul (a, t) }""",
        {"w": (32, 32)},
    ),
    "computed": (  # a weight that the model computes from two others
        "net (float[N, 32] x) => (float[N, 32] y) { w = Mul (v, s) y = MatMul (x, w) }",
        {"v": (32, 32), "s": (32,)},
    ),
}


def _weights(shapes: Shapes, seed: int) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    made = {n: rng.standard_normal(s, dtype=np.float32) / 4 for n, s in shapes.items()}
    return {n: np.abs(a) + 1 if "var" in n else a for n, a in made.items()}


def _model(name: str, seed: int) -> onnx.ModelProto:
    text, shapes = NETS[name]
    model = onnx.parser.parse_model(HEADER + text)
    for key, array in _weights(shapes, seed).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, key))
    return model


def _x(session: trivium.Session) -> NDArray[np.float32]:
    shape = [3 if size == "N" else size for size in session.inputs[0].shape]
    return np.random.default_rng(7).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("name", NETS)
def test_updated_weights_are_those_of_a_model_that_has_them(name: str) -> None:
    ort = pytest.importorskip("onnxruntime")
    first, second = _model(name, 0), _model(name, 1)
    session = trivium.compile(first, refit=True)
    x = _x(session)
    session.update_weights(_weights(NETS[name][1], 1))
    got = session(x)
    fresh = trivium.compile(second, refit=True)
    assert np.array_equal(got, fresh(x))
    assert session.manifest == fresh.manifest
    assert bytes(session._program.package.weights) == bytes(fresh._program.package.weights)
    oracle = ort.InferenceSession(second.SerializeToString(), providers=["CPUExecutionProvider"])
    (want,) = oracle.run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def _calls(session: trivium.Session) -> list[tuple[str, ...]]:
    table = CallTable(session._program.package)
    return [call.ops for step in session.manifest.steps for call in table.of(step)]


@pytest.mark.parametrize("name", NETS)
def test_runs_make_the_calls_of_a_package_that_keeps_its_weights(name: str) -> None:
    model = _model(name, 0)
    refit, plain = trivium.compile(model, refit=True), trivium.compile(model)
    assert _calls(refit) == _calls(plain)
    assert not any("batch_norm" in op for ops in _calls(refit) for op in ops)
    x = _x(refit)
    np.testing.assert_allclose(refit(x), plain(x), rtol=1e-4, atol=1e-5)


def test_a_convolution_that_others_read_keeps_its_weights() -> None:
    model = onnx.parser.parse_model(
        HEADER
        + """net (float[1, 8, 9, 9] x) => (float[1, 8, 9, 9] y, float[1, 8, 9, 9] a)
        { a = Conv (x, w) n = BatchNormalization (a, s, t, mean, var) y = Relu (n) }"""
    )
    shapes = {"w": (8, 8, 1, 1), "s": (8,), "t": (8,), "mean": (8,), "var": (8,)}
    old, new = (_weights(shapes, seed) for seed in (0, 1))
    for key, array in old.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, key))
    session = trivium.compile(model, refit=True)
    x = _x(session)
    session.update_weights(new)
    got = session.run({"x": x})
    a = np.einsum("oi,bihw->bohw", new["w"][:, :, 0, 0], x)
    m, v, s, t = (new[n].reshape(-1, 1, 1) for n in ("mean", "var", "s", "t"))
    np.testing.assert_allclose(got["a"], a, rtol=1e-4, atol=1e-5)
    want = np.maximum((a - m) / np.sqrt(v + 1e-5) * s + t, 0)
    np.testing.assert_allclose(got["y"], want, rtol=1e-4, atol=1e-5)


@pytest.fixture
def linear() -> trivium.Session:
    return trivium.compile(_model("linear", 0), refit=True)


def _want(weights: Arrays, x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.maximum(x @ weights["w"] + weights["b"], 0) @ weights["v"].T + weights["d"]


def test_some_weights_are_updated_and_others_stay(linear: trivium.Session) -> None:
    old, new = (_weights(NETS["linear"][1], seed) for seed in (0, 1))
    x = _x(linear)
    linear.update_weights({"b": new["b"]})
    np.testing.assert_allclose(linear(x), _want({**old, "b": new["b"]}, x), rtol=1e-4, atol=1e-5)
    linear.update_weights({"v": new["v"]})
    want = _want({**old, "b": new["b"], "v": new["v"]}, x)
    np.testing.assert_allclose(linear(x), want, rtol=1e-4, atol=1e-5)


def test_equal_weights_are_updated_apart() -> None:
    model = onnx.parser.parse_model(
        HEADER
        + """net (float[N, 32] x) => (float[N, 32] y)
        { a = MatMul (x, w) y = MatMul (a, v) }"""
    )
    for key in ("w", "v"):
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(np.eye(32, dtype=np.float32), key)
        )
    session = trivium.compile(model, refit=True)
    x = _x(session)
    session.update_weights({"v": 3 * np.eye(32, dtype=np.float32)})
    assert np.array_equal(session(x), 3 * x)


def test_who_sees_new_weights(linear: trivium.Session, tmp_path: Path) -> None:
    new = _weights(NETS["linear"][1], 1)
    x = _x(linear)
    old = linear(x)
    linear.save(tmp_path / "old.trv")
    loaded, other = trivium.load(tmp_path / "old.trv"), trivium.load(tmp_path / "old.trv")
    before = loaded.clone()
    loaded.update_weights(new)
    for session in (before, other, linear):
        assert np.array_equal(session(x), old)
    changed = loaded(x)
    assert not np.allclose(changed, old)
    assert np.array_equal(loaded.clone()(x), changed)
    loaded.save(tmp_path / "new.trv")
    assert np.array_equal(trivium.load(tmp_path / "new.trv", check=True)(x), changed)
    assert np.array_equal(trivium.load(tmp_path / "old.trv", check=True)(x), old)
    again = trivium.Session(Package.open(tmp_path / "old.trv").with_weights(new))
    assert np.array_equal(again(x), changed)


def test_state_stays() -> None:
    model = onnx.parser.parse_model(
        HEADER
        + """net (float[4] x, float[4] s) => (float[4] y, float[4] n)
        { p = Mul (x, w) n = Add (p, s) y = Neg (n) }"""
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(4, np.float32), "w"))
    session = trivium.compile(model, refit=True, states={"n": "s"})
    x = np.ones(4, np.float32)
    assert session(x).tolist() == [-1] * 4
    session.update_weights({"w": np.full(4, 10, np.float32)})
    assert session(x).tolist() == [-11] * 4
    session.reset_state()
    assert session(x).tolist() == [-10] * 4


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"ww": np.zeros((64, 48), np.float32)}, "'ww' is no weight .*; did you mean 'w'"),
    "shape": (
        {"w": np.zeros((48, 64), np.float32)},
        r"'w' is float32 \[48, 64\], must be float32 \[64",
    ),
    "type": ({"w": np.zeros((64, 48))}, r"'w' is float64 \[64, 48\], must be float32"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_weight_is_refused_and_nothing_changes(
    linear: trivium.Session, case: str
) -> None:
    given, message = WRONG[case]
    x = _x(linear)
    old = linear(x)
    with pytest.raises(RunError, match=message):
        linear.update_weights({"b": np.zeros(48, np.float32), **given})
    assert np.array_equal(linear(x), old)


def test_other_packages_say_how_to_get_there() -> None:
    session = trivium.compile(_model("linear", 0))
    with pytest.raises(
        RunError, match=r"keeps its weights: compile the model again with refit=True"
    ):
        session.update_weights({"b": np.zeros(48, np.float32)})


def test_a_package_compiled_again_may_still_be_updated(
    linear: trivium.Session, tmp_path: Path
) -> None:
    linear.save(tmp_path / "a.trv")
    assert main(["compile", str(tmp_path / "a.trv"), "-o", str(tmp_path / "b.trv")]) == 0
    again = trivium.load(tmp_path / "b.trv")
    new = _weights(NETS["linear"][1], 1)
    for session in (linear, again):
        session.update_weights(new)
    x = _x(linear)
    assert np.array_equal(again(x), linear(x))


def test_compressed_packages_may_be_updated(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    new = _weights(NETS["linear"][1], 1)
    session = trivium.compile(_model("linear", 0), refit=True, compress=True)
    session.update_weights(new)
    session.save(tmp_path / "a.trv")
    assert "weights.bin.zst" in Package.open(tmp_path / "a.trv").entries
    x = _x(session)
    assert np.array_equal(trivium.load(tmp_path / "a.trv")(x), session(x))
    np.testing.assert_allclose(session(x), _want(new, x), rtol=1e-4, atol=1e-5)


def test_torch_names_its_parameters() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net, other = (
        torch.nn.Sequential(torch.nn.Linear(16, 24), torch.nn.ReLU(), torch.nn.Linear(24, 8)).eval()
        for _ in range(2)
    )
    x = torch.randn(3, 16)
    session = trivium.compile(net, (x,), refit=True)
    session.update_weights({n: p.detach().numpy() for n, p in other.named_parameters()})
    want = other(x).detach().numpy()
    np.testing.assert_allclose(session(x.numpy()), want, rtol=1e-4, atol=1e-5)


def test_options_that_do_not_go_together() -> None:
    model = _model("linear", 0)
    with pytest.raises(CompileError, match=r"refit is for one program, exact asks for others"):
        trivium.compile(model, refit=True, exact=[{"N": 1}])
    with pytest.raises(CompileError, match=r"refit is for one program, generate asks for others"):
        trivium.compile(model, refit=True, generate=True)
    for target in ("gpu:sm_90", "vanilla", "cpu,vanilla"):
        with pytest.raises(
            CompileError, match=r"refit .* the CPU reads, target '(gpu|vanilla)' has"
        ):
            trivium.compile(model, refit=True, target=target)


def test_the_host_reads_new_weights_too() -> None:
    session = trivium.compile(_model("linear", 0), refit=True, target="host")
    new = _weights(NETS["linear"][1], 1)
    session.update_weights(new)
    x = _x(session)
    np.testing.assert_allclose(session(x), _want(new, x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{"precision": "fp16"}, {"opt_level": 0}, {"math": "strict"}])
def test_other_options_go_together(options: dict[str, Any]) -> None:
    session = trivium.compile(_model("linear", 0), refit=True, **options)
    new = _weights(NETS["linear"][1], 1)
    session.update_weights(new)
    x = _x(session)
    assert np.array_equal(
        session(x), trivium.compile(_model("linear", 1), refit=True, **options)(x)
    )
    error = 2e-2 if "precision" in options else 1e-4
    np.testing.assert_allclose(session(x), _want(new, x), rtol=error, atol=error)


def test_single_numbers_are_no_weights() -> None:
    model = onnx.parser.parse_model(
        HEADER
        + "net (float[4] x) => (float[4] y) <float[1] s = {3}> { p = Mul (x, s) y = Add (p, b) }"
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(4, np.float32), "b"))
    session = trivium.compile(model, refit=True)
    assert [weight.name for weight in session.manifest.part(RefitPart).weights] == ["b"]
    with pytest.raises(RunError, match=r"^'s' is no weight that the package reads"):
        session.update_weights({"s": np.ones(1, np.float32)})
