"""`trivium simulate`: what it prints and writes, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from json_schemas import faults
from trivium.runtime.dla.part import DESCRIPTION
from trivium.runtime.package import Package
from trivium.targets.dla.core import container
from trivium.targets.dla.core.packet import Packet
from trivium.test.unit.targets.dla.streams import (
    DESCRIPTION_BYTES,
    VANILLA,
    TwoConvs,
    manifest,
    package,
    two_convs,
)
from trivium.tools.main import main

CONVS = TwoConvs()
# By hand: latency or overhead of each packet, and its bytes or steps. Weights and tables are
# 1440 bytes; of 36 positions each, both convs take 9 steps, for one group of channels.
IMAGE = 36 * 16
LOADS = (64 + IMAGE // 16) + (64 + 1440 // 16)
CYCLES = LOADS + 2 * (32 + 9 * 36) + (64 + IMAGE // 16)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    package(CONVS).save(tmp_path / "convs.trv")
    return tmp_path / "convs.trv"


def with_stream(folder: Path, stream: list[Packet]) -> Path:
    data = container.save(VANILLA.description, CONVS.container(stream))
    package(CONVS, data).save(folder / "other.trv")
    return folder / "other.trv"


def test_the_timeline_cycles_and_bytes_are_printed(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "dla/a.tdla on vanilla: 6 packets of 2 nodes"
    assert lines[1] == f"  {CYCLES} cycles"
    assert f"  dram.outputs written: {IMAGE} bytes" in lines
    engines = [line.split("|") for line in lines if "|" in line]
    assert [name.strip() for name, *_ in engines] == ["load", "mac", "store"]
    assert all(len(marks) == 64 for _, marks, _ in engines)
    assert [float(percent.strip(" %")) for *_, percent in engines] == pytest.approx(
        [100 * busy / CYCLES for busy in (LOADS, CYCLES - LOADS - 100, 100)], abs=0.05
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_numbers_are_printed_and_no_order_changes_them(
    file: Path, tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "x.npz", x=CONVS.inputs(1))
    flags = ["--inputs", str(tmp_path / "x.npz"), "--seed", str(seed)]
    assert main(["simulate", str(file), *flags, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "trivium simulate"
    assert faults(document, "simulate") == []
    (step,) = document["steps"]
    assert step["entry"] == "dla/a.tdla"
    assert step["accelerator"] == "vanilla"
    assert step["nodes"] == ["conv_1", "conv_2"]
    assert (step["packets"], step["cycles"]) == (6, CYCLES)
    assert step["busy_cycles"] == {"load": LOADS, "mac": 2 * (32 + 9 * 36), "store": 100}
    assert step["utilisation"]["store"] == 100 / CYCLES
    assert step["bytes_moved"]["dram.constants read"] == 1440


def test_each_step_has_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = replace(manifest(), steps=manifest().steps * 2)
    entries = {"dla/a.tdla": CONVS.file(), DESCRIPTION: DESCRIPTION_BYTES}
    Package.create(twice, entries).save(tmp_path / "a.trv")
    assert main(["simulate", str(tmp_path / "a.trv")]) == 0
    assert capsys.readouterr().out.count(f"  {CYCLES} cycles\n") == 2


def test_faults_are_found_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load, weights, first, second, store, end = two_convs()
    # In the stream's own order, this one computes what it should.
    hasty = [load, weights, replace(first, waits={"load": 1}), second, store, end]
    assert main(["simulate", str(with_stream(tmp_path, hasty))]) == 1
    said = "dla/a.tdla, packet 2 of conv_1: error: missing dependency: reads bytes of weights that"
    assert said in capsys.readouterr().err


def test_what_there_is_nothing_to_simulate_of_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Package.create(replace(manifest(), steps=()), {}).save(tmp_path / "a.trv")
    assert main(["simulate", str(tmp_path / "a.trv")]) == 1
    assert "has nothing for an accelerator: compile it for one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.npz", None, "none.npz: cannot be read: No such file"),
        ("text.npz", b"text", "text.npz: is not a .npz file of numbers"),
        ("cut.npz", b"PK\3\4", "cut.npz: is not a .npz file of numbers"),
        ("empty.npz", b"", "empty.npz: is not a .npz file"),
    ],
)
def test_files_without_inputs_are_refused(
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes | None,
    message: str,
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["simulate", str(file), "--inputs", str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err


def test_other_inputs_are_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "z.npz", z=CONVS.inputs(1))
    np.save(tmp_path / "x.npy", CONVS.inputs(1))
    assert main(["simulate", str(file), "--inputs", str(tmp_path / "z.npz")]) == 1
    assert "no input is named 'z'" in capsys.readouterr().err
    assert main(["simulate", str(file), "--inputs", str(tmp_path / "x.npy")]) == 1
    assert "x.npy: is not a .npz file of numbers" in capsys.readouterr().err


def test_info_lists_steps_and_sizes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  0  dla  conv_1, conv_2  dla/a.tdla on vanilla" in lines
    size = f"{len(CONVS.file()) / 1024:.1f} KiB"
    what = "constants and code for accelerators, 1 container"
    assert any(line.split() == f"{size} {what}".split() for line in lines)
