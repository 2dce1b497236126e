"""The command `trivium disasm` on loadables of NVDLA."""

from pathlib import Path

import pytest
import trivium
from test_nvdla_halves import FULL, model
from trivium.test.unit.targets.dla.nvdla.recorded import vector
from trivium.tools.main import main

CONV = vector("nv_full", "00_conv").loadable


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.nvdla"
    path.write_bytes(CONV)
    return path


def test_a_loadable_is_printed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disasm", str(file), "--configuration", "nv_full"]) == 0
    text = capsys.readouterr().out
    for line in [
        "memory 5: dram, 2048 bytes, allocate, input",
        "tensor 0: 'x' in memory 5, 1x8x8x8, strides 1, 256, 2048, type 4, pixels 36",
        "  ABI 0.12, 2 operations, heads CONV 0, SDP 1",
        "  operation 0 (CONV): waits for 1, programmed notifies SDP 1",
        "  operation 1 (SDP): waits for 1, enabled notifies the parent 0",
        "    x2: dram address 8 at 0x0, 8x1x1, strides 64, 64, 0, 64 bytes",
    ]:
        assert line in text.splitlines()


def test_faults_for_a_configuration(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disasm", str(file), "--configuration", "nv_small"]) == 1
    said = capsys.readouterr().err
    assert "a.nvdla, operation 0 (CONV): error: has 2 entries per row in CBUF, must be 8" in said


def test_damaged_and_unknown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disasm", str(file), "--configuration", "nv_smal"]) == 1
    assert "did you mean 'nv_small'" in capsys.readouterr().err
    file.write_bytes(CONV[:100])
    assert main(["disasm", str(file)]) == 1
    assert "a.nvdla, offset 0x" in capsys.readouterr().err


def test_flags_of_other_files_are_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disasm", str(file), "--whole"]) == 2
    other = file.with_suffix(".tdla")
    other.write_bytes(CONV)
    assert main(["disasm", str(other), "--configuration", "nv_full"]) == 2
    assert "for loadables of NVDLA" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["info", "check", "can-run", "compile"])
def test_commands_for_models_say_what_a_loadable_is(
    command: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["-o", str(file.with_suffix(".trv"))] if command == "compile" else []
    assert main([command, str(file), *more]) == 1
    assert capsys.readouterr().err == (
        f"{file}: error: is a loadable of NVDLA, which is compiled, must be a model: "
        "trivium disasm prints it, trivium simulate runs it\n"
    )


def test_the_loadables_of_a_package_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = model("a = Relu (x) y = Softmax <axis = 1> (a)", (1, 5, 1, 1))
    package = tmp_path / "a.trv"
    trivium.compile(made, target=FULL, precision="fp16").save(str(package))
    assert main(["disasm", str(package)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["; dla/nvdla_0.nvdla", "loadable 0.7.0"]
    assert "  operation 0 (softmax on the CPU):" in lines
    assert main(["disasm", str(package), "--whole"]) == 1
    assert "'dla/nvdla_0.nvdla' is a loadable, which has no --whole" in capsys.readouterr().err
