"""Copies between the process and devices, and waits for the queues of devices."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from trivium.runtime.contents import FIRST_PORT, Buffer, Contents, Memory, MemorySpace, Port
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.loader import Loader
from trivium.runtime.manifest import Manifest
from trivium.runtime.memory import Bases, Place
from trivium.runtime.memory_space import PackageMemory, SessionMemory
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.state import SessionState
from trivium.runtime.step import Step

log: list[str] = []
"""All that devices and steps did, in order."""


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    log.clear()


class Device(SessionMemory):
    """Do nothing before somebody waits, as late as a queue of a device may."""

    def __init__(self, name: str, arena_bytes: int = 16, bases: tuple[int, ...] = (0,)) -> None:
        self.name = name
        self.arena = np.zeros(arena_bytes, np.uint8)
        self.addresses = {bases[0]: self.arena.ctypes.data}
        self.queue: list[Callable[[], object]] = []

    def enqueue(self, what: str, work: Callable[[], object]) -> None:
        log.append(f"{self.name} {what}")
        self.queue.append(work)

    def copy(self, target: Place, source: Place, size: int) -> None:
        work = partial(ctypes.memmove, target.address, source.address, size)
        self.enqueue(f"copy {source.space} to {target.space}", work)

    def synchronize(self) -> None:
        log.append(f"{self.name} wait")
        for work in self.queue:
            work()
        self.queue = []

    def place(self) -> Place:
        return Place(self.arena.ctypes.data, self.name)


def state(*devices: Device) -> SessionState:
    empty = np.empty(0, np.uint8)
    bases = Bases(manifest(()), empty, empty)
    return SessionState(bases, 1, {device.name: device for device in devices})


def array(value: int) -> np.ndarray:
    return np.full(16, value, np.uint8)


def place(array: np.ndarray) -> Place:
    return Place(array.ctypes.data)


# -- copies ----------------------------------------------------------------------------------------


def test_a_copy_within_the_process_is_made_at_once() -> None:
    a = Device("a")
    source, target = array(7), array(0)
    state(a).copy(place(target), place(source), 16)
    assert (target == 7).all()
    assert log == []


def test_a_copy_to_a_device_and_back_is_in_its_queue() -> None:
    a, b = Device("a"), Device("b")
    session = state(a, b)
    source, target = array(7), array(0)
    session.copy(a.place(), place(source), 16)
    session.copy(place(target), a.place(), 16)
    assert not target.any()
    a.synchronize()
    assert (target == 7).all()
    assert log == ["a copy host to a", "a copy a to host", "a wait"]


def test_a_copy_within_a_device_is_in_its_queue() -> None:
    a = Device("a", 32)
    a.arena[:16] = 7
    state(a).copy(Place(a.arena[16:].ctypes.data, "a"), a.place(), 16)
    a.synchronize()
    assert (a.arena == 7).all()
    assert log == ["a copy a to a", "a wait"]


def test_a_copy_between_devices_goes_by_way_of_the_process() -> None:
    a, b = Device("a"), Device("b")
    a.arena[:] = 7
    state(a, b).copy(b.place(), a.place(), 16)
    assert (b.arena == 7).all()
    assert log == ["a copy a to host", "a wait", "b copy host to b", "b wait"]


def test_nothing_is_copied_where_there_is_nothing() -> None:
    a, b = Device("a"), Device("b")
    for target in (Place(0), a.place(), b.place()):
        state(a, b).copy(target, Place(0), 0)
        state(a, b).copy(target, b.place(), 0)
    a.synchronize()
    b.synchronize()
    assert not a.arena.any()


# -- waits -----------------------------------------------------------------------------------------


class DeviceMemory(PackageMemory):
    """Open a device for each session; its kind is its name."""

    def __init__(self, loader: Loader, space: MemorySpace) -> None:
        self.space = space

    def open(self, contents: Contents, in_process: frozenset[int]) -> SessionMemory:
        bases = contents.bases_in(self.space.name)
        return Device(self.space.name, self.space.arena_bytes, bases)


class MemoryOfA(DeviceMemory):
    """The memory space 'test_a'."""

    kind: ClassVar[str] = "test_a"


class MemoryOfB(DeviceMemory):
    """The memory space 'test_b'."""

    kind: ClassVar[str] = "test_b"


@dataclass(frozen=True, kw_only=True)
class DeviceStep(Step):
    """Add one to all bytes of an arena, in its queue."""

    def run(self, state: SessionState) -> None:
        device = state.spaces[self.space]
        assert isinstance(device, Device)
        device.enqueue("step", lambda: np.add(device.arena, 1, out=device.arena))


@dataclass(frozen=True, kw_only=True)
class StepOnA(DeviceStep):
    """A step in the queue of 'test_a'."""

    kind: ClassVar[str] = "test_a"
    space: ClassVar[str] = "test_a"


@dataclass(frozen=True, kw_only=True)
class StepOnB(DeviceStep):
    """A step in the queue of 'test_b'."""

    kind: ClassVar[str] = "test_b"
    space: ClassVar[str] = "test_b"


@dataclass(frozen=True, kw_only=True)
class ProcessStep(Step):
    """Add one to all bytes of a buffer of the process, at once."""

    kind: ClassVar[str] = "test_process"

    def run(self, state: SessionState) -> None:
        log.append("process step")
        for operand, result in zip(self.operands, self.results, strict=True):
            np.add(state.bases.view(operand), 1, out=state.bases.view(result))


# Bases of a package with one input and one output; buffers.
A, B = FIRST_PORT + 2, FIRST_PORT + 4
X, Y, T, ON_A, ON_B = range(5)


def manifest(steps: tuple[Step, ...], second: bool = False) -> Manifest:
    """Return that of a package of y; `second` adds an output z, which is another copy of y."""
    ports = (Port("y", (16,), "uint8", Y), *[Port("z", (16,), "uint8", Y)] * second)
    bases = (FIRST_PORT, FIRST_PORT + 1, 0, A + second, B + second)
    return Manifest(
        producer="test",
        source="",
        target="test",
        inputs=(Port("x", (16,), "uint8", X),),
        outputs=ports,
        buffers=tuple(Buffer("", base, 0, (16,), "uint8") for base in bases),
        steps=steps,
        memory=Memory(16, 16, 0),
        spaces=(MemorySpace("test_a", 16, 16, 0), MemorySpace("test_b", 16, 16, 0)),
    )


def copy(source: int, target: int) -> Step:
    return CopyStep(operands=(source,), results=(target,))


def run(*steps: Step, second: bool = False) -> dict[str, np.ndarray]:
    return Session(Package.create(manifest(steps, second), {})).run({"x": array(7)})


ON_PROCESS = ProcessStep(operands=(T,), results=(Y,))


def test_steps_in_one_queue_do_not_wait_for_one_another() -> None:
    got = run(copy(X, ON_A), StepOnA(), StepOnA(), copy(ON_A, Y))
    assert (got["y"] == 9).all()
    assert log == [
        *("test_a copy host to test_a", "test_a step", "test_a step"),
        *("test_a copy test_a to host", "test_a wait", "test_b wait"),  # the end of the run
    ]


def test_a_step_in_the_process_waits_for_the_queue_before_it() -> None:
    got = run(copy(X, ON_A), StepOnA(), copy(ON_A, T), ON_PROCESS)
    assert (got["y"] == 9).all()
    assert log[2:] == [
        *("test_a copy test_a to host", "test_a wait", "process step"),
        *("test_a wait", "test_b wait"),
    ]


def test_a_queue_waits_for_that_of_another_device() -> None:
    got = run(copy(X, ON_A), StepOnA(), copy(ON_A, T), copy(T, ON_B), StepOnB(), copy(ON_B, Y))
    assert (got["y"] == 9).all()
    assert log[2:6] == [
        *("test_a copy test_a to host", "test_a wait"),
        *("test_b copy host to test_b", "test_b step"),
    ]


def test_a_copy_step_between_devices_waits_for_both() -> None:
    got = run(copy(X, ON_A), StepOnA(), copy(ON_A, ON_B), StepOnB(), copy(ON_B, Y))
    assert (got["y"] == 9).all()
    assert log[2:8] == [
        *("test_a wait", "test_a copy test_a to host", "test_a wait"),
        *("test_b copy host to test_b", "test_b wait", "test_b step"),
    ]


def test_an_output_that_is_a_copy_of_another_waits_for_it() -> None:
    got = run(copy(X, ON_A), copy(ON_A, Y), second=True)
    assert (got["y"] == 7).all()
    assert (got["z"] == 7).all()
