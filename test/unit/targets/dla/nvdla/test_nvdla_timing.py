"""Cycles and timelines of loadables, and `trivium simulate`; expected numbers are by hand."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.operations import CONV, PDP, SDP
from trivium.targets.dla.nvdla.timing.timeline import TaskTime, task_time
from trivium.test.unit.targets.dla.nvdla.recorded import Vector, vector
from trivium.tools.main import main


def timed(each: Vector, **rates: int) -> TaskTime:
    (task,) = dla_tasks(Tables(Loadable.read(each.loadable)))
    configuration = published()[each.configuration]
    assert configuration.rates is not None
    return task_time(task, replace(configuration, rates=replace(configuration.rates, **rates)))


@pytest.mark.parametrize("name", ["nv_full", "nv_small"])
def test_a_convolution_takes_a_cycle_for_each_group_block_place_and_pixel(name: str) -> None:
    each = vector(name, "06_conv")
    configuration = published()[name]
    kernels, channels, height, width = each.arrays["w"].shape
    pixels = each.output.shape[1] * each.output.shape[2]
    groups = -(-kernels // configuration.macs_kernels)
    blocks = -(-channels // configuration.macs_channels)
    conv, sdp = timed(each).costs
    assert conv.compute == groups * blocks * height * width * pixels
    loaded = each.inputs[0].size + -(-each.arrays["w"].size // 128) * 128
    assert conv.bytes_moved == {"dram read": loaded}
    assert conv.memory == -(-loaded // {"nv_full": 64, "nv_small": 8}[name])
    assert sdp.bytes_moved["dram written"] == each.output.size
    # Both run as one, as long as the slower.
    report = timed(each).report
    assert {(run.start, run.end) for run in report.runs} == {(0, max(conv.cycles, sdp.cycles))}


def test_rates_are_those_of_the_configuration() -> None:
    each = vector("nv_small", "13_pool")
    (slow,) = timed(each).costs
    assert slow.compute == each.inputs[0].size
    (fast,) = timed(each, pdp_elements=4).costs
    assert fast.compute == slow.compute // 4
    (starved,) = timed(each, memory_bytes=1).costs
    assert starved.cycles == starved.memory == each.inputs[0].size + each.output.size
    (addition,) = timed(vector("nv_small", "10_eltadd")).costs
    assert addition.compute == vector("nv_small", "10_eltadd").output.size


def test_a_configuration_without_rates_has_no_times() -> None:
    each = vector("nv_small", "13_pool")
    (task,) = dla_tasks(Tables(Loadable.read(each.loadable)))
    with pytest.raises(CompileError, match="'nv_small' has no rates, must have for times"):
        task_time(task, replace(published()["nv_small"], rates=None))


@pytest.mark.parametrize("name", ["nv_full", "nv_small", "nv_large"])
def test_operations_of_an_engine_run_one_after_the_other(name: str) -> None:
    times = timed(vector(name, "chain13_0"))
    operations, runs = times.task.operations, times.report.runs
    assert sorted(run.number for run in runs) == list(range(13))
    for engine in (CONV, SDP, PDP):
        spans = [(r.start, r.end) for r in runs if operations[r.number].engine == engine]
        assert all(first[1] <= second[0] for first, second in pairwise(spans))
    ends = {run.number: run.end for run in runs}
    for run in runs:
        for other in operations:
            for consumer in other.dependency.consumers:
                if consumer.operation == run.number and consumer.event == 1:
                    assert ends[other.number] <= run.start
    alone = sum(cost.cycles for cost in times.costs)
    assert max(cost.cycles for cost in times.costs) <= times.report.cycles <= alone


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "conv.nvdla").write_bytes(vector("nv_full", "01_conv").loadable)
    return tmp_path / "conv.nvdla"


def test_simulate_prints_outputs_cycles_and_the_timeline(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    each = vector("nv_full", "01_conv")
    np.savez(file.with_suffix(".npz"), x=each.inputs[0])
    command = ["simulate", str(file), "--configuration", "nv_full"]
    assert main([*command, "--inputs", str(file.with_suffix(".npz"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    shape = "x".join(map(str, each.output.shape))
    assert lines[0] == f"y: int8 {shape}, from {each.output.min()} to {each.output.max()}"
    assert lines[2] == "task 0 on nv_full: 2 operations"
    assert lines[3].startswith("  operation 0 (CONV): cycles 0 to ")
    assert [line.split("|")[0].strip() for line in lines if "|" in line] == ["CONV", "SDP"]
    assert main([*command, "--json"]) == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert step["accelerator"] == "nv_full"
    assert step["packets"] == 2
    assert step["cycles"] == step["busy_cycles"]["CONV"]


REFUSED = [
    ([], "--configuration: a loadable does not say what it runs on"),
    (["--configuration", "nv_full", "--seed", "1"], "--seed: the operations of a loadable run in"),
    (["--configuration", "nv_ful"], "no configuration of NVDLA is called 'nv_ful'"),
]


@pytest.mark.parametrize(("more", "message"), REFUSED)
def test_what_simulate_refuses(
    file: Path, more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["simulate", str(file), *more])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code != 0
    assert message in capsys.readouterr().err


def test_other_inputs_are_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(file.with_suffix(".npz"), z=np.zeros(1, np.int8))
    command = ["simulate", str(file), "--configuration", "nv_full"]
    assert main([*command, "--inputs", str(file.with_suffix(".npz"))]) != 0
    assert "the inputs are z, must be x" in capsys.readouterr().err
