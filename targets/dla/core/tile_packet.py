"""Packets that run an op on tiles: the op declares their fields, and computes their results."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Generic, TypeVar

import numpy as np

from ....dialects.core.tensor import Array
from ....dialects.dla.access import Access
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.memory import uninitialised
from ....dialects.dla.types import REGIONS, BufferType, dtype_of
from .description import Description
from .extent import Extent
from .packet import Packet
from .simulator_state import SimulatorState

Tile = TypeVar("Tile", bound=BufferOp)

REGION = "region"
"""The field with the number of the region of DRAM that a packet accesses."""

STRIDES = ("row", "pixel")
"""The strides of an image in bytes: fields `<operand>_row` and `<operand>_pixel`."""


@dataclass(frozen=True)
class PacketFields:
    """The fields of a packet, as the op that it runs declares them.

    An operand with a start, `<operand>_at`, gives a field `<operand>`, its address; an image has
    strides, too. An op that accesses DRAM gives a field `region`. Other attributes give a field of
    the same name; all packets of an accelerator round alike, and have no field for that.
    """

    addresses: tuple[str, ...]
    images: tuple[str, ...]
    has_region: bool
    rounds: bool
    attributes: Mapping[str, type]

    @staticmethod
    @cache
    def of(tile: type[BufferOp]) -> "PacketFields":
        """Return the fields of the packet that runs an op."""
        types = {field.name: field.type for field in tile.fields.attributes}
        operands = [group.name for group in tile.fields.operands[1:]]
        addresses = tuple(name for name in operands if f"{name}_at" in types)
        other = {"engine", "rounding", *(f"{name}_at" for name in addresses)}
        return PacketFields(
            addresses,
            tuple(name for name in addresses if types[f"{name}_at"] is not int),
            any(space in REGIONS for spaces in tile.spaces.values() for space in spaces),
            "rounding" in types,
            {name: type_ for name, type_ in types.items() if name not in other},
        )

    @property
    def types(self) -> dict[str, type]:
        """Return the types of all fields by name."""
        strides = (f"{name}_{stride}" for name in self.images for stride in STRIDES)
        region = (REGION,) if self.has_region else ()
        return {**dict.fromkeys((*region, *self.addresses, *strides), int), **self.attributes}


class TilePacket(Packet, Generic[Tile]):
    """Base of packets that run the op `tile` on the memories of the accelerator.

    A subclass with a `tile` is a frozen dataclass of its `PacketFields`. The op also gives the name
    of the packet, the bytes that it reads and writes, and what it computes; a subclass adds the
    kind of engine that it `runs_on`, and its `cycles`.
    """

    tile: type[Tile]

    def __init_subclass__(cls) -> None:
        if "tile" in vars(cls):
            cls.name, cls.in_place = cls.tile.packet, cls.tile.in_place
            cls.__annotations__ = PacketFields.of(cls.tile).types
            dataclass(frozen=True, kw_only=True)(cls)

    @cached_property
    def op(self) -> Tile:
        """Return the op with the attributes of the packet, at the start of its buffers."""
        return self.tile(**self._attributes)

    @classmethod
    def documentation(cls) -> str:
        return inspect.getdoc(cls.tile) or ""

    def reads(self, description: Description) -> tuple[Extent, ...]:
        found = self.op.accesses(description.atom)
        return tuple(self.extent(access, description) for access in found if access.reads)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        found = self.op.accesses(description.atom)
        return tuple(self.extent(access, description) for access in found if access.writes)

    def execute(self, state: SimulatorState) -> None:
        description = state.description
        found = self.op.accesses(description.atom)
        accesses = [(access, self.extent(access, description)) for access in found]
        windows = {access.operand: _window(state, access, extent) for access, extent in accesses}
        rounding = {"rounding": description.rounding} if self._fields.rounds else {}
        op = self.tile(**self._attributes, **rounding)
        op.check()
        op.execute(windows)
        for access, extent in accesses:
            if access.writes:
                data = windows[access.operand].view(np.int8)
                state.write(extent, data.reshape(*extent.counts, extent.run))

    def extent(self, access: Access, description: Description) -> Extent:
        """Return the bytes of a window of the op in the memories of the accelerator."""
        name, space = access.operand, self.tile.spaces[access.operand][0]
        start: int = getattr(self, name, 0)  # without an address: the start of the memory
        if space in REGIONS:
            space = _region(description, getattr(self, REGION))
        if name not in self._fields.images:
            return Extent(space, start, BufferType(access.sizes, dtype_of(space), space).size_bytes)
        strides = tuple(getattr(self, f"{name}_{stride}") for stride in STRIDES)
        return Extent(space, start, access.sizes[-1], access.sizes[:-1], strides)

    @property
    def _fields(self) -> PacketFields:
        return PacketFields.of(self.tile)

    @property
    def _attributes(self) -> dict[str, int | str]:
        return {name: getattr(self, name) for name in self._fields.attributes}


def _window(state: SimulatorState, access: Access, extent: Extent) -> Array:
    """Return the window of an operand as an array; a result is not initialised."""
    data = state.read(extent) if access.reads else uninitialised(extent.bytes)
    dtype = np.int8 if dtype_of(extent.space) == "i8" else np.int32
    return data.reshape(-1).view(dtype).reshape(access.sizes)


def _region(description: Description, number: int) -> str:
    """Return the space of a region by number; an unknown number gets a space of its own."""
    names = description.regions
    return f"dram.{names[number] if number < len(names) else number}"
