"""`trivium tune`: which file it writes, on a GPU whose times are known."""

import importlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import onnx
import onnx.parser
import pytest
from trivium import __version__
from trivium.runtime.errors import RunError
from trivium.runtime.gpu.device import Device
from trivium.runtime.gpu.trial import ROUNDS
from trivium.runtime.package import Package
from trivium.targets.tuning_file import gpu_tuning_format
from trivium.test.unit.runtime.gpu.candidates import BASE, run_in, with_candidates
from trivium.test.unit.runtime.gpu.conftest import package
from trivium.test.unit.runtime.gpu.stand_in import StandIn
from trivium.tools import main as tool

SMALL, LARGE = "BM=32 warps=4 stages=2", "BM=128 warps=8 stages=3"
TIMES = {BASE: 20.0, SMALL: 12.5, LARGE: 80.0}


@pytest.fixture
def gpu(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Let commands open the stand-in."""
    monkeypatch.setattr(Device, "open", lambda ordinal: Device(ordinal, str(stand_in.path)))
    return stand_in


def saved(folder: Path, made: Package) -> Path:
    path = folder / "m.trv"
    made.save(path)
    return path


def tune(*arguments: str | Path) -> int:
    return tool.main(["tune", *map(str, arguments)])


def chosen(path: Path) -> dict[str, str]:
    return {name: e["schedule"] for name, e in json.loads(path.read_text())["entries"].items()}


def test_the_fastest_settings_are_noted(
    gpu: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = with_candidates({"add": (SMALL, LARGE), "relu": (LARGE,)})
    run_in(gpu, made, TIMES)
    file = tmp_path / "t.json"
    assert tune(saved(tmp_path, made), "-o", file) == tool.OK
    assert chosen(file) == {"add": SMALL, "relu": BASE}
    head = json.loads(file.read_text())
    assert head["trivium"] == __version__
    assert head["machine"]["architecture"] == "sm_90"
    assert head["machine"]["driver"] == "13.0"
    assert head["entries"]["add"]["candidates"] == TIMES
    printed = capsys.readouterr().out
    assert f"add: {SMALL}, 12.50 us, 1.60x as fast as {BASE}" in printed
    assert f"{file}: 2 kernels measured on {head['machine']['device']}" in printed
    assert gpu_tuning_format(str, "sm_90").read(str(file)).entries["relu"].time_us == 20


def test_a_file_is_added_to_and_known_kernels_are_left_out(gpu: StandIn, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    first = with_candidates({"relu": (LARGE,)})
    run_in(gpu, first, TIMES)
    assert tune(saved(tmp_path, first), "-o", file) == tool.OK
    second = with_candidates({"add": (SMALL,), "relu": (LARGE,)})
    run_in(gpu, second, {**TIMES, BASE: 5.0})
    assert tune(saved(tmp_path, second), "-o", file) == tool.OK
    entries = json.loads(file.read_text())["entries"]
    assert chosen(file) == {"add": BASE, "relu": BASE}
    assert entries["relu"]["time_us"] == 20


def test_what_was_left_out_is_noted(
    gpu: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = with_candidates({"relu": (SMALL, LARGE)})
    run_in(gpu, made, TIMES, wrong={SMALL: 0.1})
    assert tune(saved(tmp_path, made), "-o", tmp_path / "t.json") == tool.OK
    note = f"note: relu with {SMALL} is left out: buffer 1 differs by 1.0e-01, may differ by"
    assert note in capsys.readouterr().err
    assert chosen(tmp_path / "t.json") == {"relu": BASE}


def test_what_was_measured_before_a_failure_is_kept(
    gpu: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = with_candidates({"add": (SMALL,), "relu": (LARGE,)})
    run_in(gpu, made, TIMES)
    # Of each kernel both settings are run, timed once, and have 11 turns.
    gpu.configure(f"fail=cuStreamSynchronize:{2 * (2 + 1 + ROUNDS) + 1}:1")
    assert tune(saved(tmp_path, made), "-o", tmp_path / "t.json") == tool.REPORTED
    assert chosen(tmp_path / "t.json") == {"add": SMALL}
    message = capsys.readouterr().err
    assert "kernel 'relu' of Relu_1 failed with BM=64 warps=4 stages=2: " in message
    assert message.count("\n") == 1


def foreign(folder: Path) -> Path:
    gpu_tuning_format(str, "sm_80").write(str(folder / "t.json"), {})
    return folder / "t.json"


def test_a_file_of_another_architecture_is_kept(
    gpu: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = with_candidates({"relu": (SMALL,)})
    file = foreign(tmp_path)
    before = file.read_text()
    assert tune(saved(tmp_path, made), "-o", file) == tool.REPORTED
    assert "architecture 'sm_80', this one has 'sm_90': tune to another file" in (
        capsys.readouterr().err
    )
    assert file.read_text() == before


def test_a_package_without_candidates_is_refused(
    gpu: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(saved(tmp_path, package()), "-o", tmp_path / "t.json") == tool.REPORTED
    assert "no settings to choose from: compile the model with --candidates" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "t.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m.trv", "--target", "gpu:sm_90"), "--target: a package is compiled already"),
        (("m.onnx", "--target", "cpu"), "trivium compile MODEL --tune FILE.json"),
    ],
)
def test_wrong_usage(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(*arguments, "-o", "t.json") == tool.USAGE
    assert message in capsys.readouterr().err


def test_without_a_gpu_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(ordinal: int) -> Device:
        raise RunError("there is no driver for a GPU")

    monkeypatch.setattr(Device, "open", nothing)
    assert tune("m.onnx", "-o", tmp_path / "t.json") == tool.REPORTED
    assert capsys.readouterr().err == "there is no driver for a GPU\n"


def test_models_are_compiled_with_candidates(
    gpu: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("triton")
    kernels = importlib.import_module("trivium.targets.gpu.emit.compile_kernels")
    more = lambda kernel, _: [kernel.setting, replace(kernel.setting, warps=8)]  # noqa: E731
    monkeypatch.setattr(kernels, "settings_of", more)
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[8] x) => (float[8] y) { y = Exp (x) }"""
    )
    onnx.save(model, tmp_path / "m.onnx")
    assert tune(tmp_path / "m.onnx", "-o", tmp_path / "t.json") == tool.OK
    (entry,) = json.loads((tmp_path / "t.json").read_text())["entries"].values()
    warps = [setting.split()[-2] for setting in entry["candidates"]]
    assert sorted(warps) == ["warps=4", "warps=8"]


def test_measuring_takes_neither_mlir_nor_triton(tmp_path: Path, stand_in_library: Path) -> None:
    """As on a machine that has a GPU, numpy and nothing else."""
    path = saved(tmp_path, with_candidates({"relu": (SMALL,)}))
    program = f"""
import sys
for name in ("torch_mlir", "triton", "onnx", "torch"):
    sys.modules[name] = None
from trivium.tools.main import main
sys.exit(main(["tune", {str(path)!r}, "-o", {str(tmp_path / "t.json")!r}]))
"""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stand_in_library.parent)}
    made = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    assert set(chosen(tmp_path / "t.json")) == {"relu"}
