"""Packets: named values, their encoding, and their effect on the simulator state."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

from ....dialects.core.errors import CompileError, Invalid
from .description import Description, PacketFormat
from .extent import Extent
from .fields import Value
from .simulator_state import SimulatorState


@dataclass(frozen=True, kw_only=True)
class Packet:
    """Base of all packets: a frozen dataclass with the fields that the description lists.

    `waits` maps an engine to the number of its packets that must be complete before this one
    starts. `runs_on` is a kind of engine, whose costs `cycles` uses. A description may omit a
    packet that is not `needed`; ops that need it are then refused. An `in_place` packet may write
    exactly the bytes that it reads. The packet that `ends` closes a stream.
    """

    name: ClassVar[str]
    runs_on: ClassVar[str] = ""
    needed: ClassVar[bool] = False
    in_place: ClassVar[bool] = False
    ends: ClassVar[bool] = False
    waits: Mapping[str, int] = field(default_factory=dict[str, int])
    flags: int = 0

    def reads(self, description: Description) -> tuple[Extent, ...]:
        """Return the extents that the packet reads."""
        return ()

    def writes(self, description: Description) -> tuple[Extent, ...]:
        """Return the extents that the packet writes."""
        return ()

    def cycles(self, description: Description) -> int:
        """Return the cycles that the engine is busy."""
        return 0

    def execute(self, state: SimulatorState) -> None:
        """Apply the packet to a simulator state; raise Invalid for an impossible operation."""

    @classmethod
    def documentation(cls) -> str:
        """Return the text that describes the packet."""
        return inspect.getdoc(cls) or ""

    @classmethod
    def own_fields(cls) -> tuple[str, ...]:
        """Return the names of the fields that the class adds."""
        return tuple(f.name for f in fields(cls) if f.name not in ("waits", "flags"))


def addresses_fault(packet: Packet, description: Description) -> str | None:
    """Return which address of a packet violates its memory's alignment, or None."""
    for each in description.packets[packet.name].fields:
        if each.memory is None:
            continue
        alignment = description.memories[each.memory].alignment
        value = getattr(packet, each.name)
        if value % alignment:
            return f"address '{each.name}' is {value}, must be a multiple of {alignment}"
    return None


@dataclass(frozen=True)
class Placed:
    """A packet and its offset in a stream."""

    offset: int
    packet: Packet


