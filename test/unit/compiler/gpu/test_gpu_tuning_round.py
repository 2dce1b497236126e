"""Tune a model for a GPU: compile it with candidates, measure them, compile it with the file."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from gpu_packages import opened
from trivium.compiler.driver import build
from trivium.dialects.core.errors import CompileError
from trivium.runtime.gpu.device import Device
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.package import Package
from trivium.targets.tuning_file import PACKAGED
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn
from trivium.tools import main as tool

pytest.importorskip("triton")

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    net (float[96, 64] a, float[64, 48] b) => (float[96, 48] y) { y = MatMul (a, b) }"""
)


@pytest.fixture(scope="module")
def candidates() -> Package:
    return build(MODEL, target="gpu:sm_90", candidates=True)


def tuned(package: Package, gpu: StandIn, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Measure a package on a GPU on which the last candidate is the fastest."""
    monkeypatch.setattr(Device, "open", lambda *_: Device(0, str(gpu.path)))
    code = package.manifest.part(GpuPart).codes[0]
    settings = [k.setting for k in (*code.kernels, *code.candidates)]

    def execute(run: Run) -> None:
        a, b, y = run.arrays
        np.matmul(a, b, out=y)
        gpu.spend(100.0 - settings.index(run.kernel.setting))

    gpu.execute(package, execute)
    package.save(folder / "candidates.trv")
    file = folder / "t.json"
    assert tool.main(["tune", str(folder / "candidates.trv"), "-o", str(file)]) == tool.OK
    return file


def test_candidates_differ_in_their_settings_only(candidates: Package) -> None:
    (code,) = candidates.manifest.part(GpuPart).codes
    (kernel,) = code.kernels
    assert len(code.candidates) > 2
    for candidate in code.candidates:
        assert candidate.symbol == kernel.symbol
        assert candidate.setting != kernel.setting
        assert " ".join(candidate.blocks) in candidate.setting
        assert bytes(candidates.entries[candidate.entry])[:4] == b"\x7fELF"
    plain = build(MODEL, target="gpu:sm_90")
    assert plain.manifest.part(GpuPart).codes[0].kernels == code.kernels
    assert plain.manifest.part(GpuPart).codes[0].candidates == ()


def test_what_was_the_fastest_is_compiled(
    candidates: Package, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tuned(candidates, stand_in, tmp_path, monkeypatch)
    fastest = candidates.manifest.part(GpuPart).codes[0].candidates[-1].setting
    made = build(MODEL, target="gpu:sm_90", tuning=str(file))
    (kernel,) = made.manifest.part(GpuPart).codes[0].kernels
    assert kernel.setting == fastest
    assert json.loads(bytes(made.entries[PACKAGED]))["entries"][kernel.symbol]["time_us"] > 0
    # The package stands for the file.
    made.save(tmp_path / "made.trv")
    again = build(MODEL, target="gpu:sm_90", tuning=str(tmp_path / "made.trv"))
    assert again.manifest.part(GpuPart).codes == made.manifest.part(GpuPart).codes


def test_a_file_for_one_of_two_architectures_is_taken_for_it(
    candidates: Package, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tuned(candidates, stand_in, tmp_path, monkeypatch))
    first, second = build(MODEL, target="gpu:sm_80+sm_90", tuning=file).manifest.part(GpuPart).codes
    assert (
        second.kernels[0].setting
        == candidates.manifest.part(GpuPart).codes[0].candidates[-1].setting
    )
    assert (
        first.kernels[0].setting
        == build(MODEL, target="gpu:sm_80").manifest.part(GpuPart).codes[0].kernels[0].setting
    )
    with pytest.raises(CompileError, match="architecture 'sm_90', this one has 'sm_80'"):
        build(MODEL, target="gpu:sm_80", tuning=file)


def test_candidates_run_like_any_package(candidates: Package, stand_in: StandIn) -> None:
    random = np.random.default_rng(0)
    a = random.standard_normal((96, 64)).astype(np.float32)
    b = random.standard_normal((64, 48)).astype(np.float32)
    plain = build(MODEL, target="gpu:sm_90")
    with opened(plain, stand_in) as session:
        (y,) = session.run({"a": a, "b": b}).values()
    np.testing.assert_allclose(y, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)
    assert candidates.manifest.steps == plain.manifest.steps


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("cpu", {"candidates": True}, "candidates are settings of kernels for a GPU, 'cpu' has"),
        (
            "gpu:sm_90",
            {"tune": "t.json"},
            "option tune measures schedules of the CPU, must not be set for a GPU",
        ),
        ("gpu:sm_90", {"tuning": "none.json"}, "none.json: cannot be read: No such file"),
    ],
)
def test_what_a_target_does_not_have(target: str, options: dict, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        build(MODEL, target=target, **options)
