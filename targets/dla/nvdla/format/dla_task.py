"""Decode a task: the descriptors that the firmware finds by way of the task's addresses.

Address 0 is the header; its indices select the addresses of the arrays. Operation i has element i
of the arrays of operations, surfaces and dependencies.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn, Protocol

from .....dialects.core.errors import CompileError, Diagnostic
from .loadable import Address, Blob, Interface, Loadable, Memory, MemoryFlags, Task
from .network import ABIS, Dependency, Network
from .operations import (
    ENGINE_TYPES,
    Descriptor,
    Lut,
    Surface,
    operation_stride,
    surface_stride,
)
from .packed import Abi, decode, size_of


@dataclass(frozen=True)
class Operation:
    """An operation of a task, with the number of its engine."""

    number: int
    engine: int
    dependency: Dependency
    descriptor: Descriptor
    surface: Surface

    def __str__(self) -> str:
        return f"operation {self.number} ({ENGINE_TYPES[self.engine].name})"


@dataclass(frozen=True)
class DlaTask:
    """The descriptors of a task; `addresses` are in the order of the task's list."""

    number: int
    abi: Abi
    network: Network
    operations: tuple[Operation, ...]
    luts: tuple[Lut, ...]
    addresses: tuple[Address, ...]


class Addressed(Protocol):
    """A task with its addresses."""

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Return the addresses in the order of the task's list."""
        ...


class Tables:
    """The tables of a loadable by their ids, and the first contents of its memories."""

    def __init__(self, loadable: Loadable, file: str = "") -> None:
        self.loadable = loadable
        self.file = file
        self.memories = {each.id: each for each in loadable.memory_list}
        self.addresses = {each.id: each for each in loadable.address_list}
        self.tasks = {each.id: each for each in loadable.task_list}
        self.blobs = {each.name: each for each in loadable.blobs}

    def refuse(self, where: str, message: str) -> NoReturn:
        """Raise CompileError for a fault of an entry of the tables."""
        raise CompileError([Diagnostic(", ".join(filter(None, (self.file, where))), message)])

    def placed(self, memory: Memory) -> Iterator[tuple[int, Blob]]:
        """Yield the offsets and blobs that a memory is filled with.

        Raises CompileError for blobs that do not exist, or are not inside of the memory.
        """
        where = f"memory {memory.id}"
        if not memory.flags & MemoryFlags.SET:
            return
        if len(memory.contents) != len(memory.offsets):
            counts = f"{len(memory.contents)} contents and {len(memory.offsets)} offsets"
            self.refuse(where, f"has {counts}, must have as many")
        for name, offset in zip(memory.contents, memory.offsets, strict=True):
            blob = self.blobs.get(name)
            if blob is None:
                self.refuse(where, f"has contents '{name}', and there is no such blob")
            if offset + len(blob.data) > memory.size:
                end = f"{offset + len(blob.data):#x}"
                self.refuse(where, f"'{name}' ends at {end}, the memory at {memory.size:#x}")
            yield offset, blob

    def address(self, task: Task, index: int, what: str) -> Address:
        """Return an address of a task; raise CompileError if there is none, or no memory.

        It ends where its memory ends, if not before: for a part of a buffer the vendor's compiler
        states the size of the whole.
        """
        where = f"task {task.id}"
        if not 0 <= index < len(task.address_list):
            count = len(task.address_list)
            self.refuse(where, f"{what} selects address {index}, the task has {count} addresses")
        found = self.addresses.get(task.address_list[index])
        if found is None:
            name = task.address_list[index]
            self.refuse(where, f"{what} selects address {name}, which is not in the address list")
        memory = self.memories.get(found.mem_id)
        if memory is None:
            self.refuse(f"address {found.id}", f"is in memory {found.mem_id}, which does not exist")
        if found.offset > memory.size:
            fault = f"starts at {found.offset:#x}, the memory ends at {memory.size:#x}"
            self.refuse(f"address {found.id}", fault)
        return replace(found, size=min(found.size, memory.size - found.offset))

    def first_bytes(self, address: Address, size: int, what: str) -> tuple[bytes, Blob]:
        """Return what an address has after loading, and the blob that it is in.

        Raises CompileError if the blob does not have that many bytes from there.
        """
        for offset, blob in self.placed(self.memories[address.mem_id]):
            start = address.offset - offset
            if 0 <= start <= len(blob.data):
                if start + size > len(blob.data):
                    fault = f"{what} ends at {start + size:#x}, the blob at {len(blob.data):#x}"
                    self.refuse(f"blob '{blob.name}', offset {start:#x}", fault)
                return blob.data[start : start + size], blob
        self.refuse(f"address {address.id}", f"must have {what}, and no blob fills it")


