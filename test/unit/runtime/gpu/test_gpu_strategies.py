"""Memory strategies for values in the memory of a GPU, which is a stand-in here."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trivium.runtime.allocation.simulate import compare_strategies
from trivium.runtime.contents import PROCESS, MemorySpace
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.gpu.code import Launch
from trivium.runtime.gpu.heap import DeviceHeap
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    BUFFERS,
    DEVICE_ARENA,
    DEVICE_X,
    KERNELS,
    SIZE,
    SUM,
    UPLOAD,
    W,
    Y,
    buffer,
    expected,
    package,
    refusal,
)
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn
from trivium.tools.reports.memory_strategies import describe_strategies, memory_strategies

STRATEGIES = ["plain", "mru", "bestfit", "compact"]
LENGTH = 6
"""How many launches follow one another: each value is read by the next one alone."""

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(4, 8)


def chain(results: int = 1, **change: Any) -> Package:
    """Return relu(… relu(x + w)), planned without any sharing of memory."""
    made = [len(BUFFERS) + number for number in range(LENGTH - 1)]
    values = tuple(buffer(f"v{n}", DEVICE_ARENA, (3 + n) * SIZE) for n in range(LENGTH - 1))
    launches = [Launch("add", (DEVICE_X, W, SUM), ("Add_0",), results)]
    for number, (source, target) in enumerate(zip([SUM, *made], made, strict=False)):
        launches.append(Launch("relu", (source, target), (f"Relu_{number}",), results))
    steps = (
        UPLOAD,
        GpuStep(launches=tuple(launches), nodes=("Add_0",)),
        CopyStep(operands=(made[-1],), results=(Y,)),
    )
    room = (3 + LENGTH) * SIZE
    return package(
        steps, buffers=(*BUFFERS, *values), spaces=(MemorySpace("gpu", room, room, SIZE),), **change
    )


@pytest.fixture
def layers(stand_in: StandIn) -> Package:
    made = chain()
    stand_in.execute(made, KERNELS)
    return made


def allocated(stand_in: StandIn) -> list[int]:
    """Return the sizes of what was allocated on the device since the weights were."""
    return [record["size"] for record in stand_in.records("cuMemAlloc")]


@pytest.mark.parametrize("memory", STRATEGIES)
def test_values_get_memory_one_by_one(stand_in: StandIn, layers: Package, memory: str) -> None:
    with Session(layers, device=stand_in.device(), memory=memory) as session:
        for factor in (1, 2, -1):
            np.testing.assert_array_equal(session(factor * x), expected(factor * x))
        use = session.memory_use.spaces["gpu"]
        assert (use.strategy, use.peak_bytes) == (memory, 2 * SIZE)
        assert use.allocations == 3 * (LENGTH + 1)
        assert use.most_reserved_bytes == 2 * SIZE
        runs = ["add_kernel", *["relu_kernel"] * (LENGTH - 1)] * 3
        assert stand_in.runs == runs
        assert not stand_in.records("cuGraphLaunch")
        blocks = {"plain": 3 * (LENGTH + 1), "mru": 2, "bestfit": 2, "compact": 1}[memory]
        assert use.system_allocations == blocks
        session.trim()
        assert session.memory_use.spaces["gpu"].reserved_bytes == 0
        np.testing.assert_array_equal(session(x), expected(x))
    assert stand_in.misuses == []


def test_the_planned_arena_is_not_allocated(stand_in: StandIn, layers: Package) -> None:
    sizes: dict[str, set[int]] = {}
    for memory in ("static", "mru"):
        before = len(allocated(stand_in))
        with Session(layers, device=stand_in.device(), memory=memory) as session:
            session(x)
        sizes[memory] = {*allocated(stand_in)[before:]}
    assert (3 + LENGTH) * SIZE in sizes["static"]
    assert max(sizes["mru"]) == SIZE


@pytest.mark.parametrize("memory", STRATEGIES)
def test_predictions_are_what_sessions_do(stand_in: StandIn, layers: Package, memory: str) -> None:
    found = {each.space: each for each in compare_strategies(layers)}
    assert [*found] == [PROCESS, "gpu"]
    assert found["gpu"].lower_bound_bytes == 2 * SIZE
    assert found["gpu"].static_bytes == (3 + LENGTH) * SIZE
    assert found[PROCESS].lower_bound_bytes == 0
    (predicted,) = (use for use in found["gpu"].uses if use.strategy == memory)
    with Session(layers, device=stand_in.device(), memory=memory) as session:
        session(x)
        assert session.memory_use.spaces["gpu"] == predicted


def test_the_report_has_a_table_for_each_memory(layers: Package) -> None:
    text = describe_strategies(memory_strategies("layers.trv", layers))
    process, gpu = text.split("\n\n")
    assert process.startswith("layers.trv: values take 0 bytes at a time\n")
    assert gpu.startswith("layers.trv: values take 256 bytes at a time in memory 'gpu'\n")
    assert [line.split()[0] for line in gpu.splitlines()[2:]] == ["static", *STRATEGIES]


class Counting:
    """Allocate on a device, and note what is in use."""

    def __init__(self, heap: DeviceHeap) -> None:
        self.heap = heap
        self.live: dict[int, int] = {}
        self.sizes: list[int] = []

    def allocate(self, size: int, alignment: int) -> int:
        address = self.heap.allocate(size, alignment)
        self.live[address] = size
        self.sizes.append(size)
        return address

    def free(self, address: int) -> None:
        del self.live[address]
        self.heap.free(address)


def test_an_allocator_serves_the_memory_of_a_gpu(stand_in: StandIn, layers: Package) -> None:
    device = stand_in.device()
    counting = Counting(DeviceHeap(device))
    given = {"gpu": counting}
    with Session(layers, device=device, memory="bestfit", allocator=given) as session:
        np.testing.assert_array_equal(session(x), expected(x))
        assert counting.sizes == [SIZE, SIZE]
        assert len(counting.live) == 2
    assert not counting.live
    fault = refusal(Session, layers, device=device, allocator={"tpu": counting})
    assert fault == "an allocator is for memory 'tpu', must be for 'host', 'gpu'"
    fault = refusal(Session, layers, device=device, memory="compact", allocator=given)
    assert fault.startswith("memory is 'compact', with an allocator it must be one of plain")


@pytest.mark.parametrize("memory", STRATEGIES)
def test_a_run_that_fails_frees_its_values(stand_in: StandIn, layers: Package, memory: str) -> None:
    with Session(layers, device=stand_in.device(), memory=memory) as session:
        session(x)
        stand_in.configure("fail=cuLaunchKernel:1:2")
        with pytest.raises(RunError, match=r"kernel '\w+' of \w+ cannot be launched"):
            session(x)
        np.testing.assert_array_equal(session(x), expected(x))
        assert session.memory_use.spaces["gpu"].peak_bytes == 2 * SIZE
    assert stand_in.misuses == []


def test_memory_that_a_gpu_lacks_is_an_error(stand_in: StandIn, layers: Package) -> None:
    with Session(layers, device=stand_in.device(), memory="plain") as session:
        session(x)
        stand_in.configure("fail=cuMemAlloc_v2:2:2")
        with pytest.raises(RunError, match="too little memory: a session for its values needs 128"):
            session(x)
        stand_in.configure("fail=none:0:0")
        np.testing.assert_array_equal(session(x), expected(x))


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: chain(results=0), "the package does not say what kernels write, so that memory"),
        (lambda: chain(results=4), r"launches\[0\].results' is 4, must be from 0 to 3"),
    ],
)
def test_what_launches_write_is_known(
    stand_in: StandIn, make: Callable[[], Package], fault: str
) -> None:
    with pytest.raises((RunError, PackageError), match=fault):
        Session(make(), device=stand_in.device(), memory="plain")


def test_values_of_two_runs_do_not_meet(stand_in: StandIn, layers: Package) -> None:
    """Each launch gets other memory for what it reads and writes at the same time."""

    def strict(run: Run) -> None:
        *_, y = run.arrays
        assert not any(np.shares_memory(each, y) for each in run.arrays[:-1])
        kernel = run.kernel.symbol
        KERNELS[kernel](*run.arrays)

    stand_in.execute(layers, strict)
    for memory in STRATEGIES:
        with Session(layers, device=stand_in.device(), memory=memory) as session:
            np.testing.assert_array_equal(session(x), expected(x))
    assert not stand_in.errors
