"""Transposed convolutions on NVDLA, beside ONNX Runtime and the integers of the CPU."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from small_networks import Net
from test_nvdla_target import computed, interpreted, loadables, one_step, reference
from trivium.compiler.check import can_run
from trivium.compiler.driver import build
from trivium.targets.choices import STRICT
from trivium.targets.dla.nvdla.configuration import find_configuration
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.operations import RUBIK
from trivium.targets.dla.nvdla.lint.linter import lint

onnxruntime = pytest.importorskip("onnxruntime")

CASES = {
    "plain": ((4, 4), {"strides": [2, 2], "pads": [1] * 4}),
    "grown": ((3, 3), {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}),
    "gaps": ((2, 1), {"strides": [3, 2], "output_padding": [0, 1]}),
    "cut": ((2, 5), {"strides": [3, 2], "pads": [0, 4, 3, 3], "group": 2}),
    "dilated": ((3, 2), {"strides": [2, 1], "dilations": [2, 3]}),
    "dense": ((3, 3), {"pads": [1] * 4}),
    "row": ((5,), {"strides": [4], "pads": [1, 0]}),
}


def quantized(case: str, folder: Path) -> tuple[onnx.ModelProto, np.ndarray]:
    kernel, attributes = CASES[case]
    net = Net(shape=(1, 6, 5, 7)[: len(kernel) + 2])
    shape = 6, 10 // attributes.get("group", 1), *kernel
    w = net.weight(net.random.normal(size=shape).astype(np.float32))
    y = net.op("Relu", net.op("ConvTranspose", "x", w, net.drawn(10), **attributes))
    file = folder / "net.onnx"
    net.quantized(y, file)
    return onnx.load(file), net.inputs()


@pytest.mark.parametrize("case", CASES)
def test_a_transposed_convolution_is_phases_and_a_contraction(case: str, tmp_path: Path) -> None:
    model, x = quantized(case, tmp_path)
    package = build(model, target="nvdla:nv_full", math=STRICT)
    found = computed(package, [x])
    np.testing.assert_array_max_ulp(found, interpreted(model, "nvdla:nv_full", [x]), 1)
    assert one_step(found, reference(model, [x]))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (expected,) = session.run(None, {"x": x})
    assert found.shape == expected.shape
    assert len(np.unique(found)) > 20
    assert one_step(found, expected)
    (made,) = loadables(package)
    assert lint(made, find_configuration("nv_full")) == ()
    (task,) = dla_tasks(Tables(made))
    assert [each.engine for each in task.operations].count(RUBIK) == 1


@pytest.mark.parametrize("configuration", ["nv_small", "nv_large"])
def test_without_rubik_it_is_refused(configuration: str, tmp_path: Path) -> None:
    quantized("plain", tmp_path)
    support = can_run(str(tmp_path / "net.onnx"), target=f"nvdla:{configuration}")
    reasons = {reason for node in support for reason in node.refusals}
    assert f"{configuration} has no RUBIK, which transposed convolutions need" in reasons
