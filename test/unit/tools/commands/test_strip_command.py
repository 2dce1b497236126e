"""Packages without what runs do not need."""

import json
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import RunError
from trivium.runtime.package import Package
from trivium.tools.main import main

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 3] x) => (float[N, 2] y)
    <float[3, 2] w = {1, 0, 0, 1, -1, -1}> { a = MatMul (x, w) y = Relu (a) }
""")
X = np.array([[1, 2, 3], [3, 2, 1]], np.float32)


@pytest.fixture(params=[(), ({"N": 2},)], ids=["one program", "exact sizes"])
def packaged(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    trivium.build(NET, exact=request.param).save(tmp_path / "net.trv")
    return tmp_path / "net.trv"


def _names(path: Path) -> set[str]:
    return {name.rsplit("/", 1)[-1] for name in Package.open(path).entries}


def test_what_is_left_runs_as_before(packaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = packaged.parent / "small.trv"
    assert main(["strip", str(packaged), "-o", str(out)]) == 0
    assert "small.trv: " in capsys.readouterr().out
    assert _names(packaged) - _names(out) == {"module.mlirbc", "calls.json"}
    assert out.stat().st_size < packaged.stat().st_size
    session = trivium.load(out)
    for rows in (2, 1):
        assert np.array_equal(session.run({"x": X[:rows]})["y"], [[0, 0], [2, 1]][:rows])
    with pytest.raises(RunError, match="which lists its calls"):
        session.profile({"x": X})
    with pytest.raises(CompileError, match="holds no IR to compile again"):
        trivium.compile(out)


def test_some_kinds_stay(packaged: Path) -> None:
    out = packaged.parent / "small.trv"
    assert main(["strip", str(packaged), "-o", str(out), "--keep", "calls"]) == 0
    assert _names(packaged) - _names(out) == {"module.mlirbc"}
    assert trivium.load(out).profile({"x": X}).runs


@pytest.mark.parametrize("kinds", [("ir",), ("calls", "ir"), "calls", ()])
def test_the_option_leaves_out_what_the_command_does(
    packaged: Path, kinds: str | tuple[str, ...]
) -> None:
    exact = [dict(each.sizes) for each in Package.open(packaged).manifest.exact]
    built = trivium.build(NET, exact=exact, strip=kinds)
    kept = [kind for kind in ("ir", "calls") if kind not in kinds]
    assert built.kept == tuple(kept)
    out, saved = packaged.parent / "small.trv", packaged.parent / "saved.trv"
    trivium.load(packaged).save(saved, strip=kinds)
    assert saved.read_bytes() == built.to_bytes()
    if kinds:
        keep = ["--keep", ",".join(kept)] if kept else []
        assert main(["strip", str(packaged), "-o", str(out), *keep]) == 0
        assert out.read_bytes() == built.to_bytes()
    assert np.array_equal(trivium.load(saved)(X), [[0, 0], [2, 1]])


def test_packages_say_what_they_keep(
    packaged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(packaged.parent)
    onnx.save(NET, "net.onnx")
    assert main(["info", "net.trv"]) == 0
    assert "kept beside what runs need\n  ir, calls\n" in capsys.readouterr().out
    for given, kept in (("ir,tuning", ["calls"]), ("calls,ir", [])):
        assert main(["compile", "net.onnx", "-o", "small.trv", "--strip", given]) == 0
        capsys.readouterr()
        assert main(["info", "small.trv", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["kept"] == kept
    assert main(["info", "small.trv"]) == 0
    assert "kept beside" not in capsys.readouterr().out
    assert main(["compile", "net.trv", "-o", "small.trv", "--strip", "ir"]) == 0
    assert Package.open("small.trv").kept == ("calls",)


def test_refusals(packaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = packaged.parent / "small.trv"
    assert main(["strip", str(packaged), "-o", str(out)]) == 0
    assert main(["strip", str(out), "-o", str(packaged.parent / "again.trv")]) == 1
    assert "has nothing of ir, calls, tuning, sources" in capsys.readouterr().err
    assert main(["strip", str(packaged), "-o", str(out), "--keep", "code"]) == 2
    assert "'code' must be one of ir, calls, tuning, sources" in capsys.readouterr().err
    with pytest.raises(CompileError, match=r"strip .*'code' must be one of ir, calls, tuning"):
        trivium.build(NET, strip="code")
    with pytest.raises(RunError, match="'code' must be one of ir, calls, tuning, sources"):
        trivium.load(packaged).save(out, strip=["code"])
