"""Tasks of a loadable that run on the CPU: their descriptors, results and faults."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.cpu.descriptors import Buffer, EmulatorNetwork, Power, Softmax
from trivium.targets.dla.nvdla.format.listing import listing
from trivium.targets.dla.nvdla.format.loadable import (
    Address,
    Blob,
    Interface,
    Loadable,
    Memory,
    MemoryFlags,
    Submit,
    Task,
)
from trivium.targets.dla.nvdla.format.network import NEWEST, Precision
from trivium.targets.dla.nvdla.format.operations import PdpOperation, TwoCubes
from trivium.targets.dla.nvdla.format.packed import encode, offset_of, size_of
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.handmade import Data, Step, cube, handmade

FULL, SMALL = published()["nv_full"], published()["nv_small"]
FP16 = Precision.FP16


def test_descriptors_are_where_the_runtime_has_them() -> None:
    assert [offset_of(Power, name, NEWEST) for name in ("power", "scale", "shift")] == [12, 16, 20]
    assert (size_of(Power, NEWEST), size_of(Softmax, NEWEST)) == (24, 16)
    assert offset_of(Softmax, "axis", NEWEST) == 12
    names = ("offset", "size", "format", "channels", "line_stride", "surface_stride")
    assert [offset_of(Buffer, name, NEWEST) for name in names] == [2, 6, 10, 16, 18, 22]
    assert encode(EmulatorNetwork(1, 2, 3), NEWEST) == struct.pack("<hhH", 1, 2, 3)


def with_cpu_task(loadable: Loadable, *operations: Power | Softmax, **changed: int) -> Loadable:
    """Append a task that reads what the one before has written, and overwrites it in place."""
    (tensor,) = (each for each in loadable.tensor_desc_list if each.name == "t1")
    kind = {2: 3, 4: 0 if tensor.pixel_format == 36 else 1}[tensor.data_type]
    buffer = Buffer(
        3,
        format=kind,
        width=tensor.w,
        height=tensor.h,
        channels=tensor.c,
        line_stride=tensor.stride_1,
        surface_stride=tensor.stride_2,
    )
    buffers = [buffer, replace(buffer, **changed)] * len(operations)
    tables = [
        encode(EmulatorNetwork(1, 2, len(operations)), NEWEST).ljust(256, b"\0"),
        b"".join(encode(each, NEWEST).ljust(24, b"\0") for each in operations),
        b"".join(encode(each, NEWEST).ljust(256, b"\0") for each in buffers),
    ]
    first = len(loadable.memory_list)
    flags = MemoryFlags.ALLOCATE | MemoryFlags.SET
    memories = [
        Memory(first + i, 0, flags, len(each), 4096, (f"cpu{i}",), (0,))
        for i, each in enumerate(tables)
    ]
    addresses = [Address(each.id, each.id, 0, each.size) for each in memories]
    blobs = [Blob(f"cpu{i}", len(d), Interface.EMU1, 0, data=d) for i, d in enumerate(tables)]
    list_ = (*(each.id for each in addresses), tensor.mem_id)
    return replace(
        loadable,
        task_list=(*loadable.task_list, Task(1, Interface.EMU1, -1, list_)),
        memory_list=(*loadable.memory_list, *memories),
        address_list=(*loadable.address_list, *addresses),
        blobs=(*loadable.blobs, *blobs),
        submit_list=(*loadable.submit_list, Submit(1, (1,))),
    )


def pooled(shape: tuple[int, int, int], kind: Precision, configuration=FULL) -> Loadable:
    """Return a loadable whose one operation copies its input: a pool of one element."""
    data = [Data(shape, kind, role="input"), Data(shape, kind, role="output")]
    surface = TwoCubes(cube(data, 0, configuration), cube(data, 1, configuration))
    step = Step(PdpOperation(mode=1, precision=kind), surface)
    return handmade([step], data, configuration)


def test_softmax_of_fp16_follows_the_hardware() -> None:
    x = np.random.default_rng(1).normal(0, 3, (37, 1, 1)).astype(np.float16)
    (found,) = run(with_cpu_task(pooled(x.shape, FP16), Softmax()), FULL, [x])
    wide = x.astype(np.float64)
    expected = np.exp(wide - wide.max()) / np.exp(wide - wide.max()).sum()
    assert np.abs(found - expected).max() <= np.spacing(np.float16(expected.max()))
    assert abs(float(found.astype(np.float64).sum()) - 1) < 2e-3


@pytest.mark.parametrize("name", ["nv_full", "nv_small"])
def test_softmax_of_int8_has_scales(name: str) -> None:
    configuration = published()[name]
    x = np.random.default_rng(2).integers(-128, 128, (10, 1, 1)).astype(np.int8)
    operation = Softmax(input_scale=0.0625, output_scale=1 / 128)
    loadable = with_cpu_task(pooled(x.shape, Precision.INT8, configuration), operation)
    (found,) = run(loadable, configuration, [x])
    wide = x.astype(np.float64) / 16
    expected = np.exp(wide - wide.max()) / np.exp(wide - wide.max()).sum()
    assert np.array_equal(found, np.minimum(np.floor(expected * 128), 127))


def test_powers_run_one_after_the_other() -> None:
    x = np.random.default_rng(3).integers(0, 100, (35, 2, 3)).astype(np.int8)
    twice = Power(input_scale=0.5, output_scale=0.5, power=2, scale=0.25, shift=1)
    loadable = with_cpu_task(pooled(x.shape, Precision.INT8), twice, twice)
    (found,) = run(loadable, FULL, [x])
    expected = x.astype(np.float64)
    for _ in range(2):
        expected = np.trunc(np.clip((1 + 0.25 * expected / 2) ** 2 * 2, -128, 127))
    assert np.array_equal(found, expected)


FAULTS = [
    (Softmax(), {"format": 2}, "'destination' has format 2, must be one of 0, 1, 3"),
    (Softmax(), {"format": 0}, "has format 3 of source, 0 of destination"),
    (Softmax(), {"address": 4}, "'destination' has address 4, the task has 4 addresses"),
    (Softmax(), {"offset": 32}, "'destination' ends at 0x80 by its strides, its address at 0x60"),
    (Softmax(), {"channels": 36}, "has a source (37, 1, 1), a destination (36, 1, 1), must be"),
]


@pytest.mark.parametrize(("operation", "changed", "message"), FAULTS)
def test_faults(operation: Softmax, changed: dict[str, int], message: str) -> None:
    loadable = with_cpu_task(pooled((37, 1, 1), FP16), operation, **changed)
    found = [str(each) for each in lint(loadable, FULL)]
    assert any(f"(softmax on the CPU): {message}" in each for each in found), found
    with pytest.raises(CompileError, match="on the CPU"):
        run(loadable, FULL, [np.zeros((37, 1, 1), np.float16)])


def test_a_softmax_of_more_pixels_and_other_operations_are_refused() -> None:
    found = [each.message for each in lint(with_cpu_task(pooled((8, 2, 3), FP16), Softmax()), FULL)]
    assert found == ["has a softmax of 2x3 pixels, must be of one"]
    loadable = with_cpu_task(pooled((8, 1, 1), FP16), Softmax(kind=2))
    (fault,) = lint(loadable, FULL)
    assert str(fault) == "blob 'cpu1', offset 0x0: has operation 2, must be 0 or 1"


def test_the_listing_has_the_operations_of_the_cpu() -> None:
    lines = listing(with_cpu_task(pooled((37, 1, 1), FP16), Power(power=2.0))).splitlines()
    place = lines.index("  operation 0 (power on the CPU):")
    assert lines[place + 1] == "    power=2.0"
    assert lines[place + 2].startswith(
        "    source: address=3 format=3 width=1 height=1 channels=37"
    )
