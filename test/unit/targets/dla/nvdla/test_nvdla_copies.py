"""Copies of BDMA: their bytes, and faults that the firmware refuses."""

from dataclasses import replace

import numpy as np
import pytest
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Operation, Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import Dependency
from trivium.targets.dla.nvdla.format.operations import BdmaOperation, BdmaSurface, Transfer
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.reference.bdma import copy, extent
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import encoded
from trivium.test.unit.targets.dla.nvdla.recorded import vector

ADDITION = vector("nv_full", "11_eltadd")
TRANSFER = Transfer(
    source=4,
    destination=6,
    line_size=64,
    line_repeat=3,
    source_line=96,
    destination_line=64,
    surface_repeat=2,
    source_surface=288,
    destination_surface=200,
)


def loadable(*transfers: Transfer, count: int | None = None) -> Loadable:
    """Return the recorded addition's loadable with copies in the place of the addition."""
    found = Loadable.read(ADDITION.loadable)
    (task,) = dla_tasks(Tables(found))
    unused = (Transfer(),) * (20 - len(transfers))
    surface = BdmaSurface(0, 0, len(transfers) if count is None else count, (*transfers, *unused))
    operation = Operation(0, 0, Dependency(), BdmaOperation(len(transfers)), surface)
    network = replace(task.network, heads=(0, -1, -1, -1, -1, -1))
    return encoded(found, replace(task, network=network, operations=(operation,)))


def test_the_bytes_of_a_copy() -> None:
    source = np.arange(1000).astype(np.uint8)
    destination = np.full(1000, 255, np.uint8)
    copy(source, destination, TRANSFER)
    expected = np.full(1000, 255, np.uint8)
    for surface in range(2):
        for byte in range(3 * 64):
            line, within = divmod(byte, 64)
            value = source[surface * 288 + line * 96 + within]
            expected[surface * 200 + line * 64 + within] = value
    assert np.array_equal(destination, expected)
    assert extent(TRANSFER, 64, 200) == 200 + 3 * 64
    assert extent(TRANSFER, 96, 288) == 288 + 2 * 96 + 64


def test_the_simulator_copies_an_input_to_the_output() -> None:
    size = Loadable.read(ADDITION.loadable).tensor_desc_list[2].size
    whole = replace(TRANSFER, line_size=size, line_repeat=1, surface_repeat=1)
    whole = replace(whole, source_line=size, destination_line=size)
    whole = replace(whole, source_surface=size, destination_surface=size)
    (found,) = run(loadable(whole), published()["nv_full"], ADDITION.inputs)
    assert np.array_equal(found, ADDITION.inputs[0])


FAULTS: list[tuple[dict[str, int], str]] = [
    ({"line_size": 48}, "has lines of 48 bytes, must be a multiple of 32"),
    ({"surface_repeat": 0}, "has no lines or no surfaces, must have some"),
    ({"source_line": 32}, "has 'source_line' 32, must be 64 or more"),
    ({"destination_surface": 191}, "has 'destination_surface' 191, must be 192 or more"),
    ({"destination": 7}, "has destination address 7, the task has 7 addresses"),
    ({"surface_repeat": 99}, "has a source that ends at 0x6f40, its address at "),
]


@pytest.mark.parametrize(("values", "message"), FAULTS)
def test_faults_of_a_transfer(values: dict[str, int], message: str) -> None:
    found = [str(each) for each in lint(loadable(replace(TRANSFER, **values)), FULL)]
    assert any(each.startswith(f"operation 0 (BDMA): transfer 0 {message}") for each in found)


FULL = published()["nv_full"]


def test_too_many_transfers_and_a_configuration_without_bdma() -> None:
    (found,) = lint(loadable(*(TRANSFER,) * 20, count=21), FULL)
    assert found.message == "has 21 transfers, must be 20 or less"
    (found,) = lint(loadable(TRANSFER), published()["nv_large"])
    assert found.message.startswith("nv_large has no BDMA, must be one of ")
