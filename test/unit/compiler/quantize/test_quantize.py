"""Quantisation by data: methods, tables, bad data, and a network that still knows digits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import parser
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.quantize.ranges import BINS, METHODS, Form, Seen
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.tensor import Array
from trivium.passes.eliminate import Eliminate
from trivium.passes.quantize.lower_quantized import LowerQuantized
from trivium.passes.quantize.scale_table import ScaleTable
from trivium.test.unit.compiler.digits import Digits, digits

RANDOM = np.random.default_rng(8)


# -- methods ----------------------------------------------------------------------------------


def seen(array: Array) -> Seen:
    found = Seen()
    for part in np.array_split(array, 3):
        found.widen(part)
    for part in np.array_split(array, 3):
        found.count(part)
    return found


def long_tailed() -> Array:
    return RANDOM.laplace(0, 1, 40000).astype(np.float32)


def scale_of(array: Array, **given: Any) -> tuple[float, int]:
    kind = Form(**given).kind_of(seen(array))
    return kind.scales[0], kind.zero_points[0]


@pytest.mark.parametrize("storage", ["i8", "ui8"])
def test_minmax_spans_all_numbers(storage: str) -> None:
    x = RANDOM.uniform(-1, 3, 1000).astype(np.float32)
    scale, zero = scale_of(x, storage=storage)
    low = 0 if storage == "ui8" else -128
    assert scale == pytest.approx((float(x.max()) - float(x.min())) / 255, rel=1e-6)
    assert zero == round(low - float(x.min()) / scale)
    symmetric = scale_of(x, storage=storage, symmetric=True)
    assert symmetric == (pytest.approx(np.abs(x).max() / 127, rel=1e-6), low + 128)


def test_a_range_has_zero_in_it() -> None:
    assert scale_of(np.full(9, 2.55, np.float32)) == (pytest.approx(0.01), -128)
    assert scale_of(np.zeros(9, np.float32)) == (1.0, -128)


@pytest.mark.parametrize("percentile", [50, 90, 99.9, 100])
def test_percentile_is_that_of_sizes(percentile: float) -> None:
    x = long_tailed()
    scale, _ = scale_of(x, symmetric=True, method="percentile", percentile=percentile)
    want = np.percentile(np.abs(x[x != 0]), percentile)
    assert scale * 127 == pytest.approx(want, abs=1.01 * float(np.abs(x).max()) / BINS)


def error_of(x: Array, limit: float) -> float:
    step = limit / 127
    return float(np.mean((x - np.clip(np.rint(x / step), -127, 127) * step) ** 2))


def test_mse_is_the_least_of_exact_errors() -> None:
    x = long_tailed().astype(np.float64)
    scale, _ = scale_of(x, symmetric=True, method="mse")
    reach = np.abs(x).max()
    best = min(error_of(x, reach * part / 100) for part in range(20, 101))
    assert error_of(x, scale * 127) <= 1.01 * best
    assert error_of(x, scale * 127) < 0.9 * error_of(x, reach)


def divergence(x: Array, limit: float) -> float:
    """State it again, number by number and with loops: what spreading over 128 levels loses."""
    counts, edges = np.histogram(np.abs(x[x != 0]), BINS, (0.0, float(np.abs(x).max())))
    end = int(np.searchsorted(edges, limit - 1e-9))
    p = [float(c) for c in counts[:end]]
    q = [0.0] * end
    for level in range(128):
        inside = [i for i in range(end) if i * 128 // end == level]
        filled = [i for i in inside if counts[i]]
        for i in filled:
            q[i] = sum(p[j] for j in inside) / len(filled)
    p[-1] += float(counts[end:].sum())
    return sum(
        a / sum(p) * np.log((a / sum(p)) / (b / sum(q) if b else 1e-9))
        for a, b in zip(p, q, strict=True)
        if a
    )


def test_kl_loses_least() -> None:
    x = long_tailed()
    scale, _ = scale_of(x, symmetric=True, method="kl")
    reach = float(np.abs(x).max())
    ours = divergence(x, scale * 127)
    tried = [divergence(x, reach * end / BINS) for end in range(128, BINS + 1, 64)]
    assert ours <= min(tried) * (1 + 1e-6)
    assert scale * 127 < reach


# -- a network --------------------------------------------------------------------------------


def scores(data: Digits, predict: Callable[[Array], Array]) -> Array:
    return np.concatenate([predict(part) for part in np.split(data.images, 4)])


def by_onnxruntime(model: bytes) -> Callable[[Array], Array]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options)
    return lambda x: session.run(None, {"x": x})[0]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_still_knows_digits(method: str, symmetric: bool, tmp_path: Path) -> None:
    data, path = digits(), tmp_path / "quantized.onnx"
    floats = scores(data, by_onnxruntime(data.model.SerializeToString()))
    assert data.accuracy(floats) > 0.9
    given = {"method": method, "symmetric": symmetric}
    trivium.quantize(data.model, {"x": data.calibration}, path, **given)
    quantized = scores(data, by_onnxruntime(path.read_bytes()))
    assert data.accuracy(quantized) >= data.accuracy(floats) - 0.01
    session = trivium.compile(path)
    ours = scores(data, lambda x: session.run({"x": x})["y"])
    assert data.accuracy(ours) >= data.accuracy(floats) - 0.01
    step = np.abs(quantized).max() / 127
    assert np.abs(ours - quantized).max() <= 2.01 * step


def test_knows_digits_by_integers_alone(tmp_path: Path) -> None:
    data, path = digits(), tmp_path / "quantized.onnx"
    floats = scores(data, by_onnxruntime(data.model.SerializeToString()))
    trivium.quantize(data.model, {"x": data.calibration}, path)
    with new_context():
        module = import_onnx(onnx.load(path))
        LowerQuantized().run(module)
        Eliminate().run(module)
        names = [op.op_name for op in ops(module.operation)]
        assert names.count("tri.requantize") == 3  # two convolutions and a linear layer
        assert (names.count("tri.quantize"), names.count("tri.dequantize")) == (1, 1)
        reference = scores(data, lambda x: run(module, [x])[0])
    session = trivium.compile(path, quantized="integers")
    ours = scores(data, lambda x: session.run({"x": x})["y"])
    np.testing.assert_array_equal(ours, reference)
    assert data.accuracy(ours) >= data.accuracy(floats) - 0.01


def test_one_scale_for_all_weights(tmp_path: Path) -> None:
    data, path = digits(), tmp_path / "quantized.onnx"
    trivium.quantize(data.model, {"x": data.calibration}, path, per_tensor=True)
    model = onnx.load(path)
    assert max(len(t.dims) and t.dims[0] for t in model.graph.initializer if t.data_type == 1) == 0


def test_a_table_that_is_read_back_gives_the_same_model(tmp_path: Path) -> None:
    data, table = digits(), tmp_path / "scales.json"
    first, second = tmp_path / "a.onnx", tmp_path / "b.onnx"
    made = trivium.quantize(data.model, {"x": data.calibration}, first, write_table=str(table))
    assert ScaleTable.load(str(table)) == made
    trivium.quantize(data.model, None, second, table=str(table))
    assert first.read_bytes() == second.read_bytes()


def test_a_value_that_is_taken_out_of_a_table_stays_a_float(tmp_path: Path) -> None:
    data, table = digits(), tmp_path / "scales.json"
    trivium.quantize(data.model, {"x": data.calibration}, write_table=str(table))
    text = json.loads(table.read_text())
    assert list(text["values"]) == ["x", "r0", "r1", "y"]
    del text["values"]["y"]
    table.write_text(json.dumps(text))
    trivium.quantize(data.model, None, tmp_path / "a.onnx", table=str(table))
    assert onnx.load(tmp_path / "a.onnx").graph.node[-1].op_type == "Gemm"


@pytest.mark.parametrize("read", [False, True])
def test_sums_that_only_a_softmax_reads_stay_floats(read: bool) -> None:
    """Masks among them have numbers so large that nothing is left of others."""
    outputs = "float[2, 3] y, float[2, 3] s" if read else "float[2, 3] y"
    model = parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[2, 3] x, float[2, 3] mask) => ({outputs}) {{
            p = Mul (x, x)
            s = Add (p, mask)
            y = Softmax (s)
        }}
    """)
    data = {"x": np.ones((2, 3), np.float32), "mask": np.full((2, 3), -1e9, np.float32)}
    table = trivium.quantize(model, data)
    assert list(table.values) == (["x", "p", "mask", "s"] if read else ["x", "p"])


