"""`trivium info --memory`: all strategies beside the lower bound, by hand-traced values."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.tools.main import main

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 64] x) => (float[N, 64] y)
    {
        [one] a = MatMul (x, wide)
        [two] b = MatMul (a, square)
        [three] c = MatMul (b, square)
        [four] y = MatMul (c, narrow)
    }
""")
NET.graph.initializer.extend(
    onnx.numpy_helper.from_array(np.ones(shape, np.float32), name)
    for name, shape in (("wide", (64, 256)), ("square", (256, 256)), ("narrow", (256, 64)))
)

VALUE = 32 * 256 * 4
"""The bytes of each of a, b and c with N = 32: two of them are alive at a time."""


@pytest.fixture
def model(tmp_path: Path) -> str:
    onnx.save(NET, tmp_path / "net.onnx")
    return str(tmp_path / "net.onnx")


def test_a_model_has_a_row_for_each_strategy(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", model, "--memory", "--shape", "N=32"]) == 0
    head, columns, *rows = capsys.readouterr().out.splitlines()
    assert head == f"{model}: values take 64.0 KiB at a time"
    assert columns.split() == ["strategy", "bytes", "over", "the", "bound", "values", "allocations"]
    assert [row.split() for row in rows] == [
        ["static", "64.0", "KiB", "0.0%", "3", "1"],
        ["plain", "64.0", "KiB", "0.0%", "3", "3"],
        ["mru", "64.0", "KiB", "0.0%", "3", "2"],
        ["bestfit", "64.0", "KiB", "0.0%", "3", "2"],
        ["compact", "64.0", "KiB", "0.0%", "3", "1"],
    ]


def test_a_package_has_the_same_numbers_as_json(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "net.trv")
    trivium.build(NET).save(path)
    assert main(["info", path, "--memory", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "trivium info --memory"
    (program,) = document["programs"]
    rows = program["sizes"]["N"]
    assert program["lower_bound_bytes"] == 2 * VALUE * rows // 32
    assert not program["stays_in_arena"]
    assert [each["strategy"] for each in program["strategies"]] == [
        *("static", "plain", "mru", "bestfit", "compact")
    ]


def test_a_run_takes_the_name_of_a_strategy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "net.trv")
    trivium.build(NET, shapes={"N": 4}).save(path)
    printed: set[str] = set()
    for memory in ("static", "compact"):
        assert main(["run", path, "--random", "--memory", memory]) == 0
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1
    assert main(["run", path, "--random", "--memory", "large"])
    assert "memory is 'large', must be one of static, plain" in capsys.readouterr().err


def test_flags_of_models_are_refused_for_packages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "net.trv")
    trivium.build(NET).save(path)
    assert main(["info", path, "--memory", "--shape", "N=32"])
    assert "is compiled already" in capsys.readouterr().err