def submitted(tables: Tables) -> Iterator[Task]:
    """Yield the tasks in the order in which they are submitted.

    Raises CompileError for a submit of a task that does not exist.
    """
    for submit in tables.loadable.submit_list:
        for number in submit.task_id:
            task = tables.tasks.get(number)
            if task is None:
                tables.refuse(f"submit {submit.id}", f"runs task {number}, which does not exist")
            yield task


def dla_tasks(tables: Tables) -> Iterator[DlaTask]:
    """Yield the decoded tasks for NVDLA, in the order in which they are submitted.

    Raises CompileError as `submitted` and `decode_task`.
    """
    for task in submitted(tables):
        if task.interface == Interface.DLA1:
            yield decode_task(tables, task)


def decode_task(tables: Tables, task: Task) -> DlaTask:
    """Return the descriptors of a task.

    Raises CompileError, with blob and offset, for addresses and blobs that do not have them, for
    ABIs that are not in `ABIS`, and for engines that do not exist.
    """
    header = tables.address(task, 0, "the header")
    largest = size_of(Network, ABIS[-1])
    data, blob = tables.first_bytes(header, largest, "the header")
    abi = Abi(blob.version.major, blob.version.minor)
    if abi not in ABIS:
        known = ", ".join(map(str, ABIS))
        tables.refuse(f"blob '{blob.name}', offset 0x0", f"has ABI {abi}, must be one of {known}")
    network = decode(Network, data, 0, abi)
    count = range(network.operations)
    arrays = _Arrays(tables, task, abi)
    size = size_of(Dependency, abi)
    dependencies = arrays.at(network.dependencies_index, size, len(count), "the dependencies")
    operations = arrays.at(
        network.operations_index, operation_stride(abi), len(count), "operations"
    )
    surfaces = arrays.at(network.surfaces_index, surface_stride(abi), len(count), "the surfaces")
    decoded = tuple(arrays.operation(i, dependencies[i], operations[i], surfaces[i]) for i in count)
    luts = arrays.at(network.luts_index, size_of(Lut, abi), network.luts, "the tables")
    return DlaTask(
        task.id,
        abi,
        network,
        decoded,
        tuple(decode(Lut, data, 0, abi) for data, _ in luts),
        tuple(tables.address(task, i, "the list") for i in range(len(task.address_list))),
    )


@dataclass(frozen=True)
class _Arrays:
    tables: Tables
    task: Task
    abi: Abi

    def at(self, index: int, stride: int, count: int, what: str) -> list[tuple[bytes, str]]:
        """Return the elements of an array, and where each is."""
        if not count:
            return []
        address = self.tables.address(self.task, index, what)
        data, blob = self.tables.first_bytes(address, stride * count, what)
        places = range(0, stride * count, stride)
        return [(data[i : i + stride], f"blob '{blob.name}', offset {i:#x}") for i in places]

    def operation(
        self,
        number: int,
        dependency: tuple[bytes, str],
        descriptor: tuple[bytes, str],
        surface: tuple[bytes, str],
    ) -> Operation:
        """Decode the elements of an operation."""
        data, where = dependency
        found = decode(Dependency, data, 0, self.abi)
        if found.engine >= len(ENGINE_TYPES):
            last = len(ENGINE_TYPES) - 1
            self.tables.refuse(where, f"has engine {found.engine}, must be 0 to {last}")
        engine = ENGINE_TYPES[found.engine]
        return Operation(
            number,
            found.engine,
            found,
            decode(engine.operation, descriptor[0], 0, self.abi),
            decode(engine.surface, surface[0], 0, self.abi),
        )
