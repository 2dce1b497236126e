"""The list of ops: names, lowerings and limits, from the registries."""

import json

import pytest
from trivium.tools.main import main
from trivium.tools.reports.op_table import ops_info


def test_every_op_has_a_row_for_each_target() -> None:
    ops = {op.name: op for op in ops_info().ops}
    assert len(ops) > 150
    assert ops["tri.conv"].targets == {"cpu": "template", "gpu": "template", "host": "numpy"}
    assert ops["tri.conv"].operands == ("x", "w", "b")
    assert "strides" in ops["tri.conv"].attributes
    assert ops["tri.reshape"].targets["cpu"] == "free"
    assert "tri.group" not in ops


def test_one_op_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "tri.conv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("tri.conv: Contract every window")
    assert any(line.split() == ["operands", "x,", "w,", "b"] for line in lines)


def test_names_and_targets_choose(capsys: pytest.CaptureFixture[str]) -> None:
    every, on_gpu = ops_info().ops, ops_info("", "gpu").ops
    assert len(on_gpu) < len(every)
    assert [op for op in every if op.targets["gpu"] != "-"] == list(on_gpu)
    assert main(["ops", "conv", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    names = [op["name"] for op in report["ops"]]
    assert names == [op.name for op in every if "conv" in op.name]


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "nothing"]) == 1
    assert "no op has 'nothing' in its name" in capsys.readouterr().err
    assert main(["ops", "--target", "tpu"]) == 1
    assert "no target is named 'tpu', there are cpu, gpu, host" in capsys.readouterr().err