# -- refusals ---------------------------------------------------------------------------------


def images(**changed: Any) -> dict[str, Array]:
    return {"x": digits().calibration} | changed


def with_nan() -> Array:
    x = digits().calibration.copy()
    x[5, 0, 1, 2] = np.nan
    return x


REFUSED: dict[str, tuple[Callable[[], dict[str, Array]], str]] = {
    "missing": (dict, "calibration data lacks input 'x'"),
    "unknown": (lambda: images(z=np.zeros(3)), "has 'z', the inputs are 'x'"),
    "type": (lambda: {"x": digits().calibration.astype(np.float64)}, "is float64, must be float32"),
    "shape": (
        lambda: {"x": digits().calibration[:, :, :7]},
        "of 'x' has shape 396x1x7x8, must be samples of 1x8x8",
    ),
    "rank": (lambda: {"x": digits().calibration[0]}, "has shape 1x8x8, must be samples of 1x8x8"),
    "empty": (lambda: {"x": digits().calibration[:0]}, "is empty, must have 1 sample or more"),
    "batch": (lambda: {"x": digits().calibration[:100]}, "100 samples, must be a multiple of"),
    "nan": (lambda: {"x": with_nan()}, r"has nan at \[5, 0, 1, 2\], must be finite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_data_that_does_not_fit_is_refused_by_name(case: str) -> None:
    data, message = REFUSED[case]
    with pytest.raises(trivium.CompileError, match=message) as caught:
        trivium.quantize(digits().model, data())
    assert len(str(caught.value).splitlines()) == 1


def test_files_that_are_no_data_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 no")
    np.save(tmp_path / "one.npy", np.zeros(3))
    for name, message in {
        "none.npz": "cannot read '.*none.npz': No such file",
        "text.npz": "cannot read '.*text.npz': is no .npz of numbers",
        "broken.npz": "cannot read '.*broken.npz': is no .npz of numbers",
        "one.npy": "holds one array, must be an .npz",
    }.items():
        with pytest.raises(trivium.CompileError, match=message):
            trivium.quantize(digits().model, tmp_path / name)


ENTRY = {"type": "i8", "scale": 0.5, "zero_point": 0}
HEAD = {"format": "trivium scales", "version": 1}
TABLES: dict[str, tuple[Any, str]] = {
    "text": ("{", "scales.json:1:2: error: is not JSON: "),
    "list": ([], "is no table of scales: 'format' must be 'trivium scales'"),
    "version": (HEAD | {"version": 2}, "is of version 2, must be 1"),
    "key": (HEAD | {"values": {}, "more": 1}, "has 'more', must have"),
    "values": (HEAD | {"values": []}, "needs 'values', by name"),
    "entry": (HEAD | {"values": {"x": 1}}, "values.x: error: is 1, must have type, scale"),
    "lacks": (HEAD | {"values": {"x": {"type": "i8"}}}, "values.x: error: lacks 'scale'"),
    "extra": (HEAD | {"values": {"x": ENTRY | {"s": 1}}}, "values.x: error: has 's', must have"),
    "type": (HEAD | {"values": {"x": ENTRY | {"type": "f32"}}}, 'has type "f32", must be i8'),
    "scale": (HEAD | {"values": {"x": ENTRY | {"scale": "a"}}}, 'scale "a", must be a finite'),
    "negative": (HEAD | {"values": {"x": ENTRY | {"scale": -1}}}, "scale -1.0, must be positive"),
    "point": (HEAD | {"values": {"x": ENTRY | {"zero_point": 0.5}}}, "0.5, must be an integer"),
    "range": (HEAD | {"values": {"x": ENTRY | {"zero_point": 200}}}, "zero point 200 is outside"),
    "name": (HEAD | {"values": {"r00": ENTRY}}, "called 'r00', did you mean 'r0'"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_that_is_malformed_is_refused_in_one_line(case: str, tmp_path: Path) -> None:
    content, message = TABLES[case]
    path = tmp_path / "scales.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(trivium.CompileError) as caught:
        trivium.quantize(digits().model, table=str(path))
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_name_twice_in_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scales.json"
    path.write_text('{"format": "trivium scales", "format": "x"}')
    with pytest.raises(trivium.CompileError, match="'format' is given twice"):
        trivium.quantize(digits().model, table=str(path))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "best"}, "method is 'best', must be one of minmax"),
        (
            {"method": "percentile", "percentile": 0},
            "percentile is 0, must be a number above 0",
        ),
        ({"storage": "i4"}, "storage is 'i4', must be one of i8, ui8"),
        ({"table": "a.json"}, "needs calibration data or a table of scales or a config, one"),
    ],
)
def test_choices_that_there_are_not_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(trivium.CompileError, match=message):
        trivium.quantize(digits().model, images(), **given)
