"""Compressed weights: the results of plain ones, and faults."""

from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Address, Blob, Loadable, Memory, MemoryFlags
from trivium.targets.dla.nvdla.format.network import Cube, Storage
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.reference.compressed import compress, decompress
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import changed
from trivium.test.unit.targets.dla.nvdla.recorded import vector

FULL = published()["nv_full"]
RECORDED = vector("nv_full", "06_conv")


def with_memory(loadable: Loadable, data: bytes) -> tuple[Loadable, int]:
    """Return a loadable with one more memory, and the index of its address in the task."""
    number = max(each.id for each in loadable.memory_list) + 1
    address = max(each.id for each in loadable.address_list) + 1
    flags = MemoryFlags.ALLOCATE | MemoryFlags.SET
    memory = Memory(number, 0, flags, len(data), 4096, (f"m{number}",), (0,))
    (task,) = loadable.task_list
    return replace(
        loadable,
        memory_list=(*loadable.memory_list, memory),
        address_list=(*loadable.address_list, Address(address, number, 0, len(data))),
        blobs=(*loadable.blobs, Blob(f"m{number}", len(data), data=data)),
        task_list=(replace(task, address_list=(*task.address_list, address)),),
    ), len(task.address_list)


def compressed(sparse: bool) -> tuple[Loadable, Loadable]:
    """Return the recorded convolution, maybe with zeros among its weights, twice."""
    loadable = Loadable.read(RECORDED.loadable)
    (task,) = dla_tasks(Tables(loadable))
    conv = task.operations[0]
    cube = conv.surface.weights
    name = loadable.memory_list[task.addresses[cube.address].mem_id].contents[0]
    blobs = {each.name: each.data for each in loadable.blobs}
    weights = np.frombuffer(blobs[name], np.int8)[cube.offset : cube.offset + cube.size].copy()
    if sparse:
        weights[np.random.default_rng(0).random(weights.size) < 0.7] = 0
    plain, index = with_memory(loadable, weights.tobytes())
    plain = changed(plain, 0, "surface", weights=replace(cube, address=index, offset=0))
    # By numpy alone: what is not 0, and a bit for each, the lowest first.
    values, mask = weights[weights != 0], np.packbits(weights != 0, bitorder="little")
    parts = [each.tobytes() + bytes(-each.nbytes % 128) for each in (values, mask)]
    found, cubes = loadable, []
    for part in (*parts, bytes(128)):
        found, index = with_memory(found, part)
        cubes.append(Cube(Storage.DRAM, index, 0, len(part)))
    names = ("weights", "weight_mask", "weight_groups")
    found = changed(found, 0, "surface", **dict(zip(names, cubes, strict=True)))
    return plain, changed(found, 0, "descriptor", weight_format=1)


@pytest.mark.parametrize("sparse", [False, True])
def test_results_are_those_of_plain_weights(sparse: bool) -> None:
    plain, made = compressed(sparse)
    assert lint(made, FULL) == ()
    (expected,) = run(plain, FULL, RECORDED.inputs)
    (found,) = run(made, FULL, RECORDED.inputs)
    assert np.array_equal(found, expected)
    assert np.array_equal(found, RECORDED.output) == (not sparse)


def test_faults_of_compression() -> None:
    _, made = compressed(True)
    without = replace(FULL, compression=False, name="plain")
    (fault,) = lint(made, without)
    assert fault.message == "has weights of format 1, plain has none such"
    (task,) = dla_tasks(Tables(made))
    mask = task.operations[0].surface.weight_mask
    short = changed(made, 0, "surface", weight_mask=replace(mask, size=64))
    assert any("has a mask of 64 bytes" in each.message for each in lint(short, FULL))
    crowded = changed(made, 0, "descriptor", data_banks=8, weight_banks=8)
    assert "needs 17 banks of CBUF, nv_full has 16" in [e.message for e in lint(crowded, FULL)]


@pytest.mark.parametrize("size", [1, 2])
def test_compression_is_undone(size: int) -> None:
    weights = np.random.default_rng(1).integers(0, 2, 300).astype(np.uint8).tobytes()
    count = len(weights) // size
    stored, mask = (np.frombuffer(each, np.uint8) for each in compress(weights, size))
    assert decompress(stored, mask, count, size) == weights
    with pytest.raises(ValueError, match="its mask needs"):
        decompress(stored[:-1], mask, count, size)
    with pytest.raises(ValueError, match="weights need a bit each"):
        decompress(stored, mask[:3], count, size)


def test_a_mask_of_more_weights_than_there_are_is_refused() -> None:
    _, made = compressed(True)
    (task,) = dla_tasks(Tables(made))
    cube = task.operations[0].surface.weights
    other = replace(made.blobs[-2], data=b"\xff" * len(made.blobs[-2].data))
    full = replace(made, blobs=(*made.blobs[:-2], other, made.blobs[-1]))
    assert cube.size < len(other.data) * 8
    with pytest.raises(CompileError, match=r"bytes of weights, its mask needs"):
        run(full, FULL, RECORDED.inputs)
