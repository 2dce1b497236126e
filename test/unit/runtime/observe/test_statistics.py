"""Statistics of values, and comparisons of two packages, against numpy and onnxruntime."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.runtime.errors import RunError
from trivium.runtime.observe.statistics import Divergence, ValueStatistics, compare_values
from trivium.tools.main import main

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[4, 8] x) => (float[4, 8] y)
    {
        a = MatMul (x, w)
        b = Relu (a)
        c = Log (a)
        d = Div (b, b)
        y = MatMul (b, v)
    }
""")
X = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
W, V = (np.random.default_rng(i).standard_normal((8, 8)).astype(np.float32) for i in (1, 2))
NAMES = ["a", "b", "c", "d", "y"]


def _model(v: Any = V) -> onnx.ModelProto:
    model = onnx.ModelProto()
    model.CopyFrom(NET)
    model.graph.output.extend([onnx.helper.make_empty_tensor_value_info(n) for n in "cd"])
    model.graph.initializer.append(onnx.numpy_helper.from_array(W, "w"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(v, "v"))
    return model


def _expected() -> dict[str, Any]:
    model = _model()
    model.graph.output.extend([onnx.helper.make_empty_tensor_value_info(n) for n in "ab"])
    arrays = onnxruntime.InferenceSession(model.SerializeToString()).run(NAMES, {"x": X})
    return dict(zip(NAMES, arrays, strict=True))


@pytest.fixture(scope="module")
def session() -> trivium.Session:
    return trivium.compile(_model(), keep="*")


def test_statistics_are_those_of_onnxruntime_s_values(session: trivium.Session) -> None:
    first, second = session.statistics({"x": X}, runs=2)
    assert str(first) == str(second)  # NaN is not equal to itself
    assert {each.name for each in first} == set(NAMES)
    expected = _expected()
    for each in first:
        want = expected[each.name]
        finite = want[np.isfinite(want)].astype(np.float64)
        assert (each.dtype, each.shape) == ("float32", (4, 8))
        assert each.nans == np.isnan(want).sum()
        assert each.infinities == np.isinf(want).sum()
        found = [each.mean, each.std, each.least, each.most]
        known = [finite.mean(), finite.std(), finite.min(), finite.max()]
        assert np.allclose(found, known, rtol=1e-4, atol=1e-5)
    counts = {each.name: each.nans for each in first}
    assert counts["a"] == counts["b"] == 0
    assert counts["c"] == counts["d"] == (expected["a"] < 0).sum() > 0


def test_growth_is_that_of_one_element_to_the_next() -> None:
    array = np.array([1.0, 2.0, 1.0, 0.0, 3.0])
    steps = [(b - a) / (a + 1e-5) for a, b in pairwise(array)]
    assert ValueStatistics.of("x", array).growth == pytest.approx(sum(steps) / 5)


def test_infinities_are_counted() -> None:
    found = ValueStatistics.of("x", np.array([1, np.inf, -np.inf, np.nan, 3], np.float32))
    assert (found.nans, found.infinities) == (1, 2)
    assert (found.mean, found.least, found.most) == (2, 1, 3)
    nothing = ValueStatistics.of("x", np.full(3, np.nan))
    assert nothing.nans == 3
    assert np.isnan(nothing.mean)


def test_sizes_of_complex_numbers_and_no_numbers_of_text() -> None:
    assert ValueStatistics.of("x", np.array([3 + 4j])).mean == 5
    text = ValueStatistics.of("x", np.array(["a", "b"], object))
    assert (text.shape, text.nans, text.infinities) == ((2,), 0, 0)


def test_state_and_values_of_the_session_stay(session: trivium.Session) -> None:
    session.run({"x": X})
    before = session.value("a").copy()
    session.statistics({"x": X * 2})
    assert np.array_equal(session.value("a"), before)
    with pytest.raises(RunError, match="runs is 0, must be at least 1"):
        session.statistics({"x": X}, runs=0)


def test_values_that_diverge_most_are_first(session: trivium.Session) -> None:
    shifted = V + np.float32(0.25)
    other = trivium.compile(_model(shifted), keep="*")
    found = compare_values(session, other, {"x": X})
    furthest, *rest = found.values
    assert furthest.name == "y"
    assert {each.name for each in rest} == set(NAMES) - {"y"}
    assert all((each.difference, each.relative, each.unlike) == (0, 0, 0) for each in rest)
    assert all(each.cosine == pytest.approx(1) for each in rest)
    b = _expected()["b"].astype(np.float64)
    one, two = b @ V, b @ shifted
    norms = np.linalg.norm(one), np.linalg.norm(two)
    assert furthest.cosine == pytest.approx((one * two).sum() / norms[0] / norms[1], rel=1e-5)
    assert furthest.difference == pytest.approx(abs(one - two).max(), rel=1e-4)
    assert furthest.relative == pytest.approx(np.linalg.norm(one - two) / norms[0], rel=1e-4)


def test_halves_are_close_and_different(session: trivium.Session) -> None:
    half = trivium.compile(_model(), keep=["a", "b"], precision="fp16")
    found = compare_values(session, half, {"x": X})
    errors = {each.name: each.relative for each in found.values if each.name in "aby"}
    assert all(1e-5 < error < 2e-3 for error in errors.values())
    assert found.first_alone == found.second_alone == ()


def test_values_of_one_alone_are_named(session: trivium.Session) -> None:
    bare = trivium.compile(_model())
    found = compare_values(bare, session, {"x": X})
    assert {each.name for each in found.values} == {"y", "c", "d"}
    assert found.first_alone == ()
    assert set(found.second_alone) == {"a", "b"}


def test_infinities_and_nan_of_one_alone_are_unlike() -> None:
    one = np.array([1, np.nan, np.inf, np.inf, 2])
    two = np.array([1, np.nan, -np.inf, np.inf, np.nan])
    found = Divergence.of("x", one, two)
    assert found is not None
    assert (found.unlike, found.difference, found.cosine) == (2, 0, 1)


def test_other_models_are_refused(session: trivium.Session) -> None:
    other = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[4, 8] x) => (float[4, 8] z) { z = Relu (x) }
    """)
    with pytest.raises(RunError, match=r"no value is in both packages: .* and 'z'"):
        compare_values(session, trivium.compile(other), {"x": X})
    with pytest.raises(RunError, match="'x' has shapes 2 and 3: these are not the same model"):
        Divergence.of("x", np.zeros(2), np.zeros(3))


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, package = str(tmp_path / "net.onnx"), str(tmp_path / "half.trv")
    onnx.save(_model(), model)
    trivium.build(model, keep="*", precision="fp16").save(package)
    capsys.readouterr()
    assert main(["run", model, "--random", "--statistics", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "trivium run --statistics"
    assert [len(run["values"]) for run in report["runs"]] == [5, 5]
    assert main(["run", package, "--random", "--statistics"]) == 0
    assert "growth" in capsys.readouterr().out
    assert main(["compare", model, package, "--random", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["values"][0]["relative"] >= report["values"][-1]["relative"]
    assert main(["compare", model, package, "--random"]) == 0
    assert "cosine" in capsys.readouterr().out


def test_commands_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = str(tmp_path / "net.trv")
    trivium.build(_model()).save(package)
    capsys.readouterr()
    assert main(["compare", package, package, "--random", "--precision", "fp16"]) == 2
    assert "--precision: both packages are compiled already" in capsys.readouterr().err
    both = ["--statistics", "--profile", "--json"]
    assert main(["run", package, "--random", *both]) == 2
    assert "--json prints one report" in capsys.readouterr().err
