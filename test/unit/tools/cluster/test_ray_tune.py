"""Tuning over two workers of Ray finds what one process finds."""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
import trivium.ray
from trivium.dialects.core.errors import CompileError
from trivium.tools.cluster.tune import measure_share
from trivium.tools.main import main


def net() -> onnx.ModelProto:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[4, 64] x) => (float[4, 32] y) {
            a = MatMul (x, w0)
            b = Relu (a)
            c = MatMul (b, w1)
            d = Tanh (c)
            y = MatMul (d, w2)
        }
    """)
    for number, shape in enumerate([(64, 96), (96, 48), (48, 32)]):
        array = np.random.default_rng(number).standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, f"w{number}"))
    return model


def candidates(file: Path) -> dict[str, set[str]]:
    entries = json.loads(file.read_text())["entries"]
    return {key: {*entry["candidates"]} for key, entry in entries.items()}


def test_two_workers_find_what_one_process_finds(ray: Any, tmp_path: Path) -> None:
    alone, together = tmp_path / "alone.json", tmp_path / "together.json"
    trivium.build(net(), tune=str(alone))
    measured = trivium.ray.tune(net(), str(together), workers=2)
    wanted = candidates(alone)
    assert len(wanted) == 3
    assert candidates(together) == wanted
    assert {*measured} == {*wanted}
    x = np.ones((4, 64), np.float32)
    made = trivium.compile(net(), tuning=str(together)).run({"x": x})["y"]
    assert np.allclose(made, trivium.compile(net()).run({"x": x})["y"], atol=1e-3)
    assert trivium.ray.tune(net(), str(together), workers=2) == []


def test_tasks_measure_at_once(ray: Any, tmp_path: Path) -> None:
    """Each task waits at its first measurement until the other one is there, too."""
    folder = tmp_path / "there"
    folder.mkdir()

    def meet(line: str) -> None:
        if line.startswith("tune 1 of"):
            (folder / str(os.getpid())).touch()
            end = time.monotonic() + 60
            while len([*folder.iterdir()]) < 2:
                assert time.monotonic() < end, "the other task has not begun within a minute"
                time.sleep(0.01)

    assert len(trivium.ray.tune(net(), str(tmp_path / "t.json"), workers=2, progress=meet)) == 3
    assert str(os.getpid()) not in {path.name for path in folder.iterdir()}


def test_a_task_makes_no_code_of_the_model(tmp_path: Path) -> None:
    lines: list[str] = []
    text = measure_share(net(), "", (1, 2), {"progress": lines.append})
    assert isinstance(text, str)
    assert len(json.loads(text)["entries"]) == 1
    assert [line.partition(":")[0] for line in lines if line[:4] == "tune"] == ["tune 1 of 1"]
    assert not [line for line in lines if line.startswith("kernel")]
    built: list[str] = []
    trivium.build(net(), progress=built.append)
    assert [line for line in built if line.startswith("kernel")]


def test_exact_sizes_are_measured_as_a_build_measures_them(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[n, 64] x) => (float[n, 32] y) { y = MatMul (x, w) }
    """)
    array = np.ones((64, 32), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(array, "w"))
    file = tmp_path / "built.json"
    options = {"exact": [{"n": 2}]}
    trivium.build(model, tune=str(file), **options)
    text = measure_share(model, "", (0, 1), options)
    assert isinstance(text, str)
    assert len(json.loads(text)["entries"]) == 2
    assert json.loads(text)["entries"].keys() == json.loads(file.read_text())["entries"].keys()


def test_the_command_line(ray: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(net(), tmp_path / "net.onnx")
    command = ["tune", str(tmp_path / "net.onnx"), "-o", str(tmp_path / "t.json")]
    assert main([*command, "--ray", "auto", "--opt-level", "0"]) == 0
    assert "t.json: 0 kinds of ops measured by 2 tasks" in capsys.readouterr().out
    for flags, reason in (
        (["--workers", "3"], "--workers is for --ray"),
        (["--ray", "auto", "--target", "gpu"], "--ray measures for target 'cpu', and target is"),
        (["--ray", "auto", "--workers", "0"], "'0' must be a number from 1 on"),
    ):
        assert main([*command, *flags]) == 2
        assert reason in capsys.readouterr().err


def test_what_does_not_compile_is_refused(ray: Any, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"cannot read|No such file"):
        trivium.ray.tune(str(tmp_path / "none.onnx"), str(tmp_path / "t.json"), workers=1)
    assert not (tmp_path / "t.json").exists()


@pytest.mark.parametrize("share", [(2, 2), (-1, 2), (0, 0), 1, ("a", 2)])
def test_a_share_is_one_of_several(share: Any) -> None:
    with pytest.raises(CompileError, match=r"tune_share is .*, must be two whole numbers"):
        trivium.build(net(), tune_share=share)
