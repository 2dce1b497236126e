"""Pools whose rows of results do not fit into the buffer of PDP, and those beyond its limits."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from small_networks import Net
from test_nvdla_halves import FULL, drawn, floats, model
from test_nvdla_target import interpreted as integers
from test_nvdla_target import loadables
from test_target import computed, reference
from trivium.compiler.check import can_run
from trivium.compiler.driver import build
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import FILE
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.operations import PdpOperation, TwoCubes
from trivium.test.unit.targets.dla.nvdla.compared import interpreted, simulated, unequal


def widths(loadable: Loadable) -> list[int]:
    """Return the columns that each pool computes."""
    (task,) = dla_tasks(Tables(loadable))
    return [
        each.surface.destination.width
        for each in task.operations
        if isinstance(each.descriptor, PdpOperation) and isinstance(each.surface, TwoCubes)
    ]


WIDE = {
    # 7 KiB of 28 bits for each of 16 channels are 128 columns; of 2, 4 or 8 lines fewer.
    "one line": ([2, 2], [2, 2], [0] * 4, 258, [64, 65]),
    "two lines": ([3, 3], [2, 2], [1] * 4, 128, [64]),
    "two lines, odd": ([3, 3], [2, 2], [1] * 4, 129, [32, 33]),
    "four lines": ([3, 2], [1, 3], [1, 1, 1, 1], 97, [16, 17]),
    "eight lines": ([5, 1], [1, 1], [2, 0, 2, 0], 40, [13, 13, 14]),
}
"""Kernel, strides, pads, columns of the image, and those of the parts."""


@pytest.mark.parametrize("name", WIDE)
def test_wide_pools_of_fp16_are_parts(name: str) -> None:
    kernel, strides, pads, columns, parts = WIDE[name]
    body = f"y = MaxPool <kernel_shape = {kernel}, strides = {strides}, pads = {pads}> (x)"
    made, x = model(body, (2, 20, 7, columns)), drawn(2, 20, 7, columns)
    found = simulated(made, FULL, [x], "fp16")
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    np.testing.assert_array_equal(
        found.outputs[0], floats(made, x.astype(np.float16).astype(np.float32))
    )
    loadable = Loadable.read(bytes(found.package.entries["dla/nvdla_0.nvdla"]))
    assert widths(loadable) == parts


@pytest.mark.parametrize(
    ("configuration", "parts"), [("nv_small", [65, 66]), ("nv_large", [26, 26, 26, 26, 27])]
)
def test_wide_pools_of_bytes_are_parts(
    configuration: str, parts: list[int], tmp_path: Path
) -> None:
    net = Net((1, 3, 5, 131))
    y = net.op("MaxPool", "x", kernel_shape=[3, 3], pads=[1] * 4)
    net.quantized(net.op("Relu", y), tmp_path / "q.onnx", 4)
    made, x = onnx.load(tmp_path / "q.onnx"), net.inputs()
    target = f"nvdla:{configuration}"
    package = build(made, target=target)
    found = computed(package, [x])
    np.testing.assert_array_equal(found, integers(made, target, [x]))
    np.testing.assert_array_equal(found, reference(made, [x]))
    (loadable,) = loadables(package)
    assert widths(loadable) == parts


def test_averages_of_wide_images_are_those_of_narrow_ones() -> None:
    body = "y = AveragePool <kernel_shape = [8, 8]> (x)"
    made, x = model(body, (1, 5, 9, 60)), drawn(1, 5, 9, 60)
    found = simulated(made, FULL, [x], "fp16")
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    loadable = Loadable.read(bytes(found.package.entries["dla/nvdla_0.nvdla"]))
    assert widths(loadable) == [13, 13, 13, 14]
    for first in (0, 20, 45):
        narrow = model(body, (1, 5, 9, 15))
        part = simulated(narrow, FULL, [x[..., first : first + 15]], "fp16").outputs[0]
        np.testing.assert_array_equal(found.outputs[0][..., first : first + 8], part)


def test_strides_that_the_firmware_refuses_are_refused() -> None:
    made = model("y = MaxPool <kernel_shape = [2, 2], strides = [9, 2]> (x)", (1, 5, 20, 4))
    (told,) = can_run(made, target=FULL, precision="fp16")
    assert "nv_full pools with strides of up to 8, not 9" in told.refusals


def test_a_configuration_may_have_another_buffer(tmp_path: Path) -> None:
    text = "[nv_full]" + FILE.read_text().split("[nv_full]")[1]
    made = model("y = MaxPool <kernel_shape = [3, 3]> (x)", (1, 5, 4, 6))
    file = tmp_path / "other.toml"
    for size, runs in ((448, True), (447, False)):
        # Of 16 channels with 28 bits, 4 lines of 2 columns are 448 bytes.
        file.write_text(text.replace("batch =", f"pdp_buffer = {size}\nbatch ="))
        (told,) = can_run(made, target=f"nvdla:{file}", precision="fp16")
        assert told.runs == runs
    assert "nv_full has 447 bytes for rows of pools, too few for these" in told.refusals
    file.write_text(text.replace("batch =", "pdp_buffer = 0\nbatch ="))
    with pytest.raises(CompileError, match="'pdp_buffer' is 0, must be a positive number"):
        can_run(made, target=f"nvdla:{file}", precision="fp16")
