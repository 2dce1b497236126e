"""What the emulator of the runtime computes on the CPU, in a task of the same loadable."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from test_nvdla_cpu import FP16, pooled, with_cpu_task
from test_nvdla_halves import FULL, HALF, drawn, floats, model
from trivium.compiler.check import can_run
from trivium.dialects.core.tensor import Array
from trivium.runtime.dla.part import DlaPart
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.cpu.descriptors import (
    Buffer,
    EmulatorTask,
    Softmax,
    decoded_tasks,
)
from trivium.targets.dla.nvdla.device import NvdlaDevice
from trivium.targets.dla.nvdla.format.dla_task import DlaTask, Tables
from trivium.targets.dla.nvdla.format.loadable import Interface, Loadable
from trivium.targets.dla.nvdla.format.network import NEWEST
from trivium.targets.dla.nvdla.format.packed import encode
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.timing.timeline import task_time
from trivium.test.unit.targets.dla.image_networks import CLASSIC, PictureNet
from trivium.test.unit.targets.dla.nvdla.compared import (
    Simulated,
    cosine,
    interpreted,
    simulated,
    unequal,
)
from trivium.tools.reports.loadable_simulation import simulate_loadable

DLA, EMU = Interface.DLA1, Interface.EMU1


def softmax(x: Array) -> Array:
    """Return the softmax along axis 1, in float64."""
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def compiled(made: onnx.ModelProto, x: Array) -> tuple[Simulated, list[Loadable]]:
    """Compile a model and run it; its loadables must give the bits of the references."""
    found = simulated(made, FULL, [x], "fp16")
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    part = found.package.manifest.part(DlaPart)
    assert part is not None
    entries = [bytes(found.package.entries[each.entry]) for each in part.loadables]
    return found, [Loadable.read(each) for each in entries]


def interfaces(loadable: Loadable) -> list[int]:
    tasks = {each.id: each.interface for each in loadable.task_list}
    return [tasks[number] for submit in loadable.submit_list for number in submit.task_id]


@pytest.mark.parametrize("shape", [(1, 10), (3, 45), (2, 33, 1, 1)])
def test_a_softmax_alone_is_a_task_of_the_cpu(shape: tuple[int, ...]) -> None:
    made, x = model("y = Softmax <axis = 1> (x)", shape), 4 * drawn(*shape)
    kept = x.copy()
    found, (loadable,) = compiled(made, x)
    assert interfaces(loadable) == [EMU]
    expected = softmax(x.astype(np.float16))
    assert (np.abs(found.outputs[0] - expected) <= np.spacing(expected.astype(np.float16))).all()
    np.testing.assert_array_equal(x, kept)


def test_a_softmax_runs_between_tasks_of_the_engines() -> None:
    body = """c = Conv (x, w) g = GlobalAveragePool (c) f = Flatten (g)
        s = Softmax (f) y = Gemm <transB = 1> (s, m)"""
    made = model(body, (2, 20, 5, 4), w=drawn(37, 20, 1, 1), m=drawn(6, 37))
    x = drawn(2, 20, 5, 4)
    found, (loadable,) = compiled(made, x)
    assert interfaces(loadable) == [DLA, EMU, DLA]
    expected = floats(made, x)
    assert np.abs(found.outputs[0] - expected).max() < HALF * np.abs(expected).max()
    first, second, third = loadable.task_list
    events = {each.id: each for each in loadable.event_list}
    assert (first.pre_actions, third.post_actions) == ((), ())
    for before, after in ((first, second), (second, third)):
        (signal,), (wait,) = before.post_actions, after.pre_actions
        assert (events[signal].op, events[wait].op) == (1, 0)
        assert (events[signal].target, events[signal].val) == (
            events[wait].target,
            events[wait].val,
        )
    assert {events[each.post_actions[0]].val for each in (first, second)} == {1, 2}


def test_each_task_has_addresses_of_its_own() -> None:
    body = "a = Softmax <axis = 1> (x) b = Relu (a) y = Softmax <axis = 1> (b)"
    _, (loadable,) = compiled(model(body, (1, 45, 1, 1)), drawn(1, 45, 1, 1))
    tasks = decoded_tasks(Tables(loadable))
    assert [type(each) for each in tasks] == [EmulatorTask, DlaTask, EmulatorTask]
    for task, entry in zip(tasks, loadable.task_list, strict=True):
        assert len(task.addresses) == len(entry.address_list) == len(set(entry.address_list))
        if isinstance(task, DlaTask):
            assert task.network.addresses == len(task.addresses)
    names = [each.name for each in loadable.blobs]
    assert {"task-0-op_buf_list", "task-1-dep_graph", "task-2-op_list"} <= set(names)
    assert len(names) == len(set(names))


def test_lenet_is_one_loadable_between_casts() -> None:
    build, shape = CLASSIC["lenet"]
    net = PictureNet(shape, thin=10)
    made, x = net.model(build(net)), net.inputs()
    found, (loadable,) = compiled(made, x)
    assert interfaces(loadable) == [DLA, EMU]
    assert cosine(found.outputs[0], floats(made, x)) > 0.9999
    assert [n.node for n in can_run(made, target=FULL, precision="fp16") if not n.runs] == []
    assert len(found.package.manifest.steps) == 3


JOINED = {
    "rows": "a = Softmax <axis = 1> (x) b = Relu (x) y = Concat <axis = 2> (a, b, a)",
    "channels": "a = Softmax <axis = 1> (x) b = Relu (x) y = Concat <axis = 1> (a, b)",
    "operand": """r = Relu (x) t = Mul (x, k) j = Concat <axis = 2> (r, t)
        s = Softmax <axis = 1> (t) u = Concat <axis = 2> (s, s) y = Add (u, j)""",
    "window": """r = Relu (x) t = Slice (r, start, end, axes) s = Softmax <axis = 1> (t)
        y = Mul (s, k)""",
}


@pytest.mark.parametrize("name", JOINED)
def test_channels_of_a_softmax_stand_one_behind_the_other(name: str) -> None:
    body = JOINED[name]
    shape = (1, 40, 3, 2) if name == "window" else (1, 40, 1, 1)
    weights: dict[str, Any] = {"k": 0.5} if "k)" in body else {}
    made, x = model(body, shape, **weights), drawn(*shape)
    for key, numbers in {"start": [1, 1], "end": [2, 2], "axes": [2, 3]}.items():
        made.graph.initializer.append(numpy_helper.from_array(np.array(numbers), key))
    found, (loadable,) = compiled(made, x)
    assert EMU in interfaces(loadable)
    expected = floats(made, x)
    assert np.abs(found.outputs[0] - expected).max() < HALF * np.abs(expected).max()


def test_a_softmax_over_more_pixels_or_of_bytes_stays_a_step_of_the_package() -> None:
    shapes = {(1, 8, 2, 1): (1, "1 of 1x8x2x1"), (1, 4, 8): (2, "2 of 1x4x8")}
    for shape, (axis, has) in shapes.items():
        (told,) = can_run(
            model(f"y = Softmax <axis = {axis}> (x)", shape), target=FULL, precision="fp16"
        )
        reason = f"nv_full has a softmax over channels of one pixel, not axis {has}"
        assert not told.runs
        assert reason in told.refusals


POWERS = {
    "y = Sqrt (x)": 0.5,
    "y = Reciprocal (x)": -1.0,
    "y = Pow (x, e)": 1.7,
    "a = Sqrt (x) y = Reciprocal (a)": -0.5,
}


@pytest.mark.parametrize("body", POWERS)
def test_powers_are_tasks_of_the_cpu(body: str) -> None:
    weights: dict[str, Any] = {"e": 1.7} if "e)" in body else {}
    made, x = model(body, (2, 20, 3, 5), **weights), 0.25 + np.abs(drawn(2, 20, 3, 5))
    found, (loadable,) = compiled(made, x)
    assert interfaces(loadable) == [EMU]
    exponent = np.float16(POWERS[body]).astype(np.float64)
    expected = x.astype(np.float16).astype(np.float64) ** exponent
    assert (np.abs(found.outputs[0] / expected - 1) < 2**-10).all()


def test_powers_of_what_has_none_are_those_of_floats() -> None:
    made = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float16[1, 6] x) => (float16[1, 6] y, float16[1, 6] z) {
            y = Sqrt (x)
            z = Reciprocal (x)
        }
    """)
    x = np.array([[-1, 0.0, -0.0, 2**-24, 65504, 1]], np.float16)
    roots, shares = simulated(made, FULL, [x]).outputs
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(roots, np.sqrt(x))
        np.testing.assert_array_equal(shares, np.float16(1) / x)


