"""Find the faults of a loadable without running it, for a configuration of NVDLA."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .....dialects.core.errors import CompileError
from ..configuration import Configuration
from ..cpu.descriptors import decode_emulator_task, emulator_faults
from ..format.dla_task import DlaTask, Operation, Tables, decode_task, submitted
from ..format.loadable import Interface, Loadable, MemoryFlags
from ..format.network import Cube, Precision, Storage
from ..format.operations import (
    BdmaSurface,
    ConvOperation,
    ConvSurface,
    PdpOperation,
    SdpOperation,
    SdpSurface,
    Transfer,
    TwoCubes,
)
from ..pixels import ImageLayout, pixel_format
from ..planes import PlanarLayout
from ..reference.bdma import extent, transfer_fault
from ..surfaces import layout_of
from .features import features_of, images_of, is_planar, precisions_of, used_cubes
from .firmware import indices_fault, notifications, replay
from .hazards import hazards
from .size_faults import conv_faults, pool_faults
from .winograd_faults import mode_faults

MOST_ADDRESSES, MOST_TASKS = 6144, 24


@dataclass(frozen=True)
class Finding:
    """A fault, and the entry or operation that has it."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def lint(loadable: Loadable, configuration: Configuration) -> tuple[Finding, ...]:
    """Return the faults of a loadable; descriptors that cannot be decoded are one of them."""
    tables = Tables(loadable)
    found = list(_table_findings(tables))
    try:
        for entry in submitted(tables):
            if entry.interface == Interface.DLA1:
                found += _task_findings(decode_task(tables, entry), tables, configuration)
            elif entry.interface == Interface.EMU1:
                task = decode_emulator_task(tables, entry)
                for each in task.operations:
                    found += [Finding(str(each), fault) for fault in emulator_faults(each, task)]
            else:
                known = f"{Interface.DLA1.value} or {Interface.EMU1.value}"
                message = f"has interface {entry.interface}, must be {known}"
                found.append(Finding(f"task {entry.id}", message))
    except CompileError as error:
        found += [Finding(each.where, each.message) for each in error.diagnostics]
    return tuple(found)


def _table_findings(tables: Tables) -> Iterator[Finding]:
    loadable = tables.loadable
    lists = {
        "memory": loadable.memory_list,
        "address": loadable.address_list,
        "task": loadable.task_list,
        "tensor": loadable.tensor_desc_list,
    }
    for name, entries in lists.items():
        counts = Counter(each.id for each in entries)
        for each in sorted(id for id, count in counts.items() if count > 1):
            yield Finding(f"{name} {each}", "exists more than once")
    for submit in loadable.submit_list:
        if len(submit.task_id) > MOST_TASKS:
            count = len(submit.task_id)
            yield Finding(f"submit {submit.id}", f"has {count} tasks, must be {MOST_TASKS} or less")
    for task in loadable.task_list:
        if len(task.address_list) > MOST_ADDRESSES:
            count = len(task.address_list)
            message = f"has {count} addresses, must be {MOST_ADDRESSES} or less"
            yield Finding(f"task {task.id}", message)
    yield from _memory_findings(tables)


def _memory_findings(tables: Tables) -> Iterator[Finding]:
    loadable = tables.loadable
    tensors = {each.id: each for each in loadable.tensor_desc_list}
    for flag in (MemoryFlags.INPUT, MemoryFlags.OUTPUT):
        bound = [each for each in loadable.memory_list if each.flags & flag]
        ids = sorted(each.bind_id for each in bound)
        if ids != list(range(len(ids))):
            name = str(flag.name).lower()
            yield Finding(f"{name}s", f"have bind ids {ids}, must be 0 to {len(ids) - 1}")
        for memory in bound:
            tensor = tensors.get(memory.tensor_desc_id)
            where = f"memory {memory.id}"
            if tensor is None:
                yield Finding(where, f"has tensor {memory.tensor_desc_id}, which does not exist")
            elif tensor.mem_id != memory.id:
                yield Finding(where, f"tensor '{tensor.name}' is in memory {tensor.mem_id}")
            elif min(tensor.n, tensor.c, tensor.h, tensor.w) < 1:
                sizes = f"{tensor.n}x{tensor.c}x{tensor.h}x{tensor.w}"
                yield Finding(where, f"tensor '{tensor.name}' is {sizes}, must have sizes from 1")
            elif (elements := tensor.n * tensor.c * tensor.h * tensor.w) > tensor.size:
                message = f"tensor '{tensor.name}' has {elements} elements in {tensor.size} bytes"
                yield Finding(where, message)
            elif tensor.offset + tensor.size > memory.size:
                end = f"{tensor.offset + tensor.size:#x}"
                yield Finding(where, f"tensor '{tensor.name}' ends at {end}, past its memory")
    for memory in loadable.memory_list:
        try:
            list(tables.placed(memory))
        except CompileError as error:
            yield Finding(f"memory {memory.id}", error.diagnostics[0].message)


