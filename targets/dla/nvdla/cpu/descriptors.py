"""Descriptors of a task for the CPU: a header, operations, and two buffers for each.

Address 0 of the task is the header; its indices select the addresses of the two arrays.
"""

from dataclasses import dataclass
from enum import IntEnum

from ..format.dla_task import DlaTask, Tables, decode_task, submitted
from ..format.loadable import Address, Interface, Task
from ..format.network import NEWEST, Precision
from ..format.packed import decode, size_of
from ..format.scalars import F32, I16, U8, U16, U32
from ..surfaces import SurfaceLayout

OPERATION_STRIDE, BUFFER_STRIDE = 24, 256


class Kind(IntEnum):
    """What an operation computes."""

    POWER = 0
    SOFTMAX = 1


FORMATS = {0: (Precision.INT8, 32), 1: (Precision.INT8, 8), 3: (Precision.FP16, 32)}
"""The precision and the bytes of an atom of each format of buffers."""


@dataclass(frozen=True)
class EmulatorNetwork:
    """The header of a task."""

    operations_index: I16 = -1
    buffers_index: I16 = -1
    operations: U16 = 0


@dataclass(frozen=True)
class Power:
    """(shift + scale * x) ** power; integers are numbers times a scale."""

    kind: U8 = Kind.POWER
    reserved0: U8 = 0
    reserved1: U16 = 0
    input_scale: F32 = 1.0
    output_scale: F32 = 1.0
    power: F32 = 1.0
    scale: F32 = 1.0
    shift: F32 = 0.0


@dataclass(frozen=True)
class Softmax:
    """Softmax over the channels of one pixel."""

    kind: U8 = Kind.SOFTMAX
    reserved0: U8 = 0
    reserved1: U16 = 0
    input_scale: F32 = 1.0
    output_scale: F32 = 1.0
    axis: U8 = 1
    reserved2: U8 = 0
    reserved3: U16 = 0


@dataclass(frozen=True)
class Buffer:
    """Data in memory; `address` selects an address of the task."""

    address: I16 = -1
    offset: U32 = 0
    size: U32 = 0
    format: U16 = 0
    width: U16 = 0
    height: U16 = 0
    channels: U16 = 0
    line_stride: U32 = 0
    surface_stride: U32 = 0

    def layout(self) -> SurfaceLayout:
        """Return how the data is stored; its format must be one of `FORMATS`."""
        precision, atom = FORMATS[self.format]
        return SurfaceLayout(
            self.channels,
            self.height,
            self.width,
            atom,
            atom // precision.bytes,
            self.line_stride,
            self.surface_stride,
        )


@dataclass(frozen=True)
class EmulatorOperation:
    """An operation of a task, with its buffers."""

    number: int
    descriptor: Power | Softmax
    source: Buffer
    destination: Buffer

    def __str__(self) -> str:
        return f"operation {self.number} ({type(self.descriptor).__name__.lower()} on the CPU)"


@dataclass(frozen=True)
class EmulatorTask:
    """The descriptors of a task; `addresses` are in the order of the task's list."""

    number: int
    operations: tuple[EmulatorOperation, ...]
    addresses: tuple[Address, ...]


_KINDS: dict[int, type[Power | Softmax]] = {Kind.POWER: Power, Kind.SOFTMAX: Softmax}


def decode_emulator_task(tables: Tables, task: Task) -> EmulatorTask:
    """Return the descriptors of a task.

    Raises CompileError, with blob and offset, for addresses and blobs that do not have them, and
    for operations that do not exist.
    """
    header = tables.address(task, 0, "the header")
    data, _ = tables.first_bytes(header, size_of(EmulatorNetwork, NEWEST), "the header")
    network = decode(EmulatorNetwork, data, 0, NEWEST)
    count = network.operations
    operations, buffers, name = b"", b"", ""
    if count:
        address = tables.address(task, network.operations_index, "the operations")
        operations, blob = tables.first_bytes(address, OPERATION_STRIDE * count, "the operations")
        name = blob.name
        address = tables.address(task, network.buffers_index, "the buffers")
        buffers, _ = tables.first_bytes(address, 2 * BUFFER_STRIDE * count, "the buffers")
    found: list[EmulatorOperation] = []
    for number in range(count):
        at = OPERATION_STRIDE * number
        kind = _KINDS.get(operations[at])
        if kind is None:
            where = f"blob '{name}', offset {at:#x}"
            tables.refuse(where, f"has operation {operations[at]}, must be 0 or 1")
        ends = (decode(Buffer, buffers, BUFFER_STRIDE * (2 * number + i), NEWEST) for i in (0, 1))
        found.append(EmulatorOperation(number, decode(kind, operations, at, NEWEST), *ends))
    addresses = tuple(tables.address(task, i, "the list") for i in range(len(task.address_list)))
    return EmulatorTask(task.id, tuple(found), addresses)


def decoded_tasks(tables: Tables) -> list[DlaTask | EmulatorTask]:
    """Return all tasks in the order in which they are submitted.

    Raises CompileError as `submitted`, `decode_task` and `decode_emulator_task`.
    """
    found: list[DlaTask | EmulatorTask] = []
    for task in submitted(tables):
        is_dla = task.interface == Interface.DLA1
        found.append((decode_task if is_dla else decode_emulator_task)(tables, task))
    return found


def emulator_faults(operation: EmulatorOperation, task: EmulatorTask) -> list[str]:
    """Return the faults of an operation's buffers, in words."""
    ends = {"source": operation.source, "destination": operation.destination}
    found = [f"'{name}' {fault}" for name, each in ends.items() if (fault := _fault(each, task))]
    source, destination = operation.source, operation.destination
    if source.format != destination.format:
        found.append(f"has format {source.format} of source, {destination.format} of destination")
    shapes = [(each.channels, each.height, each.width) for each in (source, destination)]
    if shapes[0] != shapes[1]:
        found.append(f"has a source {shapes[0]}, a destination {shapes[1]}, must be the same")
    if isinstance(operation.descriptor, Softmax) and shapes[0][1:] != (1, 1):
        found.append(f"has a softmax of {shapes[0][1]}x{shapes[0][2]} pixels, must be of one")
    elif isinstance(operation.descriptor, Softmax) and not found:
        found += [f"'{name}' {fault}" for name, each in ends.items() if (fault := _gap(each))]
    return found


def _gap(buffer: Buffer) -> str | None:
    """Return the fault of a softmax's buffer, whose channels the runtime reads in a row."""
    atom = buffer.layout().atom
    if buffer.surface_stride == atom or buffer.channels <= buffer.layout().elements:
        return None
    return f"has surface stride {buffer.surface_stride}, must be {atom} for a softmax"


def _fault(buffer: Buffer, task: EmulatorTask) -> str | None:
    if buffer.format not in FORMATS:
        return f"has format {buffer.format}, must be one of {', '.join(map(str, FORMATS))}"
    if not 0 <= buffer.address < len(task.addresses):
        return f"has address {buffer.address}, the task has {len(task.addresses)} addresses"
    layout = buffer.layout()
    size = task.addresses[buffer.address].size
    end = buffer.offset + layout.bytes
    if end > size:
        return f"ends at {end:#x} by its strides, its address at {size:#x}"
    return layout.fault()
