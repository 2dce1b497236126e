"""The tasks of a loadable: for the engines, or for the runtime's emulator on the CPU.

Tasks run one after another; a task's operations run in any order that its notifications allow.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from .....dialects import tri
from ..cpu.descriptors import BUFFER_STRIDE, OPERATION_STRIDE, EmulatorNetwork
from ..dialect.emulated import EmulatedOp
from ..format.loadable import EventEntry, Interface, Task
from ..format.network import NEWEST, Network
from ..format.operations import Lut, operation_stride, surface_stride
from ..format.packed import encode
from ..schedule.places import Step, steps_of
from .dependencies import dependencies, heads_of
from .descriptors import Emitted, Emitter
from .emulated import buffers
from .images import Images
from .memory_map import TaskMap

_WAIT, _SIGNAL = 0, 1
_HEADER_BYTES = 256
"""What the header of a task for the emulator occupies."""


def tasks_of(group: tri.Group) -> list[tuple[Step, ...]]:
    """Return the steps of each task: as many as follow one another for engines, or for the CPU."""
    return [tuple(steps) for _, steps in groupby(steps_of(group), _is_emulated)]


def _is_emulated(step: Step) -> bool:
    return isinstance(step.op, EmulatedOp)


def emit_task(number: int, steps: Sequence[Step], images: Images) -> Task:
    """Return a task, whose descriptors are filled into memories of their own."""
    if _is_emulated(steps[0]):
        return _emulator_task(number, steps, images)
    return _dla_task(number, steps, images)


def chained(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], tuple[EventEntry, ...]]:
    """Return tasks each of which waits for an event that the one before signals, and the events."""
    found = list(tasks)
    events: list[EventEntry] = []
    for number in range(1, len(found)):
        first = len(events)
        events.append(EventEntry(first, val=number, op=_SIGNAL))
        events.append(EventEntry(first + 1, val=number, op=_WAIT))
        found[number - 1] = replace(found[number - 1], post_actions=(first,))
        found[number] = replace(found[number], pre_actions=(first + 1,))
    return tuple(found), tuple(events)


def _dla_task(number: int, steps: Sequence[Step], images: Images) -> Task:
    whole, abi = images.map, images.map.abi
    memories = [whole.add(0) for _ in range(4)]
    header, graph, listed, cubes = memories
    addresses = TaskMap(whole)
    _, graph_index, listed_index, cubes_index = map(addresses.index, memories)
    emitter = Emitter(images, addresses)
    emitted: list[Emitted] = []
    for step in steps:
        emitted += emitter.step(step)
    entries = [each.entry for each in emitted]
    operations, surfaces = operation_stride(abi), surface_stride(abi)
    contents = {
        (graph, "dep_graph"): [encode(each, abi) for each in dependencies(entries)],
        (listed, "op_list"): [encode(e.descriptor, abi).ljust(operations, b"\0") for e in emitted],
        (cubes, "surf_list"): [encode(e.surface, abi).ljust(surfaces, b"\0") for e in emitted],
    }
    for (memory, name), parts in contents.items():
        whole.fill(memory, f"task-{number}-{name}", b"".join(parts), Interface.DLA1)
    luts = _tables(number, emitter.luts, addresses)
    network = Network(
        operations_index=listed_index,
        surfaces_index=cubes_index,
        dependencies_index=graph_index,
        luts_index=luts,
        heads=heads_of(entries),
        operations=len(emitted),
        luts=len(emitter.luts),
        addresses=len(addresses.ids),
    )
    whole.fill(header, f"task-{number}-addr0", encode(network, abi), Interface.DLA1)
    return Task(number, Interface.DLA1, -1, tuple(addresses.ids))


def _tables(task: int, luts: Sequence[Lut], addresses: TaskMap) -> int:
    """Store the tables of a task, and return the number of their address, -1 without any."""
    if not luts:
        return -1
    whole = addresses.whole
    memory = whole.add(0)
    data = b"".join(encode(each, whole.abi) for each in luts)
    whole.fill(memory, f"task-{task}-lut_list", data, Interface.DLA1)
    return addresses.index(memory)


def _emulator_task(number: int, steps: Sequence[Step], images: Images) -> Task:
    whole = images.map
    memories = [whole.add(0) for _ in range(3)]
    addresses = TaskMap(whole)
    _, listed, ends = map(addresses.index, memories)
    ops = [step.op for step in steps if isinstance(step.op, EmulatedOp)]
    contents = {
        "addr0": encode(EmulatorNetwork(listed, ends, len(ops)), NEWEST).ljust(
            _HEADER_BYTES, b"\0"
        ),
        "op_list": b"".join(
            encode(op.descriptor, NEWEST).ljust(OPERATION_STRIDE, b"\0") for op in ops
        ),
        "op_buf_list": b"".join(
            encode(each, NEWEST).ljust(BUFFER_STRIDE, b"\0")
            for op in ops
            for each in buffers(op, images, addresses)
        ),
    }
    for memory, (name, data) in zip(memories, contents.items(), strict=True):
        whole.fill(memory, f"task-{number}-{name}", data, Interface.EMU1)
    return Task(number, Interface.EMU1, -1, tuple(addresses.ids))
