"""Read the packets of a description: fields, their positions, and limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from .description import Engine, Limit, Memory, PacketFormat
from .fields import NUMBERS, Field
from .toml_tables import Path, Table, Tables

_PACKET: Mapping[str, type] = {"opcode": int, "engine": str, "fields": list}
_FIELD: Mapping[str, type] = {"name": str, "unit": int, "bit": int, "bits": int, "kind": str}
_LIMIT: Mapping[str, type] = {"least": int, "most": int, "because": str}


@dataclass(frozen=True)
class Known:
    """The entries that packets refer to; a faulty entry is None, and is not reported again."""

    unit_bytes: int | None
    header: Mapping[str, int]
    memories: Mapping[str, Memory | None] | None
    engines: Mapping[str, Engine | None] | None
    regions: int


class PacketReader:
    """Build formats of packets from their tables."""

    def __init__(self, tables: Tables, known: Known) -> None:
        self.tables = tables
        self.known = known

    def packets(self, tables: Table) -> Mapping[str, PacketFormat]:
        made: dict[str, PacketFormat] = {}
        opcodes: dict[int, str] = {}
        for name, table in tables.items():
            where = ("packets", name)
            self.tables.word(where, name)
            entries = self.tables.good(table, _PACKET, where, {"limits": dict})
            opcode: int | None = entries.get("opcode")
            if opcode is not None:
                self._opcode((*where, "opcode"), opcode, opcodes)
            made[name] = self._packet(name, entries, opcode or 0)
            if made[name].units >= 1 << self.known.header.get("length", 32):
                message = f"packet {name} has {made[name].units} units, 'length' has no such value"
                self.tables.fault(where, message)
        return made

    def _opcode(self, where: Path, opcode: int, opcodes: dict[int, str]) -> None:
        twin = opcodes.setdefault(opcode, where[1])
        if twin != where[1]:
            message = f"packets {twin} and {where[1]} both have opcode {opcode}"
            self.tables.fault(where, message)
        self.tables.number(where, opcode, 0, (1 << self.known.header.get("opcode", 32)) - 1)

    def _packet(self, name: str, entries: Table, opcode: int) -> PacketFormat:
        where = ("packets", name)
        engine: str | None = entries.get("engine")
        engines = self.known.engines
        if engine is not None and engines is not None and engine not in engines:
            message = f"packet {name} names the engine '{engine}', which does not exist"
            self.tables.fault((*where, "engine"), message)
        runs = (engines or {}).get(engine or "")
        listed: list[object] = entries.get("fields", [])
        fields: list[Field] = []
        for table in listed:
            field = self._field(name, table, runs)
            if field is None:
                continue
            for other in fields:
                self._apart(where, field, other)
            fields.append(field)
        names = [_name(table) for table in listed] if "fields" in entries else None
        limits = self._limits(name, entries.get("limits", {}), names)
        units = 1 + max((self._last_unit(field) for field in fields), default=0)
        return PacketFormat(name, opcode, engine or "", units, tuple(fields), limits)

    def _last_unit(self, field: Field) -> int:
        """Return the last unit that a field has bits in; a wide field spans several."""
        bits = (self.known.unit_bytes or field.bits) * 8
        return field.unit + (field.bit + field.bits - 1) // bits

    def _apart(self, where: Path, field: Field, other: Field) -> None:
        place = (*where, field.name)
        if field.name == other.name:
            self.tables.fault(place, f"packet {where[-1]} has two fields '{field.name}'")
        unit = self.known.unit_bytes
        if unit is None:
            return
        first, other_first = field.first(unit), other.first(unit)
        if first < other_first + other.bits and other_first < first + field.bits:
            message = f"fields '{other.name}' and '{field.name}' of {where[-1]} overlap"
            self.tables.fault(place, message)

    def _field(self, packet: str, table: object, engine: Engine | None) -> Field | None:
        where = ("packets", packet, _name(table))
        entries = self.tables.good(table, _FIELD, where, {"wide": bool})
        if not entries.keys() >= _FIELD.keys():
            return None
        field = Field(**entries)
        self.tables.word(where, field.name)
        if not 1 <= field.bits <= 64:
            message = f"field '{field.name}' has {field.bits} bits, must have 1 to 64"
            self.tables.fault(where, message)
            return None
        self._kind(where, field, engine)
        if self.known.unit_bytes is not None:
            self._place(where, field, self.known.unit_bytes * 8)
        return field

    def _place(self, where: Path, field: Field, unit_bits: int) -> None:
        if field.unit < 1 or not 0 <= field.bit < unit_bits:
            message = f"field '{field.name}' starts at bit {field.bit} of unit {field.unit}"
            message = f"{message}, units from 1 on have bits 0 to {unit_bits - 1}"
            self.tables.fault(where, message)
        elif field.bit + field.bits > unit_bits and not field.wide:
            message = f"field '{field.name}' crosses the end of unit {field.unit}"
            self.tables.fault(where, f"{message}, must have wide = true")

    def _kind(self, where: Path, field: Field, engine: Engine | None) -> None:
        if field.memory is not None:
            self._address(where, field, engine)
        elif field.family == "enum":
            self._cases(where, field)
        elif field.kind == "region":
            self._room(where, field, self.known.regions, "regions")
        elif field.kind not in NUMBERS:
            known = (*NUMBERS, "address:<memory>", "enum:<case>,<case>")
            self.tables.choice(where, field.kind, known, f"kind of field '{field.name}'")

    def _cases(self, where: Path, field: Field) -> None:
        cases = field.cases
        if len(set(cases)) != len(cases) or not all(case.isidentifier() for case in cases):
            message = f"cases of field '{field.name}' must be names, each different"
            self.tables.fault(where, message)
        self._room(where, field, len(cases), "cases")

    def _room(self, where: Path, field: Field, count: int, what: str) -> None:
        if count > 1 << field.bits:
            message = f"{count} {what} of field '{field.name}' do not fit in {field.bits} bits"
            self.tables.fault(where, message)

    def _address(self, where: Path, field: Field, engine: Engine | None) -> None:
        memories = self.known.memories
        if memories is None:
            return
        memory = memories.get(field.memory or "")
        if field.memory not in memories:
            message = f"field '{field.name}' points into '{field.memory}', no memory"
            self.tables.fault(where, message)
        if memory is None:
            return
        if field.bits < memory.address_bits:
            message = f"field '{field.name}' has {field.bits} bits, addresses of {memory.name} have"
            self.tables.fault(where, f"{message} {memory.address_bits}")
        if engine is not None and memory.name not in engine.memories:
            message = f"field '{field.name}' points into {memory.name}, which engine {engine.name}"
            self.tables.fault(where, f"{message} does not touch")

    def _limits(self, packet: str, table: Table, names: Sequence[str] | None) -> tuple[Limit, ...]:
        made: list[Limit] = []
        for name, entry in table.items():
            where = ("packets", packet, "limits", name)
            if names is not None and name not in names:
                message = f"limit '{name}' names no field of packet {packet}"
                self.tables.fault(where, message)
            entries = self.tables.good(entry, _LIMIT, where)
            if not entries.keys() >= _LIMIT.keys():
                continue
            limit = Limit(name, **entries)
            if limit.least > limit.most:
                message = f"limit '{name}' is from {limit.least} to {limit.most}, which is empty"
                self.tables.fault(where, message)
            made.append(limit)
        return tuple(made)


def _name(table: object) -> str:
    """Return the name of a field, "fields" if it has none."""
    name = cast(Table, table).get("name") if isinstance(table, dict) else None
    return name if isinstance(name, str) else "fields"
