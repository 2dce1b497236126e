"""Pools of what SDP hands on, which is in no memory."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from small_networks import Net
from test_nvdla_halves import FULL, HALF, drawn, floats, model
from test_nvdla_target import interpreted as integers
from test_nvdla_target import loadables, one_step
from test_target import computed, reference
from trivium.compiler.driver import build
from trivium.targets.dla.nvdla.format.dla_task import DlaTask, Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import Consumer, Event, Storage
from trivium.targets.dla.nvdla.format.operations import CONV, PDP, SDP, SdpSurface, TwoCubes
from trivium.test.unit.targets.dla.nvdla.compared import interpreted, simulated, unequal


def task_of(loadable: Loadable) -> DlaTask:
    (task,) = dla_tasks(Tables(loadable))
    return task


def fed(task: DlaTask) -> list[bool]:
    """Report of each pool whether it is fed on the fly."""
    return [
        each.surface.source.storage == Storage.ON_THE_FLY
        for each in task.operations
        if each.engine == PDP and isinstance(each.surface, TwoCubes)
    ]


@pytest.mark.parametrize("configuration", ["nv_small", "nv_full"])
def test_pools_of_bytes_are_fed_by_convolutions(configuration: str, tmp_path: Path) -> None:
    net = Net((2, 3, 20, 18))
    y = net.op("Relu", net.conv("x", 3, 20, 3))
    y = net.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = net.op("Relu", net.conv(y, 20, 9, 3))
    y = net.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    net.quantized(net.op("Relu", net.conv(y, 9, 5, 1)), tmp_path / "q.onnx", 16)
    made, x = onnx.load(tmp_path / "q.onnx"), net.inputs(2)
    target = f"nvdla:{configuration}"
    package = build(made, target=target)
    found = computed(package, [x])
    np.testing.assert_array_equal(found, integers(made, target, [x]))
    assert one_step(found, reference(made, [x]))
    (loadable,) = loadables(package)
    assert fed(task_of(loadable)) == [True, True]


def test_notifications_and_cubes_are_those_of_operations_that_run_as_one() -> None:
    body = "a = Conv (x, w) y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a)"
    made, x = model(body, (1, 20, 7, 9), w=drawn(7, 20, 1, 2)), drawn(1, 20, 7, 9)
    found = simulated(made, FULL, [x], "fp16")
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    expected = floats(made, x)
    assert np.abs(found.outputs[0] - expected).max() < HALF * np.abs(expected).max()
    loadable = Loadable.read(bytes(found.package.entries["dla/nvdla_0.nvdla"]))
    conv, sdp, pdp = task_of(loadable).operations
    assert [each.engine for each in (conv, sdp, pdp)] == [CONV, SDP, PDP]
    assert [each.dependency.dependency_count for each in (conv, sdp, pdp)] == [1, 2, 1]
    assert sdp.dependency.consumers[PDP] == Consumer(2, Event.PROGRAMMED)
    assert pdp.dependency.fused_parent == Consumer(1, Event.ENABLED)
    assert sdp.dependency.fused_parent == Consumer(0, Event.ENABLED)
    assert isinstance(sdp.surface, SdpSurface)
    assert isinstance(pdp.surface, TwoCubes)
    handed = sdp.surface.destination
    assert handed == pdp.surface.source
    assert (handed.storage, handed.address) == (Storage.ON_THE_FLY, -1)
    assert (handed.height, handed.width) == (7, 8)
    # The image in between is in no memory: there is none but those of inputs and outputs.
    assert sum(not each.contents and not each.flags & 12 for each in loadable.memory_list) == 0


KEPT = {
    "read twice": (
        """a = Conv (x, w) p = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (a)
        y = Add (a, p)""",
        (1, 20, 7, 9),
        [False],
    ),
    "an output": (
        "a = Conv (x, w) y = MaxPool <kernel_shape = [2, 2]> (a)",
        (1, 20, 7, 9),
        [False],
    ),
    "too wide": (
        "a = Conv (x, w) y = MaxPool <kernel_shape = [3, 3]> (a)",
        *((1, 20, 7, 40), [False, False]),
    ),
    "not of a convolution": (
        "a = Relu (x) y = MaxPool <kernel_shape = [2, 2]> (a)",
        *((1, 20, 7, 9), [False]),
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_pools_read_memory_where_results_have_to_be_there(name: str) -> None:
    body, shape, kept = KEPT[name]
    weights = {"w": drawn(20, 20, 1, 1)} if "Conv" in body else {}
    made, x = model(body, shape, **weights), drawn(*shape)
    if name == "an output":
        a = onnx.helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, (1, 20, 7, 9))
        made.graph.output.append(a)
    found = simulated(made, FULL, [x], "fp16")
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    loadable = Loadable.read(bytes(found.package.entries["dla/nvdla_0.nvdla"]))
    assert fed(task_of(loadable)) == kept