class InstructionSet:
    """Encode and decode the packets of a description, by their classes."""

    def __init__(self, description: Description, classes: Sequence[type[Packet]]) -> None:
        self.description = description
        listed = (cls for cls in classes if cls.needed or cls.name in description.packets)
        self.classes = {cls.name: cls for cls in listed}
        self.by_opcode = {form.opcode: form for form in description.packets.values()}
        self.engines = tuple(description.engines)
        self._check_classes()

    def _check_classes(self) -> None:
        for name in sorted(self.classes.keys() | self.description.packets.keys()):
            if name not in self.description.packets:
                raise CompileError(f"the description lacks the packet '{name}'")
            if name not in self.classes:
                raise CompileError(f"packet '{name}' has no class that executes it")
            self._check_class(self.classes[name], self.description.packets[name])

    def _check_class(self, cls: type[Packet], form: PacketFormat) -> None:
        listed = {field.name: field for field in form.fields}
        types = {field.name: field.type for field in fields(cls)}
        for missing in sorted(set(cls.own_fields()) ^ listed.keys()):
            side = "its class" if missing in listed else "the description"
            raise CompileError(f"field '{missing}' of packet '{form.name}' is not in {side}")
        for name, entry in listed.items():
            kind = "cases" if types[name] in (str, "str") else "numbers"
            if bool(entry.cases) != (kind == "cases"):
                message = f"field '{name}' of packet '{form.name}' is of kind '{entry.kind}'"
                raise CompileError(f"{message}, its class has {kind} there")
        kind = self.description.engines[form.engine].kind
        if cls.runs_on not in ("", kind):
            message = f"packet '{form.name}' is run by '{form.engine}', an engine of kind '{kind}'"
            raise CompileError(f"{message}, must be of kind '{cls.runs_on}'")

    def form(self, packet: Packet) -> PacketFormat:
        """Return the format of a packet."""
        return self.description.packets[packet.name]

    def encode(self, packet: Packet) -> bytes:
        """Return a packet's bytes; raise Invalid, with the name, for values that do not fit."""
        form = self.form(packet)
        unit = self.description.unit_bytes
        values: dict[str, Value] = {f.name: getattr(packet, f.name) for f in form.fields}
        self.description.check(packet.name, values)
        bits = self._header_bits(packet, form)
        for listed in form.fields:
            bits |= listed.pack(values[listed.name]) << listed.first(unit)
        return bits.to_bytes(form.units * unit, "little")

    def encode_stream(self, packets: Sequence[Packet]) -> bytes:
        """Return the bytes of packets, one after another."""
        return b"".join(map(self.encode, packets))

    def decode(self, data: bytes, offset: int = 0) -> Packet:
        """Return the packet at an offset; raise Invalid for bytes that no packet encodes to."""
        unit, header = self.description.unit_bytes, self.description.header
        if len(data) - offset < unit:
            raise Invalid(f"packet is cut short: {len(data) - offset} bytes, a unit has {unit}")
        opcode = (
            int.from_bytes(data[offset : offset + unit], "little") & (1 << header["opcode"]) - 1
        )
        form = self.by_opcode.get(opcode)
        if form is None:
            raise Invalid(f"no packet has opcode {opcode}")
        size = form.units * unit
        if len(data) - offset < size:
            raise Invalid(
                f"packet is cut short: {len(data) - offset} bytes, {form.name} has {size}"
            )
        bits = int.from_bytes(data[offset : offset + size], "little")
        values: dict[str, Value] = {}
        for listed in form.fields:
            field_bits = bits >> listed.first(unit) & (1 << listed.bits) - 1
            values[listed.name] = listed.unpack(field_bits)
        self.description.check(form.name, values)
        flags, waits = self._header_values(bits)
        made: Packet = self.classes[form.name](waits=waits, flags=flags, **values)  # pyright: ignore[reportArgumentType]
        if self.encode(made) != data[offset : offset + size]:
            raise Invalid(
                f"length, engine or reserved bits of {form.name} are not what they must be"
            )
        return made

    def decode_stream(self, code: bytes) -> list[Placed]:
        """Return the packets of a stream; raise CompileError with the offset of a fault."""
        return list(self._decoded(code))

    def _decoded(self, code: bytes) -> Iterator[Placed]:
        offset = 0
        while offset < len(code):
            try:
                packet = self.decode(code, offset)
            except Invalid as error:
                raise CompileError(f"offset {offset:#x}: {error}") from None
            yield Placed(offset, packet)
            offset += self.form(packet).units * self.description.unit_bytes

    def _header_bits(self, packet: Packet, form: PacketFormat) -> int:
        for unknown in packet.waits.keys() - set(self.engines):
            raise Invalid(f"packet waits for '{unknown}', which is no engine")
        values = {f"wait.{name}": packet.waits.get(name, 0) for name in self.engines}
        values |= {"opcode": form.opcode, "length": form.units, "reserved": 0}
        values |= {"engine": self.engines.index(form.engine), "flags": packet.flags}
        bits = 0
        for part in self.description.header_fields:
            bits |= part.pack(values[part.name]) << part.bit
        return bits

    def _header_values(self, bits: int) -> tuple[int, dict[str, int]]:
        parts = self.description.header_fields
        values = {part.name: bits >> part.bit & (1 << part.bits) - 1 for part in parts}
        waits = {name: values[f"wait.{name}"] for name in self.engines}
        return values["flags"], {name: count for name, count in waits.items() if count}
