"""The command `trivium disasm`: what it prints assembles to the same bytes."""

from dataclasses import replace
from pathlib import Path

import pytest
from trivium.runtime.package import Package
from trivium.targets.dla.core import container
from trivium.targets.dla.core.contents import Container, relocations
from trivium.targets.dla.core.disassembly import assemble
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.core.toml_file import parse_description
from trivium.targets.dla.vanilla.packets import CLASSES, FILE, End, LoadWeights, instruction_set
from trivium.test.unit.targets.dla.streams import TwoConvs, manifest, package
from trivium.tools.main import main

VANILLA = instruction_set()


def test_what_is_printed_assembles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load = LoadWeights(region=0, source=64, destination=16, length=48)
    code = VANILLA.encode_stream([load, End(waits={"load": 1})])
    moved = relocations(VANILLA, code)
    made = Container({"constants": 4096}, b"", code, moved, ("Conv_1", ""))
    file = tmp_path / "a.dla"
    file.write_bytes(container.save(VANILLA.description, made))
    assert main(["disasm", str(file)]) == 0
    text = capsys.readouterr().out
    first = "load_weights region=0 source=0x40 destination=0x10 length=48 ; Conv_1\n"
    assert text == f"{first}end wait.load=1\n"
    assert assemble(VANILLA, text) == code


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"nothing", "offset 0x0: error: starts with b'noth'"),
        (b"TDLA\x03\0", "offset 0x6: error: the header is cut short"),
        (b"TDLA\x03\0" + bytes(34) + b"\n\xfftd\x1b" + bytes(19), "no accelerator is called '\\n"),
        (b"TDLA\x03\0" + bytes(34) + b"other" + bytes(19), "a.dla, offset 0x28: error: no acc"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, message: str
) -> None:
    file = tmp_path / "a.dla"
    file.write_bytes(data)
    assert main(["disasm", str(file)]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.removesuffix("\n").isprintable()


def test_a_missing_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disasm", "/nowhere/a.dla"]) == 1
    assert "cannot read '/nowhere/a.dla'" in capsys.readouterr().err


def test_a_package_is_read_with_its_own_description(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    convs = TwoConvs()
    package(convs).save(tmp_path / "a.trv")
    assert main(["disasm", str(tmp_path / "a.trv")]) == 0
    heading, _, text = capsys.readouterr().out.partition("\n")
    assert heading == "; dla/a.tdla"
    assert text.splitlines()[2].endswith(" ; conv_1")
    assert assemble(VANILLA, text) == convs.container().code
    assert main(["disasm", str(tmp_path / "a.trv"), "--description", str(FILE)]) == 2


def test_a_package_for_no_accelerator_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Package.create(replace(manifest(), steps=()), {}).save(tmp_path / "a.trv")
    assert main(["disasm", str(tmp_path / "a.trv")]) == 1
    assert "has nothing for an accelerator" in capsys.readouterr().err


def test_a_container_for_another_description_needs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FILE.read_text().replace("latency = 64", "latency = 99")
    (tmp_path / "slow.toml").write_text(text)
    slow = InstructionSet(parse_description(text), CLASSES)
    code = slow.encode_stream([End()])
    (tmp_path / "a.tdla").write_bytes(container.save(slow.description, Container({}, b"", code)))
    assert main(["disasm", str(tmp_path / "a.tdla")]) == 1
    assert "made for another description" in capsys.readouterr().err
    flags = ["--description", str(tmp_path / "slow.toml")]
    assert main(["disasm", str(tmp_path / "a.tdla"), *flags]) == 0
    assert capsys.readouterr().out == "end\n"