def _task_findings(
    task: DlaTask, tables: Tables, configuration: Configuration
) -> Iterator[Finding]:
    fault = indices_fault(task.operations, task.network.heads)
    if fault is not None:
        yield Finding(f"task {task.number}", fault)
        return
    found = list(_order_findings(task))
    for each in task.operations:
        found += [Finding(str(each), m) for m in _operation_faults(each, task, configuration)]
    yield from found
    if not found:
        chains = replay(task.operations, task.network.heads).chains
        faults = *mode_faults(task, chains), *hazards(task, chains, configuration)
        for where, message in faults:
            yield Finding(where, message)


def _order_findings(task: DlaTask) -> Iterator[Finding]:
    arriving = notifications(task.operations)
    for each in task.operations:
        count = each.dependency.dependency_count
        if count != arriving[each.number]:
            message = f"waits for {count} notifications, {arriving[each.number]} arrive"
            yield Finding(str(each), message)
    for number, left in replay(task.operations, task.network.heads).waiting.items():
        reason = f"{left} notifications never arrive" if left > 0 else "it is never started"
        yield Finding(str(task.operations[number]), f"does not run: {reason}")


def _operation_faults(
    operation: Operation, task: DlaTask, configuration: Configuration
) -> Iterator[str]:
    descriptor, surface = operation.descriptor, operation.surface
    precisions = precisions_of(descriptor)
    refusal = configuration.refusal(operation.engine, *precisions)
    if refusal is not None:
        yield refusal
        return
    if isinstance(descriptor, SdpOperation):
        yield from _stage_faults(descriptor, configuration)
    yield from _batch_faults(operation, configuration)
    if isinstance(surface, BdmaSurface):
        yield from _transfer_faults(surface, task)
    for name, cube in used_cubes(descriptor, surface, configuration):
        fault = _address_fault(cube, task)
        if fault is None and name in features_of(descriptor):
            precision = Precision(precisions[name == "destination"])
            fault = _strides_fault(cube, task, configuration, precision, images_of(descriptor))
        elif fault is None and is_planar(descriptor, name):
            fault = _planes_fault(cube, task, Precision(precisions[0]))
        elif fault is None and name == "source" and isinstance(surface, ConvSurface):
            fault = _pixels_fault(operation, surface, task, configuration)
        if fault is not None:
            yield f"'{name}' {fault}"
    if isinstance(descriptor, ConvOperation) and isinstance(surface, ConvSurface):
        yield from conv_faults(descriptor, surface, configuration)
    if isinstance(descriptor, PdpOperation) and isinstance(surface, TwoCubes):
        yield from pool_faults(descriptor, surface)


def _batch_faults(operation: Operation, configuration: Configuration) -> Iterator[str]:
    count, _ = images_of(operation.descriptor)
    if count > configuration.batch:
        yield f"has a batch of {count}, {configuration.name} has {configuration.batch} or less"
    surface = operation.surface
    if count > 1 and isinstance(surface, SdpSurface):
        if surface.source.storage != Storage.ON_THE_FLY:
            yield f"has a batch of {count} in memory, must follow a convolution"
        if surface.destination.storage == Storage.ON_THE_FLY:
            yield f"has a batch of {count}, must store it"


