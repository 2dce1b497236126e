"""Values that a session keeps, against the same values as outputs in onnxruntime."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.package import Package
from trivium.tools.main import main

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 2, 8, 8] x) => (float[N, 3, 6, 6] y)
    <float[3] b = {0.5, 0.25, -0.5}> {
        [layer] conv = Conv (x, w, b)
        [clip] r = Relu (conv)
        [square] s = Mul (r, r)
        [join] y = Add (s, conv)
    }
""")
_WEIGHT = np.random.default_rng(1).standard_normal((3, 2, 3, 3)).astype(np.float32)
MODEL.graph.initializer.append(onnx.numpy_helper.from_array(_WEIGHT, "w"))


def _input(size: int) -> Any:
    return np.random.default_rng(size).standard_normal((size, 2, 8, 8)).astype(np.float32)


def _expected(names: list[str], x: Any) -> list[Any]:
    model = onnx.ModelProto()
    model.CopyFrom(MODEL)
    for name in set(names) - {"y"}:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    return onnxruntime.InferenceSession(model.SerializeToString()).run(names, {"x": x})


@pytest.fixture(scope="module", params=[{}, {"N": 2}], ids=["free", "bound"])
def session(request: pytest.FixtureRequest) -> trivium.Session:
    return trivium.compile(MODEL, keep=["conv", "s"], shapes=request.param)


def test_values_inside_of_fused_kernels_are_read(session: trivium.Session) -> None:
    names = ["conv", "s", "y"]
    for run in range(3):
        x = _input(2) + run
        results = session.run({"x": x})
        assert list(results) == ["y"]
        found = [session.value("conv"), session.value("s"), results["y"]]
        for array, expected in zip(found, _expected(names, x), strict=True):
            assert np.allclose(array, expected, rtol=1e-4, atol=1e-5)


def test_values_are_alive_across_runs(session: trivium.Session) -> None:
    session.run({"x": _input(2)})
    first = session.value("conv")
    before = first.copy()
    session.run({"x": _input(2) + 1})
    assert np.array_equal(first, before)
    assert not np.array_equal(session.value("conv"), before)


def test_kept_values_are_no_outputs(session: trivium.Session) -> None:
    assert [port.name for port in session.outputs] == ["y"]
    assert session(_input(2)).shape == (2, 3, 6, 6)


def test_value_that_is_recycled_is_refused(session: trivium.Session) -> None:
    with pytest.raises(RunError, match="does not keep 'r', whose memory is used again in a run"):
        session.value("r")
    with pytest.raises(RunError, match="'conv' has no value yet"):
        session.clone().value("conv")


def test_clones_keep_their_own(session: trivium.Session) -> None:
    twin = session.clone()
    session.run({"x": _input(2)})
    twin.run({"x": _input(2) + 1})
    assert not np.array_equal(session.value("conv"), twin.value("conv"))


def test_exact_programs_keep_values() -> None:
    session = trivium.compile(MODEL, keep="conv", exact=[{"N": 2}])
    for size in (2, 3, 2):
        session.run({"x": _input(size)})
        (expected,) = _expected(["conv"], _input(size))
        assert np.allclose(session.value("conv"), expected, rtol=1e-4, atol=1e-5)


def test_package_keeps_values(session: trivium.Session, tmp_path: Path) -> None:
    session.save(tmp_path / "net.trv")
    loaded = trivium.load(tmp_path / "net.trv")
    loaded.run({"x": _input(2)})
    session.run({"x": _input(2)})
    assert np.array_equal(loaded.value("s"), session.value("s"))


@pytest.mark.parametrize("kept", [("q",), ("y", "y")])
def test_manifest_that_keeps_no_output_is_refused(kept: tuple[str, ...]) -> None:
    package = trivium.compile(MODEL, shapes={"N": 1})._program.package  # type: ignore[reportPrivateUsage]
    manifest = replace(package.manifest, kept=kept)
    with pytest.raises(PackageError, match="must be an output that is not carried, and there once"):
        Package.create(manifest, package.entries)
    assert "kept" not in json.loads(package.manifest.to_json())


def test_dump_writes_all_values(tmp_path: Path) -> None:
    model, folder = tmp_path / "net.onnx", tmp_path / "values"
    onnx.save(MODEL, model)
    x = tmp_path / "x.npy"
    np.save(x, _input(2))
    assert main(["run", str(model), "--input", f"x={x}", "--dump", str(folder)]) == 0
    names = ["conv", "r", "s", "y"]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(["x", *names])
    assert np.array_equal(np.load(folder / "x.npy"), _input(2))
    for name, expected in zip(names, _expected(names, _input(2)), strict=True):
        assert np.allclose(np.load(folder / f"{name}.npy"), expected, rtol=1e-4, atol=1e-5)
