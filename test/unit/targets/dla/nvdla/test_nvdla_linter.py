"""The linter of loadables: clean ones have no findings, each fault is named where it is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import Consumer, Event
from trivium.targets.dla.nvdla.format.operations import CONV, PDP, SDP
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import changed, encoded
from trivium.test.unit.targets.dla.nvdla.recorded import vector, vectors

CHAIN = Loadable.read(vector("nv_full", "chain13_0").loadable)
CONV_ALONE = Loadable.read(vector("nv_full", "06_conv").loadable)


def findings(loadable: Loadable, configuration: str = "nv_full") -> list[str]:
    return [str(each) for each in lint(loadable, published()[configuration])]


@pytest.mark.parametrize("each", vectors(), ids=str)
def test_recorded_loadables_have_no_faults(each: Any) -> None:
    assert findings(Loadable.read(each.loadable), each.configuration) == []


def test_a_count_that_is_not_the_number_of_notifications() -> None:
    """Of the pool before it, of the convolution before it, and of the SDP that it feeds."""
    found = findings(changed(CHAIN, 3, "dependency", dependency_count=4))
    assert found[0] == "operation 3 (CONV): waits for 4 notifications, 3 arrive"
    assert "operation 3 (CONV): does not run: 1 notifications never arrive" in found


def test_a_cycle() -> None:
    """The convolution waits for the SDP that it feeds to complete."""
    (task,) = dla_tasks(Tables(CONV_ALONE))
    conv, sdp = task.operations
    consumers = list(sdp.dependency.consumers)
    consumers[CONV] = Consumer(0, Event.COMPLETED)
    waits = replace(conv.dependency, dependency_count=2)
    notifies = replace(sdp.dependency, consumers=tuple(consumers))
    cyclic = (replace(conv, dependency=waits), replace(sdp, dependency=notifies))
    found = findings(encoded(CONV_ALONE, replace(task, operations=cyclic)))
    assert found == [
        "operation 0 (CONV): does not run: 1 notifications never arrive",
        "operation 1 (SDP): does not run: it is never started",
    ]


def test_an_engine_whose_head_is_missing() -> None:
    (task,) = dla_tasks(Tables(CONV_ALONE))
    network = replace(task.network, heads=(-1, 0, -1, -1, -1, -1))
    found = findings(encoded(CONV_ALONE, replace(task, network=network)))
    assert any("operation 1 (SDP): does not run" in each for each in found)


@pytest.mark.parametrize(
    ("engine", "consumer", "message"),
    [
        (SDP, Consumer(99, Event.COMPLETED), "notifies operation 99, must be one of engine 2"),
        (PDP, Consumer(0, Event.COMPLETED), "notifies operation 0, must be one of engine 3"),
    ],
)
def test_consumers_out_of_range(engine: int, consumer: Consumer, message: str) -> None:
    consumers = [Consumer()] * 6
    consumers[engine] = consumer
    found = findings(changed(CHAIN, 0, "dependency", consumers=tuple(consumers)))
    assert found == [f"task 0: operation 0 (CONV) {message}"]


CUBES: list[tuple[str, dict[str, int], str]] = [
    ("destination", {"address": 99}, "'destination' has address 99, the task has 9 addresses"),
    ("destination", {"size": 2**31}, "'destination' ends at 0x80000000, its address at 0xc40"),
    ("destination", {"offset": 1}, "'destination' ends at 0xc41, its address at 0xc40"),
    ("destination", {"line_stride": 200}, "has line stride 200, must be 224 or a larger multiple"),
    ("destination", {"surface_stride": 8}, "'destination' has surface stride 8, must be 1568"),
    ("destination", {"surface_stride": 1600}, "ends at 0xc60 by its strides, its address at 0xc40"),
    ("destination", {"storage": 7}, "'destination' has storage 7, must be 0, 1 or 2"),
    ("destination", {"width": 0}, "'destination' has 64x7x0 elements, must have some"),
]


@pytest.mark.parametrize(("name", "values", "message"), CUBES)
def test_cubes_that_are_not_in_their_addresses(
    name: str, values: dict[str, int], message: str
) -> None:
    (task,) = dla_tasks(Tables(CONV_ALONE))
    cube = replace(getattr(task.operations[1].surface, name), **values)
    (found,) = findings(changed(CONV_ALONE, 1, "surface", **{name: cube}))[:1]
    assert found.startswith("operation 1 (SDP): ")
    assert message in found


CONVS: list[tuple[dict[str, int], str]] = [
    ({"data_banks": 9, "weight_banks": 8}, "needs 17 banks of CBUF, nv_full has 16"),
    ({"weight_banks": 0}, "has no banks of CBUF for data or for weights, must have both"),
    ({"entries_per_slice": 5}, "has 5 entries per row in CBUF, must be 4"),
    ({"width_cmac": 6}, "has output 6x7, its window and strides give 7x7"),
    ({"stride_x": 0}, "has stride 0, must be 1 or more"),
    ({"width_csc": 8, "width_cmac": 8}, "has another size of input than 'source'"),
    ({"bytes_per_kernel": 65}, "has 4096 bytes of weights, its kernels have 4160"),
    ({"bytes_per_kernel": 65}, "has 65 bytes for each kernel, must be 64"),
    ({"input_precision": 9}, "nv_full has no precision 9, must be int8 or int16 or fp16"),
]


@pytest.mark.parametrize(("values", "message"), CONVS)
def test_sizes_and_banks_of_a_convolution(values: dict[str, int], message: str) -> None:
    found = findings(changed(CONV_ALONE, 0, "descriptor", **values))
    assert f"operation 0 (CONV): {message}" in found


POOLS: list[tuple[dict[str, int], str]] = [
    ({"stride_y": 0}, "has stride 0, must be 1 or more"),
    ({"stride_x": 2}, "has output 8x9, its window and strides give 4x9"),
    ({"window_width": 8, "pad_left": 7}, "has a window of 9x3, must be 8x8 or less"),
]


@pytest.mark.parametrize(("values", "message"), POOLS)
def test_sizes_of_a_pool(values: dict[str, int], message: str) -> None:
    alone = Loadable.read(vector("nv_full", "13_pool").loadable)
    assert f"operation 0 (PDP): {message}" in findings(changed(alone, 0, "descriptor", **values))


def test_an_operation_that_is_fed_by_memory_does_not_run_on_the_fly() -> None:
    (task,) = dla_tasks(Tables(CONV_ALONE))
    source = task.operations[1].surface.destination  # type: ignore[union-attr]
    found = findings(changed(CONV_ALONE, 1, "surface", source=source))
    assert "operation 0 (CONV): does not run: it is never started" in found


def test_what_a_configuration_lacks_is_named() -> None:
    small = Loadable.read(vector("nv_small", "06_conv").loadable)
    (task,) = dla_tasks(Tables(small))
    y = replace(task.operations[1].descriptor.y, enable=1)  # type: ignore[union-attr]
    found = findings(changed(small, 1, "descriptor", y=y), "nv_small")
    assert found == ["operation 1 (SDP): nv_small has no stage Y of SDP"]
    found = findings(changed(small, 1, "descriptor", source_precision=2), "nv_small")
    assert found == ["operation 1 (SDP): nv_small has no fp16, must be int8"]


def with_tensors(loadable: Loadable, **changes: int) -> Loadable:
    tensors = (replace(each, **changes) for each in loadable.tensor_desc_list)
    return replace(loadable, tensor_desc_list=tuple(tensors))


TABLES: list[tuple[Callable[[Loadable], Loadable], str]] = [
    (
        lambda it: replace(it, memory_list=(*it.memory_list, it.memory_list[0])),
        "memory 0: exists more than once",
    ),
    (
        lambda it: replace(it, blobs=it.blobs[:-1]),
        "memory 8: has contents 'b_scale', and there is no such blob",
    ),
    (
        lambda it: replace(it, submit_list=(replace(it.submit_list[0], task_id=(3,)),)),
        "submit 0: runs task 3, which does not exist",
    ),
    (
        lambda it: replace(it, tensor_desc_list=it.tensor_desc_list[:1]),
        "memory 6: has tensor 1, which does not exist",
    ),
    (
        lambda it: replace(
            it, tensor_desc_list=tuple(replace(t, mem_id=5) for t in it.tensor_desc_list)
        ),
        "memory 6: tensor 'y' is in memory 5",
    ),
    (
        lambda it: with_tensors(it, h=-3),
        "memory 6: tensor 'y' is 1x64x-3x7, must have sizes from 1",
    ),
    (
        lambda it: with_tensors(it, h=70_000),
        "memory 6: tensor 'y' has 31360000 elements in 3136 bytes",
    ),
    (
        lambda it: replace(it, address_list=(replace(it.address_list[0], offset=41),)),
        "address 0: starts at 0x29, the memory ends at 0x28",
    ),
    (
        lambda it: replace(it, blobs=(replace(it.blobs[0], data=bytes(39)), *it.blobs[1:])),
        "blob 'b_net', offset 0x0: the header ends at 0x28, the blob at 0x27",
    ),
    (
        lambda it: replace(
            it, memory_list=tuple(replace(each, bind_id=each.flags) for each in it.memory_list)
        ),
        "inputs: have bind ids [5], must be 0 to 0",
    ),
]


@pytest.mark.parametrize(("change", "message"), TABLES)
def test_faults_of_the_tables(change: Callable[[Loadable], Loadable], message: str) -> None:
    assert message in findings(change(CONV_ALONE))


def test_an_address_ends_with_its_memory() -> None:
    """The vendor's compiler states the size of a whole buffer for a part of it."""
    long = [replace(each, size=each.size + 4096) for each in CONV_ALONE.address_list]
    assert findings(replace(CONV_ALONE, address_list=tuple(long))) == findings(CONV_ALONE)
    (task,) = dla_tasks(Tables(CONV_ALONE))
    source = task.operations[0].surface.source
    more = changed(CONV_ALONE, 0, "surface", source=replace(source, size=source.size + 4096))
    (found,) = findings(replace(more, address_list=tuple(long)))
    assert found.startswith("operation 0 (CONV): 'source' ends at ")


def test_another_abi_is_refused() -> None:
    blobs = tuple(replace(b, version=replace(b.version, minor=13)) for b in CONV_ALONE.blobs)
    (found,) = findings(replace(CONV_ALONE, blobs=blobs))
    assert "offset 0x0: has ABI 0.13, must be one of 0.10, 0.11, 0.12" in found
