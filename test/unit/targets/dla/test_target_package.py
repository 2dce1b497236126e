"""Packages for an accelerator: what is in them, what they refuse, and descriptions of users."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_networks import NETWORKS, Net
from test_target_networks import computed
from trivium.compiler.check import can_run, check
from trivium.compiler.driver import build
from trivium.compiler.export import export
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.module import Module
from trivium.passes.core import Pass
from trivium.passes.pipeline import Instrumentation, Pipeline, Stage
from trivium.runtime.dla.part import DESCRIPTION, DlaPart
from trivium.runtime.package import Package
from trivium.targets.choices import INTEGERS
from trivium.targets.dla.accelerator import Accelerator
from trivium.targets.dla.phases import MEM_ALLOC, Phases
from trivium.targets.dla.retry import Retry
from trivium.targets.dla.vanilla import target
from trivium.targets.dla.vanilla.packets import FILE
from trivium.targets.registry import find_target
from trivium.tools.report import describe, summary
from trivium.tools.reports.package_info import package_info

SELECTION = ("select-dla", "segment-dla")
LATER = (
    *("assign-residency", "lower-to-buffers", "prefetch"),
    *("allocate-buffers", "insert-tokens", "emit-containers"),
)
SRAM = "sram = { bytes = 262144"


@pytest.fixture(scope="module")
def branches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a quantised network."""
    net, file = Net(), tmp_path_factory.mktemp("branches") / "q.onnx"
    net.quantized(NETWORKS["branches"](net), file)
    return file


@pytest.fixture(scope="module")
def package(branches: Path) -> Package:
    return build(str(branches), target="vanilla")


class Heard(Instrumentation):
    """Note the passes of all pipelines."""

    def __init__(self) -> None:
        self.begun: list[list[Stage]] = []
        self.ran: list[str] = []
        self.stages: list[Stage] = []

    def begin(self, pipeline: Pipeline, module: Module) -> None:
        self.begun.append(pipeline.stages())

    def after(self, stage: Stage, module: Module) -> None:
        self.ran.append(stage.name)
        self.stages.append(stage)


