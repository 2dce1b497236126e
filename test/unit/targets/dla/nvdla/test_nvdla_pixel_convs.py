"""Convolutions that read pixels: the bits of those that read feature data, in fewer cycles."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from small_networks import Net
from test_nvdla_target import computed, interpreted, loadables, one_step, reference
from trivium.compiler.driver import build
from trivium.targets.choices import STRICT
from trivium.targets.dla.nvdla.configuration import find_configuration
from trivium.targets.dla.nvdla.format.dla_task import Operation, Tables, dla_tasks
from trivium.targets.dla.nvdla.format.operations import ConvOperation
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.schedule import choose_pixels
from trivium.targets.dla.nvdla.timing.cycles import cost_of

CASES = {
    "colours": ((1, 3, 20, 21), (10, 3, 7, 7), {"strides": [2, 2], "pads": [3] * 4}),
    "grey": ((1, 1, 13, 12), (33, 1, 5, 3), {"pads": [0, 2, 1, 0]}),
    "pairs": ((2, 2, 9, 30), (8, 2, 3, 3), {"pads": [1] * 4, "strides": [1, 3]}),
    "row": ((1, 4, 50), (6, 4, 9), {"pads": [4, 4]}),
    "parts": ((1, 4, 96, 400), (4, 4, 3, 3), {"strides": [3, 4]}),
}


def quantized(case: str, folder: Path) -> tuple[onnx.ModelProto, np.ndarray]:
    shape, kernel, attributes = CASES[case]
    net = Net(shape=shape)
    y = net.op("Relu", net.op("Conv", "x", net.drawn(*kernel), net.drawn(kernel[0]), **attributes))
    net.quantized(y, folder / "net.onnx", 4 * shape[0])
    return onnx.load(folder / "net.onnx"), net.inputs(shape[0])


def convolutions(package, configuration: str) -> list[Operation]:
    (made,) = loadables(package)
    assert lint(made, find_configuration(configuration)) == ()
    (task,) = dla_tasks(Tables(made))
    return [each for each in task.operations if isinstance(each.descriptor, ConvOperation)]


@pytest.mark.parametrize("configuration", ["nv_small", "nv_full"])
@pytest.mark.parametrize("case", CASES)
def test_pixels_give_the_bits_of_feature_data(
    case: str, configuration: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, x = quantized(case, tmp_path)
    target, described = f"nvdla:{configuration}", find_configuration(configuration)
    package = build(model, target=target, math=STRICT)
    found = computed(package, [x])
    assert one_step(found, reference(model, [x]))
    if case != "parts":
        np.testing.assert_array_max_ulp(found, interpreted(model, target, [x]), 1)
    pixels = convolutions(package, configuration)
    assert {each.descriptor.data_format for each in pixels} == {0 if case == "grey" else 12}
    assert len(pixels) > 1 if (case, configuration) == ("parts", "nv_small") else len(pixels) == 1
    monkeypatch.setattr(choose_pixels, "_choose", lambda *_: None)
    package = build(model, target=target, math=STRICT)
    assert np.array_equal(computed(package, [x]), found)
    direct = convolutions(package, configuration)
    assert {each.descriptor.data_format for each in direct} == {36}
    cycles = [sum(cost_of(each, described).compute for each in part) for part in (pixels, direct)]
    assert cycles[0] < cycles[1]
