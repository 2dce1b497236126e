"""The simulator against the recorded results, and what it refuses."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import ABIS
from trivium.targets.dla.nvdla.format.operations import CONV
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import changed, encoded
from trivium.test.unit.targets.dla.nvdla.recorded import Array, vector, vectors

CHAINS = [each for each in vectors() if each.facts["kind"] == "chain13"]


@pytest.mark.parametrize("each", vectors(), ids=str)
def test_results_are_those_of_the_hardware(each) -> None:
    configuration = published()[each.configuration]
    (found,) = run(Loadable.read(each.loadable), configuration, each.inputs)
    assert found.dtype == np.int8
    assert np.array_equal(found, each.output)


@pytest.mark.parametrize("each", CHAINS, ids=str)
def test_every_layer_of_a_network(each) -> None:
    results: list[Array] = []

    def observe(operation, result: Array) -> None:
        if operation.engine != CONV:
            results.append(result)

    run(Loadable.read(each.loadable), published()[each.configuration], each.inputs, observe)
    assert len(results) == 8
    for number, result in enumerate(results):
        assert np.array_equal(result, each.arrays[f"layer{number}"])


def test_an_older_abi_gives_the_same_result() -> None:
    each = vector("nv_small", "02_conv")
    loadable = Loadable.read(each.loadable)
    (task,) = dla_tasks(Tables(loadable))
    older = encoded(loadable, replace(task, abi=ABIS[1]))
    versions = [replace(b.version, minor=11) for b in older.blobs]
    blobs = [replace(b, version=v) for b, v in zip(older.blobs, versions, strict=True)]
    (found,) = run(replace(older, blobs=tuple(blobs)), published()["nv_small"], each.inputs)
    assert np.array_equal(found, each.output)
    # Descriptors of one ABI under the number of the other are not run.
    with pytest.raises(CompileError):
        run(older, published()["nv_small"], each.inputs)


def test_the_other_configuration_is_refused() -> None:
    each = vector("nv_small", "13_pool")
    loadable = Loadable.read(each.loadable)
    with pytest.raises(CompileError, match="'source' has line stride 64, must be 256 or a larger"):
        run(loadable, published()["nv_full"], each.inputs)
    tensors = tuple(replace(tensor, pixel_format=36) for tensor in loadable.tensor_desc_list)
    with pytest.raises(CompileError, match="'in0' has pixel format 36, must be 37 for atoms of 8"):
        run(replace(loadable, tensor_desc_list=tensors), published()["nv_small"], each.inputs)


def test_tensors_of_impossible_sizes_are_refused() -> None:
    each = vector("nv_small", "13_pool")
    loadable = Loadable.read(each.loadable)
    tensors = tuple(replace(tensor, h=-9) for tensor in loadable.tensor_desc_list)
    with pytest.raises(CompileError, match="'in0' is 1x32x-9x8, must have sizes from 1"):
        run(replace(loadable, tensor_desc_list=tensors), published()["nv_small"], [each.inputs[0]])


def test_inputs_are_checked() -> None:
    each = vector("nv_full", "13_pool")
    loadable, full = Loadable.read(each.loadable), published()["nv_full"]
    (x,) = each.inputs
    with pytest.raises(CompileError, match="the loadable has 1 inputs, 2 are given"):
        run(loadable, full, [x, x])
    with pytest.raises(CompileError, match=r"input 'in0' is int8 \[32, 9, 7\], must be int8 \[32"):
        run(loadable, full, [x[:, :, 1:]])
    with pytest.raises(CompileError, match="is float32"):
        run(loadable, full, [x.astype(np.float32)])


REFUSED = [
    (0, {"data_format": 37}, "operation 0 (CONV): error: has data of format 37, must be 0 to 36"),
    (
        0,
        {"data_format": 12},
        "error: has 64 channels, pixels T_A8B8G8R8 have 4",
    ),
    (0, {"output_precision": 2}, "operation 0 (CONV): error: needs conversion of the precision"),
    (1, {"source_precision": 2}, "operation 1 (SDP): error: needs conversion of fp16 to int8"),
    (1, {"batch": 2}, "operation 1 (SDP): error: 'destination' has images 0 bytes apart, must be"),
    (1, {"batch": 33}, "operation 1 (SDP): error: has a batch of 33, nv_full has 32 or less"),
]


@pytest.mark.parametrize(("number", "values", "message"), REFUSED)
def test_what_is_not_simulated_is_refused(
    number: int, values: dict[str, int], message: str
) -> None:
    each = vector("nv_full", "06_conv")
    loadable = changed(Loadable.read(each.loadable), number, "descriptor", **values)
    with pytest.raises(CompileError) as raised:
        run(loadable, published()["nv_full"], each.inputs)
    assert message in str(raised.value)


def test_relu_in_stage_y_has_no_effect() -> None:
    each = vector("nv_full", "06_conv")
    loadable = Loadable.read(each.loadable)
    (task,) = dla_tasks(Tables(loadable))
    y = replace(task.operations[1].descriptor.y, enable=1, activation=1)
    other = changed(loadable, 1, "descriptor", y=y)
    (found,) = run(other, published()["nv_full"], each.inputs)
    assert found.min() < 0
    assert np.array_equal(found, each.output)


@pytest.mark.parametrize("name", ["05_conv", "12_eltadd", "17_pool"])
def test_damaged_descriptors_run_or_are_refused(name: str) -> None:
    each = vector("nv_small", name)
    loadable = Loadable.read(each.loadable)
    rng = np.random.default_rng(5)
    ran = 0
    for _ in range(150):
        blobs = list(loadable.blobs)
        number = int(rng.integers(0, 4))
        data = bytearray(blobs[number].data)
        used = [place for place, byte in enumerate(data) if byte]
        data[int(rng.choice(used))] = int(rng.choice([0, 1, 2, 127, 255]))
        blobs[number] = replace(blobs[number], data=bytes(data))
        with suppress(CompileError):
            run(replace(loadable, blobs=tuple(blobs)), published()["nv_small"], each.inputs)
            ran += 1
    assert 5 < ran < 150
