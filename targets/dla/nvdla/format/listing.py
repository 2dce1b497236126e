"""Print a loadable: its tables, and the operations of its tasks with what they wait for.

Fields that have their defaults are left out.
"""

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, cast

from ..cpu.descriptors import EmulatorTask, decode_emulator_task
from ..pixels import pixel_format
from .dla_task import DlaTask, Operation, Tables, decode_task
from .loadable import Interface, Loadable, MemoryFlags, Tensor
from .network import Cube, Dependency, Event, Storage
from .operations import ENGINE_TYPES, ConvOperation, cubes_of


def listing(loadable: Loadable, file: str = "") -> str:
    """Return the text of a loadable; raise CompileError for descriptors that cannot be decoded."""
    tables = Tables(loadable, file)
    return "".join(f"{line}\n" for line in _lines(tables))


def _lines(tables: Tables) -> Iterator[str]:
    loadable = tables.loadable
    yield f"loadable {loadable.version}"
    for memory in loadable.memory_list:
        domain = _word(Storage, memory.domain)
        flags = [str(flag.name).lower() for flag in MemoryFlags if memory.flags & flag]
        contents = [f"'{blob.name}' at {offset:#x}" for offset, blob in tables.placed(memory)]
        words = [domain, f"{memory.size} bytes", *flags, *contents]
        yield f"memory {memory.id}: {', '.join(words)}"
    for address in loadable.address_list:
        place = f"memory {address.mem_id} at {address.offset:#x}"
        yield f"address {address.id}: {place}, {address.size} bytes"
    for tensor in loadable.tensor_desc_list:
        yield f"tensor {tensor.id}: {_tensor(tensor)}"
    for entry in (*loadable.event_list, *loadable.reloc_list):
        yield f"{type(entry).__name__.lower()}: {_changed(entry)}"
    for submit in loadable.submit_list:
        yield f"submit {submit.id}: tasks {', '.join(map(str, submit.task_id))}"
    for task in loadable.task_list:
        addresses = ", ".join(map(str, task.address_list))
        yield f"task {task.id}: {_word(Interface, task.interface)}, addresses {addresses}"
        if task.interface == Interface.DLA1:
            yield from _task_lines(decode_task(tables, task))
        elif task.interface == Interface.EMU1:
            yield from _emulator_lines(decode_emulator_task(tables, task))


def _emulator_lines(task: EmulatorTask) -> Iterator[str]:
    yield f"  {len(task.operations)} operations"
    for each in task.operations:
        yield f"  {each}:"
        yield f"    {_changed(each.descriptor)}".rstrip()
        for name, buffer in (("source", each.source), ("destination", each.destination)):
            yield f"    {name}: {_changed(buffer)}"


def _tensor(tensor: Tensor) -> str:
    strides = [getattr(tensor, f"stride_{i}") for i in range(8)]
    size = f"{tensor.n}x{tensor.c}x{tensor.h}x{tensor.w}"
    used = ", ".join(str(each) for each in strides if each)
    kinds = f"type {tensor.data_type}, pixels {tensor.pixel_format}"
    return f"'{tensor.name}' in memory {tensor.mem_id}, {size}, strides {used}, {kinds}"


def _task_lines(task: DlaTask) -> Iterator[str]:
    heads = [f"{ENGINE_TYPES[i].name} {n}" for i, n in enumerate(task.network.heads) if n != -1]
    yield f"  ABI {task.abi}, {len(task.operations)} operations, heads {', '.join(heads)}"
    for operation in task.operations:
        yield f"  {operation}: {', '.join(_dependency(operation))}"
        yield f"    {_changed(operation.descriptor)}"
        if isinstance(operation.descriptor, ConvOperation):
            form = pixel_format(operation.descriptor.data_format)
            if form is not None:
                yield f"    pixels {form}"
        names = dict(cubes_of(operation.surface))
        for name, cube in names.items():
            if cube.storage != Storage.ON_THE_FLY or cube.width:
                yield f"    {name}: {_cube(cube)}"
        rest = _changed(operation.surface, without=names)
        if rest:
            yield f"    {rest}"
    for number, lut in enumerate(task.luts):
        yield f"  table {number}: {_changed(lut)}"


def _dependency(operation: Operation) -> Iterator[str]:
    found: Dependency = operation.dependency
    yield f"waits for {found.dependency_count}"
    for engine, consumer in enumerate(found.consumers):
        if consumer.operation != -1:
            event = _word(Event, consumer.event)
            yield f"{event} notifies {ENGINE_TYPES[engine].name} {consumer.operation}"
    if found.fused_parent.operation != -1:
        event = _word(Event, found.fused_parent.event)
        yield f"{event} notifies the parent {found.fused_parent.operation}"


def _cube(cube: Cube) -> str:
    place = "on the fly"
    if cube.storage != Storage.ON_THE_FLY:
        place = f"{_word(Storage, cube.storage)} address {cube.address} at {cube.offset:#x}"
    size = f"{cube.channels}x{cube.height}x{cube.width}"
    strides = f"strides {cube.line_stride}, {cube.surface_stride}, {cube.plane_stride}"
    return f"{place}, {size}, {strides}, {cube.size} bytes"


def _changed(descriptor: object, without: Collection[str] = ()) -> str:
    """Return the fields of a descriptor that do not have their defaults."""
    return " ".join(_pairs(descriptor, "", without))


def _pairs(descriptor: object, prefix: str, without: Collection[str]) -> Iterator[str]:
    for each in fields(descriptor):  # pyright: ignore[reportArgumentType]
        value: object = getattr(descriptor, each.name)
        if each.name in without or value == each.default:
            continue
        if is_dataclass(value):
            yield from _pairs(value, f"{prefix}{each.name}.", ())
        elif isinstance(value, tuple):
            numbers = " ".join(map(str, cast(tuple[Any, ...], value)))
            yield f"{prefix}{each.name}=[{numbers}]"
        else:
            yield f"{prefix}{each.name}={value}"


def _word(kind: type[Storage] | type[Event] | type[Interface], value: int) -> str:
    """Return the name of a number, or the number where it has none."""
    known = {each.value: each.name.lower().replace("_", " ") for each in kind}
    return known.get(value, str(value))
