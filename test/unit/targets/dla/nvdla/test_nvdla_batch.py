"""Batches: a convolution of several images with the same weights."""

from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.device import NvdlaDevice
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import Precision
from trivium.targets.dla.nvdla.format.operations import Converter, SdpOperation, SdpSurface
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.memories import Memories
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import changed, encoded
from trivium.test.unit.targets.dla.nvdla.handmade import TABLES, Data, Step, cube, handmade
from trivium.test.unit.targets.dla.nvdla.recorded import Array, vector

FULL = published()["nv_full"]
RECORDED = vector("nv_full", "01_conv")
IMAGES = 3


def batched(images: int = IMAGES, fed: int = IMAGES) -> Loadable:
    """Return the recorded convolution for several images, one after the other in memory."""
    loadable = Loadable.read(RECORDED.loadable)
    (task,) = dla_tasks(Tables(loadable))
    conv, sdp = task.operations
    cubes = (conv.surface.source, sdp.surface.destination)
    places = [each.address for each in cubes]
    sizes = {each.address: each.size for each in cubes}
    memories = {task.addresses[each].mem_id: sizes[each] * (IMAGES - 1) for each in places}
    loadable = replace(
        loadable,
        memory_list=tuple(
            replace(each, size=each.size + memories.get(each.id, 0))
            for each in loadable.memory_list
        ),
        address_list=tuple(
            replace(each, size=each.size + memories.get(each.mem_id, 0))
            for each in loadable.address_list
        ),
    )
    first = replace(conv.descriptor, batch=images, batch_stride=sizes[places[0]])
    second = replace(sdp.descriptor, batch=fed, batch_stride=sizes[places[1]])
    operations = (replace(conv, descriptor=first), replace(sdp, descriptor=second))
    return encoded(loadable, replace(task, operations=operations))


def outputs(loadable: Loadable, images: list[Array], monkeypatch) -> list[Array]:
    """Run a loadable on images that are one after the other, and return all of its results."""
    (task,) = dla_tasks(Tables(loadable))
    conv, sdp = (each.surface for each in task.operations)
    found: list[Array] = []
    bind, output = Memories.bind, Memories.output

    def bind_all(self: Memories, tensor, image: Array) -> None:
        bind(self, tensor, image)
        for number, each in enumerate(images):
            source = replace(conv.source, offset=conv.source.size * number)
            self.write(task, source, each, Precision.INT8)

    def output_all(self: Memories, tensor) -> Array:
        for number in range(len(images)):
            place = replace(sdp.destination, offset=sdp.destination.size * number)
            found.append(self.read(task, place, Precision.INT8))
        return output(self, tensor)

    monkeypatch.setattr(Memories, "bind", bind_all)
    monkeypatch.setattr(Memories, "output", output_all)
    run(loadable, FULL, [images[0]])
    return found


def test_each_image_has_its_own_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    shape = RECORDED.inputs[0].shape
    images = [RECORDED.inputs[0], *(rng.integers(-128, 128, shape).astype(np.int8) for _ in "ab")]
    alone = [run(Loadable.read(RECORDED.loadable), FULL, [each])[0] for each in images]
    found = outputs(batched(), images, monkeypatch)
    assert np.array_equal(found[0], RECORDED.output)
    assert all(np.array_equal(*pair) for pair in zip(found, alone, strict=True))


def twice() -> Loadable:
    """Return a loadable that halves each image of a batch of two, in an operation of its own."""
    shape = 11, 3, 4
    data = [Data((22, 3, 4), role="input"), Data((22, 3, 4), role="output")]
    steps: list[Step] = []
    for number in range(2):
        cubes = [
            replace(cube([Data(shape)], 0, FULL), address=TABLES + place, offset=number * 32 * 12)
            for place in range(2)
        ]
        surface = SdpSurface(cubes[0], destination=cubes[1])
        steps.append(Step(SdpOperation(converter=Converter(1, 1, 1)), surface))
    data = [replace(each, contents=bytes(2 * 32 * 12)) for each in data]
    loadable = handmade(steps, data, FULL)
    tensors = [replace(each, n=2, c=11, size=2 * 32 * 12) for each in loadable.tensor_desc_list]
    return replace(loadable, tensor_desc_list=tuple(tensors))


def test_a_tensor_of_a_batch_has_its_images_one_after_the_other() -> None:
    images = np.random.default_rng(3).integers(-64, 64, (2, 11, 3, 4)).astype(np.int8) * 2
    (found,) = run(twice(), FULL, [images])
    assert np.array_equal(found, images // 2)
    with pytest.raises(CompileError, match=r"must be int8 \[2, 11, 3, 4\]"):
        run(twice(), FULL, [images[0]])
    tight = [replace(each, size=700) for each in twice().tensor_desc_list]
    with pytest.raises(CompileError, match="'t0' ends behind its memory, by its strides"):
        run(replace(twice(), tensor_desc_list=tuple(tight)), FULL, [images])


def test_a_device_runs_batches_that_a_loadable_is_made_for() -> None:
    images = np.random.default_rng(3).integers(-64, 64, (6, 11, 3, 4)).astype(np.int8) * 2
    device = NvdlaDevice(FULL, twice())
    assert device.input_shapes == [(2, 11, 3, 4)]
    (found,) = device.run([images])
    assert np.array_equal(found, images // 2)
    with pytest.raises(CompileError, match=r"inputs have \[5\] images, must have as many for each"):
        device.run([images[:5]])


def test_faults_of_batches() -> None:
    with pytest.raises(CompileError, match="has a batch of 2, must be that of the convolution"):
        run(batched(3, 2), FULL, RECORDED.inputs)
    found = [str(each) for each in lint(batched(), replace(FULL, batch=2))]
    engines = ("operation 0 (CONV)", "operation 1 (SDP)")
    assert found == [f"{each}: has a batch of 3, nv_full has 2 or less" for each in engines]
    loadable = changed(batched(), 0, "descriptor", batch_stride=48)
    found = [each.message for each in lint(loadable, FULL)]
    assert found == ["'source' has images 48 bytes apart, must be a multiple of 32"]
    loadable = changed(batched(), 0, "descriptor", batch=4)
    (fault,) = [each.message for each in lint(loadable, FULL)]
    assert fault.startswith("'source' ends at ")