def test_powers_with_other_exponents_stay_steps_of_the_package() -> None:
    name = "nv_full has one exponent for all elements"
    (told,) = can_run(
        model("y = Pow (x, e)", (1, 3, 2, 2), e=drawn(3, 1, 1)), target=FULL, precision="fp16"
    )
    assert name in told.refusals
    (told,) = can_run(model("y = Pow (e, x)", (1, 3), e=2.0), target=FULL, precision="fp16")
    assert not told.runs


def test_the_timeline_has_the_tasks_of_the_engines_one_after_another() -> None:
    body = "a = Relu (x) b = Softmax <axis = 1> (a) y = Mul (b, b)"
    _, (loadable,) = compiled(model(body, (1, 45, 1, 1)), drawn(1, 45, 1, 1))
    device = NvdlaDevice(published()["nv_full"], loadable)
    assert device.operations == {"SDP": 2, "EMU": 1}
    first, second = (
        task_time(each, device.configuration).report.cycles
        for each in decoded_tasks(Tables(loadable))
        if isinstance(each, DlaTask)
    )
    spans = [(run.start, run.end) for run in device.report().runs]
    assert spans == [(0, first), (first, first + second)]
    text = simulate_loadable(loadable, device.configuration).text()
    assert "task 1 on the CPU: 1 operation\n  operation 0 (softmax on the CPU)\n" in text


def test_a_softmax_of_channels_with_gaps_is_a_fault() -> None:
    loadable = with_cpu_task(pooled((37, 2, 1), FP16), Softmax())
    apart = Buffer(3, 0, 0, 3, 1, 1, 37, line_stride=32, surface_stride=64)
    data = 2 * encode(apart, NEWEST).ljust(256, b"\0")
    blobs = [replace(b, data=data) if b.name == "cpu2" else b for b in loadable.blobs]
    found = [
        each.message for each in lint(replace(loadable, blobs=tuple(blobs)), published()["nv_full"])
    ]
    fault = "has surface stride 64, must be 32 for a softmax"
    assert found == [f"'source' {fault}", f"'destination' {fault}"]


def test_a_quantised_model_has_its_softmax_in_fp16(tmp_path: Path) -> None:
    build, shape = CLASSIC["lenet"]
    net, file = PictureNet(shape, thin=10), tmp_path / "q.onnx"
    net.quantized(build(net), file, 4)
    made, x = onnx.load(file), net.inputs()
    found, (integers, halves) = compiled(made, x)
    assert (interfaces(integers), interfaces(halves)) == ([DLA], [EMU])
    assert [each.data_type for each in integers.tensor_desc_list] == [4, 4]
    on_cpu = simulated(made, FULL, [x])
    assert np.abs(found.outputs[0] - on_cpu.outputs[0]).max() < HALF
    assert [n.node for n in can_run(made, target=FULL, precision="fp16") if not n.runs] == []