def _transfer_faults(surface: BdmaSurface, task: DlaTask) -> Iterator[str]:
    if surface.count > len(surface.transfers):
        yield f"has {surface.count} transfers, must be {len(surface.transfers)} or less"
    for number, each in enumerate(surface.transfers[: surface.count]):
        fault = transfer_fault(each)
        ends = (_transfer_end_fault(each, end, task) for end in ("source", "destination"))
        for message in (fault,) if fault else ends:
            if message is not None:
                yield f"transfer {number} {message}"


def _transfer_end_fault(transfer: Transfer, end: str, task: DlaTask) -> str | None:
    index: int = getattr(transfer, end)
    if not 0 <= index < len(task.addresses):
        return f"has {end} address {index}, the task has {len(task.addresses)} addresses"
    line, surface = getattr(transfer, f"{end}_line"), getattr(transfer, f"{end}_surface")
    used, size = extent(transfer, line, surface), task.addresses[index].size
    return f"has a {end} that ends at {used:#x}, its address at {size:#x}" if used > size else None


def _stage_faults(descriptor: SdpOperation, configuration: Configuration) -> Iterator[str]:
    stages = {"x1": descriptor.x1, "x2": descriptor.x2, "y": descriptor.y}
    for name, stage in stages.items():
        if stage.enable and name not in configuration.sdp_stages:
            yield f"{configuration.name} has no stage {name.upper()} of SDP"
        if stage.enable and stage.activation == 2 and not configuration.sdp_lut:
            yield f"{configuration.name} has no look-up table in SDP"


def _planes_fault(cube: Cube, task: DlaTask, precision: Precision) -> str | None:
    layout = PlanarLayout.of(cube, precision)
    size = task.addresses[cube.address].size
    fault = layout.fault()
    if fault is None and cube.offset + layout.bytes > size:
        end = f"{cube.offset + layout.bytes:#x}"
        fault = f"ends at {end} by its strides, its address at {size:#x}"
    return fault


def _pixels_fault(
    operation: Operation, surface: ConvSurface, task: DlaTask, configuration: Configuration
) -> str | None:
    """Return the fault of a source of pixels; an unknown format is one of the descriptor."""
    assert isinstance(operation.descriptor, ConvOperation)
    number, cube = operation.descriptor.data_format, surface.source
    if pixel_format(number) is None:
        return None
    if cube.storage == Storage.ON_THE_FLY:
        return "is on the fly, pixels must be in memory"
    if cube.offset % configuration.atom:
        return f"has offset {cube.offset:#x}, must be a multiple of {configuration.atom}"
    layout, size = ImageLayout.of(surface, number), task.addresses[cube.address].size
    fault = layout.fault(configuration.atom)
    if fault is None and cube.offset + layout.end > size:
        end = f"{cube.offset + layout.end:#x}"
        fault = f"ends at {end} by its strides, its address at {size:#x}"
    return fault


def _address_fault(cube: Cube, task: DlaTask) -> str | None:
    if cube.storage == Storage.ON_THE_FLY:
        return None if cube.address == -1 else f"has address {cube.address}, must be -1 on the fly"
    if cube.storage not in (Storage.DRAM, Storage.SRAM):
        return f"has storage {cube.storage}, must be 0, 1 or 2"
    if not 0 <= cube.address < len(task.addresses):
        count = len(task.addresses)
        return f"has address {cube.address}, the task has {count} addresses"
    size = task.addresses[cube.address].size
    if cube.offset + cube.size > size:
        return f"ends at {cube.offset + cube.size:#x}, its address at {size:#x}"
    return None


def _strides_fault(
    cube: Cube,
    task: DlaTask,
    configuration: Configuration,
    precision: Precision,
    images: tuple[int, int],
) -> str | None:
    if cube.storage == Storage.ON_THE_FLY:
        return None
    layout = layout_of(cube, configuration, precision)
    fault = layout.fault()
    if fault is not None:
        return fault
    size = task.addresses[cube.address].size
    if cube.offset % configuration.atom:
        return f"has offset {cube.offset:#x}, must be a multiple of {configuration.atom}"
    count, apart = images
    if count > 1 and (not apart or apart % configuration.atom):
        return f"has images {apart} bytes apart, must be a multiple of {configuration.atom}"
    end = cube.offset + layout.bytes + (count - 1) * apart
    return f"ends at {end:#x} by its strides, its address at {size:#x}" if end > size else None
