"""`trivium bench` of models whose sizes are free: a comparison for each size asked for."""

import json
import re
from pathlib import Path

import onnx
import pytest
from trivium.test.unit.compiler.exact.exact_models import model
from trivium.tools import main as tool
from trivium.tools.bench.prepare import prepare

pytest.importorskip("onnxruntime")

RANGE = "T=8..512:16/8"


@pytest.fixture
def path(tmp_path: Path) -> str:
    onnx.save(model(), tmp_path / "rows.onnx")
    return str(tmp_path / "rows.onnx")


def call(*arguments: str) -> int:
    return tool.main(["bench", "--rounds=2", "--against=onnxruntime", *arguments])


def test_each_size_has_a_comparison(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(path, "--shape", RANGE, "--at", "T=8,N=3", "--at", "T=40") == tool.OK
    out = capsys.readouterr().out
    heads = [f"{path} at {sizes}: 1 thread, 2 rounds" for sizes in ("N=3, T=8", "N=1, T=40")]
    assert [line for line in out.splitlines() if line.startswith(path)] == heads
    assert len(re.findall(r"x as fast as the best peer, onnxruntime", out)) == 2
    assert "geometric mean over 2 sizes of models: " in out


def test_what_is_not_asked_for_is_likely(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(path, "--shape", RANGE, "--exact", "N=1,T=16", "--json") == tool.OK
    (report,) = json.loads(capsys.readouterr().out)["models"]
    assert (report["sizes"], report["faults"]) == ({"N": 1, "T": 16}, [])


def test_inputs_have_the_sizes(path: str) -> None:
    prepared = prepare(path)
    (sizes,) = prepared.vectors([{"T": 5}])
    shapes = {name: array.shape for name, array in prepared.inputs(0, sizes).items()}
    assert shapes == {"x": (1, 5, 12), "bias": (1, 5)}


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("Q=3", "'Q' is no free size of the inputs, there are N, T"),
        ("T=12", "T is 12, must be a multiple of 8"),
        ("T=520", "T is 520, the package was compiled for 8 to 512"),
    ],
)
def test_sizes_that_the_model_does_not_have_are_errors(
    path: str, sizes: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(path, "--shape", RANGE, "--at", sizes) == tool.REPORTED
    assert f"{path}: error: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--at", "T"], "'T' must be like T=128 or T=256,N=2"),
        (["--kernels", "--at", "T=2"], "--at: --kernels needs sizes that --shape binds"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tool.main(["bench", "m.onnx", *arguments]) == tool.USAGE
    assert message in capsys.readouterr().err
