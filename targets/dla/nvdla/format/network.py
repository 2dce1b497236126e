"""Descriptors of a network: its header, the dependencies of operations, and cubes of data.

Layouts are those of the firmware interface of NVDLA's open software release (dla_interface.h);
they are packed, and checked offset by offset in the tests.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

from .packed import Abi, Count, Since
from .scalars import I8, I16, U8, U16, U32

ABIS = (Abi(0, 10), Abi(0, 11), Abi(0, 12))
"""The versions that are read and written; 0.12 has given cubes an offset."""

NEWEST = ABIS[-1]
ENGINES = 6


class Event(IntEnum):
    """What an operation notifies a consumer of."""

    COMPLETED = 1
    PROGRAMMED = 2
    ENABLED = 3
    WEIGHTS_LOADED = 4
    DATA_LOADED = 5


class Storage(IntEnum):
    """Where a cube is: in a memory, or handed from engine to engine."""

    DRAM = 0
    SRAM = 1
    ON_THE_FLY = 2


class Precision(IntEnum):
    """The type of the elements of a cube."""

    INT8 = 0
    INT16 = 1
    FP16 = 2

    @property
    def bytes(self) -> int:
        """Return the bytes of an element."""
        return 1 if self is Precision.INT8 else 2


@dataclass(frozen=True)
class Network:
    """The header of a task, at its address 0; -1 is an index that is not used.

    `*_index` select an address of the task; `heads` has the first operation of each engine.
    """

    operations_index: I16 = -1
    surfaces_index: I16 = -1
    dependencies_index: I16 = -1
    luts_index: I16 = -1
    rois_index: I16 = -1
    surface_index: I16 = -1
    statistics_index: I16 = -1
    reserved0: I16 = 0
    heads: Annotated[tuple[I16, ...], Count(ENGINES)] = (-1,) * ENGINES
    rois: U16 = 1
    operations: U16 = 0
    luts: U16 = 0
    addresses: U16 = 0
    input_layer: I16 = 0
    dynamic_roi: U8 = 0
    reserved1: U8 = 0


@dataclass(frozen=True)
class Consumer:
    """An operation that is notified of an event; -1 is none."""

    operation: I16 = -1
    event: U8 = Event.COMPLETED
    reserved0: U8 = 0


@dataclass(frozen=True)
class Dependency:
    """How an operation waits for others: it starts after `dependency_count` notifications.

    There is one consumer for each engine. The parent is the operation that feeds this one on the
    fly, and is notified when this one is enabled.
    """

    index: I16 = 0
    roi: I8 = 0
    engine: U8 = 0
    dependency_count: U8 = 0
    reserved0: U8 = 0
    reserved1: U16 = 0
    consumers: Annotated[tuple[Consumer, ...], Count(ENGINES)] = (Consumer(),) * ENGINES
    fused_parent: Consumer = Consumer()


@dataclass(frozen=True)
class Cube:
    """Data in memory: sizes in elements, strides, offset and size in bytes.

    `address` selects an address of the task. `offset` is of ABI 0.12.
    """

    storage: U16 = Storage.DRAM
    address: I16 = -1
    offset: Annotated[U32, Since(Abi(0, 12))] = 0
    size: U32 = 0
    width: U16 = 0
    height: U16 = 0
    channels: U16 = 0
    reserved0: U16 = 0
    line_stride: U32 = 0
    surface_stride: U32 = 0
    plane_stride: U32 = 0


NO_CUBE = Cube(storage=Storage.ON_THE_FLY)
"""An operand that an operation does not have, or gets from another engine."""
