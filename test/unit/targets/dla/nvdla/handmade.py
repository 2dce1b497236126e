"""Loadables made by hand: descriptors of one task, and a memory for each of its operands."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trivium.targets.dla.nvdla.configuration import Configuration
from trivium.targets.dla.nvdla.format.loadable import (
    FORMAT,
    Address,
    Blob,
    Interface,
    Loadable,
    Memory,
    MemoryFlags,
    Submit,
    Task,
    Tensor,
    Version,
)
from trivium.targets.dla.nvdla.format.network import (
    NEWEST,
    Consumer,
    Cube,
    Dependency,
    Event,
    Network,
    Precision,
    Storage,
)
from trivium.targets.dla.nvdla.format.operations import (
    ENGINE_TYPES,
    Descriptor,
    Lut,
    Surface,
    operation_stride,
    surface_stride,
)
from trivium.targets.dla.nvdla.format.packed import encode

TABLES = 5
"""The addresses of the header, operations, surfaces, dependencies and look-up tables."""

_TYPES = {Precision.FP16: 2, Precision.INT16: 3, Precision.INT8: 4}


@dataclass(frozen=True)
class Data:
    """An operand [C, H, W] without gaps; `contents` are constant, a role is "input" or "output"."""

    shape: tuple[int, int, int]
    precision: Precision = Precision.INT8
    contents: bytes = b""
    role: str = ""


@dataclass(frozen=True)
class Step:
    """An operation; `feeds` is whether its result goes to the next one on the fly."""

    descriptor: Descriptor
    surface: Surface
    feeds: bool = False

    @property
    def engine(self) -> int:
        """Return the number of the engine."""
        kinds = [type(self.descriptor), type(self.surface)]
        return next(
            number
            for number, each in enumerate(ENGINE_TYPES)
            if [each.operation, each.surface] == kinds
        )


def cube(data: Sequence[Data], index: int, configuration: Configuration) -> Cube:
    """Return the cube of an operand."""
    each = data[index]
    channels, height, width = each.shape
    line = width * configuration.atom
    return Cube(
        Storage.DRAM,
        TABLES + index,
        0,
        _size(each, configuration),
        width,
        height,
        channels,
        line_stride=line,
        surface_stride=line * height,
    )


def flying(data: Data) -> Cube:
    """Return the cube of data that is handed on."""
    channels, height, width = data.shape
    return Cube(Storage.ON_THE_FLY, -1, 0, 0, width, height, channels)


def handmade(
    steps: Sequence[Step],
    data: Sequence[Data],
    configuration: Configuration,
    luts: Sequence[Lut] = (),
) -> Loadable:
    """Return a loadable that runs the steps one after the other, those that feed with the next."""
    heads = [-1] * len(ENGINE_TYPES)
    for number in reversed(range(len(steps))):
        heads[steps[number].engine] = number
    network = Network(
        operations_index=1,
        surfaces_index=2,
        dependencies_index=3,
        luts_index=4 if luts else -1,
        heads=tuple(heads),
        operations=len(steps),
        luts=len(luts),
        addresses=TABLES + len(data),
    )
    sizes = operation_stride(NEWEST), surface_stride(NEWEST)
    tables = [
        encode(network, NEWEST),
        b"".join(encode(each.descriptor, NEWEST).ljust(sizes[0], b"\0") for each in steps),
        b"".join(encode(each.surface, NEWEST).ljust(sizes[1], b"\0") for each in steps),
        b"".join(encode(each, NEWEST) for each in _dependencies(steps)),
        b"".join(encode(each, NEWEST) for each in luts) or bytes(4),
    ]
    contents = [*tables, *(each.contents for each in data)]
    lengths = [*map(len, tables), *(_size(each, configuration) for each in data)]
    roles = [""] * TABLES + [each.role for each in data]
    bound = {"input": MemoryFlags.INPUT, "output": MemoryFlags.OUTPUT}
    memories: list[Memory] = []
    tensors: list[Tensor] = []
    for number, (length, bytes_, role) in enumerate(zip(lengths, contents, roles, strict=True)):
        flags = MemoryFlags.ALLOCATE | bound.get(role, 0)
        memory = Memory(number, 0, flags, length, 4096)
        if bytes_:
            memory = replace(
                memory, flags=flags | MemoryFlags.SET, contents=(f"b{number}",), offsets=(0,)
            )
        if role:
            bind = sum(each == role for each in roles[:number])
            memory = replace(memory, bind_id=bind, tensor_desc_id=len(tensors))
            tensors.append(_tensor(number, len(tensors), data[number - TABLES], configuration))
        memories.append(memory)
    version = Version(NEWEST.major, NEWEST.minor)
    blobs = [
        Blob(f"b{number}", len(each), Interface.DLA1, 0, version, each)
        for number, each in enumerate(contents)
        if each
    ]
    numbers = tuple(range(len(memories)))
    return Loadable(
        FORMAT,
        task_list=(Task(0, Interface.DLA1, -1, numbers),),
        memory_list=tuple(memories),
        address_list=tuple(Address(i, i, 0, lengths[i]) for i in numbers),
        blobs=tuple(blobs),
        tensor_desc_list=tuple(tensors),
        submit_list=(Submit(0, (0,)),),
    )


def _size(data: Data, configuration: Configuration) -> int:
    channels, height, width = data.shape
    atoms = -(-channels // configuration.atom_elements(data.precision))
    return max(len(data.contents), atoms * height * width * configuration.atom)


def _tensor(memory: int, number: int, data: Data, configuration: Configuration) -> Tensor:
    channels, height, width = data.shape
    line = width * configuration.atom
    return Tensor(
        f"t{number}",
        number,
        memory,
        _size(data, configuration),
        data_type=_TYPES[data.precision],
        pixel_format=36 if configuration.atom == 32 else 37,
        n=1,
        c=channels,
        h=height,
        w=width,
        stride_0=data.precision.bytes,
        stride_1=line,
        stride_2=line * height,
    )


def _dependencies(steps: Sequence[Step]) -> list[Dependency]:
    """Return what each step waits for: the one before to complete, or the next to be enabled."""
    consumers = [[Consumer()] * len(ENGINE_TYPES) for _ in steps]
    parents = [Consumer()] * len(steps)
    counts = [0] * len(steps)

    def notify(number: int, after: int, event: Event) -> None:
        if consumers[number][steps[after].engine].operation == -1:
            consumers[number][steps[after].engine] = Consumer(after, event)
            counts[after] += 1

    for number, step in enumerate(steps):
        later = range(number + 1, len(steps))
        same = next((each for each in later if steps[each].engine == step.engine), None)
        if step.feeds:
            notify(number, number + 1, Event.PROGRAMMED)
            parents[number + 1] = Consumer(number, Event.ENABLED)
            counts[number] += 1
        elif number + 1 < len(steps):
            notify(number, number + 1, Event.COMPLETED)
        if same is not None:
            notify(number, same, Event.PROGRAMMED)
    return [
        Dependency(
            i, 0, step.engine, counts[i], consumers=tuple(consumers[i]), fused_parent=parents[i]
        )
        for i, step in enumerate(steps)
    ]