def test_instrumentation_sees_every_pass_of_every_phase_once(branches: Path) -> None:
    heard = Heard()
    build(str(branches), target="vanilla", hooks=[heard])
    (begun,) = heard.begun
    kernel_passes = [step.name for step in find_target("cpu").code_passes()]
    whole, ran = ([s for s in each if not s.part] for each in (begun, heard.stages))
    assert ran[: len(whole)] == whole
    assert {*heard.stages} <= {*begun}  # those of a part ran once for each part
    listed = [name for _, names in target.TARGET.phases() for name in names]
    own = [name for name in heard.ran if name in SELECTION or name in LATER]
    assert own == [name for name in listed if name in SELECTION or name in LATER]
    rest = [stage.name for stage in ran[len(whole) :]]
    assert rest == kernel_passes * (len(rest) // len(kernel_passes))  # once for each kernel


def described(folder: Path, size: int) -> str:
    """Return a target whose memory has another size."""
    file = folder / "small.toml"
    text = FILE.read_text()
    assert SRAM in text
    file.write_text(text.replace(SRAM, f"sram = {{ bytes = {size}"))
    return f"vanilla:{file}"


def report(package: Package) -> str:
    return describe(package_info("m.trv", package.manifest))


@pytest.mark.parametrize("size", [8192, 3072])
def test_a_users_description_bounds_memory_and_travels_along(
    branches: Path, size: int, tmp_path: Path
) -> None:
    small = build(str(branches), target=described(tmp_path, size))
    assert bytes(small.entries[DESCRIPTION]).decode() == (tmp_path / "small.toml").read_text()
    (tmp_path / "small.toml").unlink()  # the package needs it no more
    (program,) = small.manifest.part(DlaPart).programs
    assert program.sram_lower_bound <= program.sram_bytes <= program.sram_capacity == size
    x = Net().inputs()
    expected = computed(build(str(branches), target="cpu", quantized=INTEGERS), x)
    np.testing.assert_array_equal(computed(small, x), expected)


class TestFussy(Pass):
    """Ask for another attempt unless values that stay may take little of sram."""

    __test__ = False
    share: int = 100
    most: int = 50

    def run(self, module: Module) -> None:
        if self.share > self.most:
            raise Retry(f"share is {self.share}")


class Fussy(Accelerator):
    most = 50

    def pipeline(self) -> Phases:
        return super().pipeline().add(MEM_ALLOC, lambda given: TestFussy(given.share, self.most))


def test_attempts_that_did_not_fit_are_reported(
    branches: Path, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "TARGET", Fussy("vanilla"))
    heard: list[str] = []
    fussy = build(str(branches), target="vanilla", progress=heard.append)
    attempts = fussy.manifest.part(DlaPart).attempts
    assert attempts[0] == "attempt 1: MemAlloc: share is 100"
    assert [line for line in heard if line.startswith("attempt ")] == [*attempts]
    listed = "".join(f"  {attempt}\n" for attempt in attempts)
    assert f"\nschedules that did not fit\n{listed}" in report(fussy) + "\n"
    x = Net().inputs()
    np.testing.assert_array_equal(computed(fussy, x), computed(package, x))


def test_what_fits_in_no_way_is_an_error_with_all_attempts(
    branches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "TARGET", Fussy("vanilla"))
    monkeypatch.setattr(Fussy, "most", -1)
    with pytest.raises(CompileError) as caught:
        build(str(branches), target="vanilla")
    assert "no schedule fits the memories after 8 attempts" in str(caught.value)
    assert "attempt 8: MemAlloc: share is 0" in str(caught.value)


@pytest.mark.parametrize("size", [32, 64, 128])
def test_what_memories_are_too_small_for_runs_on_the_cpu(
    branches: Path, size: int, tmp_path: Path
) -> None:
    """The CPU takes what no tile fits for, and can-run says so before, of the same nodes."""
    small = described(tmp_path, size)
    tiny = build(str(branches), target=small)
    assert {step.kind for step in tiny.manifest.steps} <= {"cpu", "dla"}
    x = Net().inputs()
    expected = computed(build(str(branches), target="cpu", quantized=INTEGERS), x)
    np.testing.assert_array_equal(computed(tiny, x), expected)
    reasons = [reason for node in can_run(str(branches), target=small) for reason in node.refusals]
    assert any(f"fits into {size} bytes of sram" in reason for reason in reasons)


def test_a_report_shows_what_programs_take_and_move(package: Package) -> None:
    (program,) = package.manifest.part(DlaPart).programs
    text = report(package)
    assert "\non accelerators\n  dla/vanilla_0.tdla  stream  17 packets\n" in text
    assert f"{program.dram_bytes / 1024:.1f} KiB moved" in text
    assert "schedules that did not fit" not in text
    assert program.dram_bytes < program.dram_bound
    assert "1 program on vanilla" in summary("m.trv", package.manifest)


def test_weights_are_in_containers_alone(package: Package) -> None:
    assert package.manifest.memory.weight_bytes == 0
    assert "weights.bin" not in package.entries


@pytest.mark.parametrize("again", [build, export])
def test_packets_are_not_compiled_again(package: Package, again: object, tmp_path: Path) -> None:
    package.save(tmp_path / "m.trv")
    arguments = (str(tmp_path / "m.trv"), *([str(tmp_path / "m.onnx")] * (again is export)))
    with pytest.raises(CompileError, match="what runs on 'vanilla' as packets alone: take the mod"):
        again(*arguments)  # type: ignore[operator]


def test_a_package_runs_without_mlir(package: Package, tmp_path: Path) -> None:
    x = Net().inputs()
    package.save(tmp_path / "m.trv")
    np.save(tmp_path / "x.npy", x)
    script = """
import sys
sys.modules["torch_mlir"] = sys.modules["onnx"] = None
import numpy as np
import trivium
np.save("y.npy", trivium.load("m.trv")(np.load("x.npy")))
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), computed(package, x))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "fp16"}, "'vanilla' computes on integers of 8 bits: leave out"),
        ({"quantized": INTEGERS}, "'vanilla' computes on integers anyway: leave out"),
        ({"tune": "t.json"}, "'vanilla' has no schedules that are measured: leave out"),
        ({"candidates": True}, "'vanilla' has one setting for each kernel: leave out"),
    ],
)
def test_options_that_it_does_not_have_are_refused(
    branches: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(CompileError, match=message):
        build(str(branches), target="vanilla", **options)


def test_descriptions_that_cannot_be_are_refused(branches: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"cannot read the description 'nowhere\.toml'"):
        build(str(branches), target="vanilla:nowhere.toml")
    with pytest.raises(CompileError, match="described by one file, not by several: a, b"):
        build(str(branches), target="vanilla:a+b")
    (tmp_path / "other.toml").write_text(FILE.read_text().replace('"vanilla"', '"other"', 1))
    with pytest.raises(CompileError, match="describes 'other', must describe 'vanilla'"):
        build(str(branches), target=f"vanilla:{tmp_path / 'other.toml'}")


def test_refusals_name_the_limit_that_a_node_is_beyond(tmp_path: Path) -> None:
    net, file = Net(), tmp_path / "q.onnx"
    wide = net.conv("x", 3, 8, strides=[9, 9])
    net.quantized(net.conv(net.op("Relu", wide), 8, 4, 1), file)
    sentence = "vanilla: field 'stride_rows' is 9: conv moves by 1 to 8 rows"
    node_support = {verdict.node: verdict for verdict in can_run(str(file), target="vanilla")}
    assert node_support["conv0.4"].refusals == (sentence,)
    assert node_support["conv0.4"].targets == ("cpu",)
    reasons = {r for p in check(str(file), target="vanilla") for r in p.refusals}
    assert sentence in reasons
    assert "vanilla computes on integers, not on f32" in reasons


def test_a_larger_limit_in_a_users_description_is_one(tmp_path: Path) -> None:
    net, file = Net(), tmp_path / "q.onnx"
    net.quantized(net.conv("x", 3, 8, strides=[9, 9]), file)
    text = FILE.read_text()
    for name in ("stride_rows", "stride_columns"):
        text = text.replace(f"{name} = {{ least = 1, most = 8", f"{name} = {{ least = 1, most = 9")
    (tmp_path / "wide.toml").write_text(text)
    assert not build(str(file), target="vanilla").manifest.part(DlaPart).programs
    package = build(str(file), target=f"vanilla:{tmp_path / 'wide.toml'}")
    assert len(package.manifest.part(DlaPart).programs) == 1
    x = net.inputs()
    expected = computed(build(str(file), target="cpu", quantized=INTEGERS), x)
    np.testing.assert_array_equal(computed(package, x), expected)


def test_what_fits_in_no_tile_runs_elsewhere_and_says_why(tmp_path: Path) -> None:
    net, file = Net((1, 16, 16, 16)), tmp_path / "q.onnx"
    net.quantized(net.conv("x", 16, 4, 16, pads=[0, 0, 0, 0]), file)
    package = build(str(file), target="vanilla")
    assert not package.manifest.part(DlaPart).programs
    assert {step.kind for step in package.manifest.steps} == {"cpu"}
    (reason,) = {
        reason for node in can_run(str(file), target="vanilla") for reason in node.refusals
    }
    assert reason == (
        "vanilla has no tile that fits into 262144 bytes of sram, 65536 of weights and 262144 of "
        "the accumulator"
    )
    x = net.inputs()
    expected = computed(build(str(file), target="cpu", quantized=INTEGERS), x)
    np.testing.assert_array_equal(computed(package, x), expected)
