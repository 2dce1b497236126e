"""Read a description from a TOML file; list all of its faults, each with its line."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.fixed_point import MOST_BITS, ROUNDINGS
from .description import (
    ENGINE_KINDS,
    HEADER,
    RESERVED,
    Description,
    Engine,
    Limit,
    Memory,
    PacketFormat,
)
from .fields import NUMBERS, Field

Table = Mapping[str, Any]

_TOP: Mapping[str, type] = {
    "name": str,
    "summary": str,
    "abi": int,
    "unit_bytes": int,
    "atom": int,
    "rounding": str,
    "multiplier_bits": int,
    "regions": list,
    "header": dict,
    "memories": dict,
    "engines": dict,
    "packets": dict,
}
_STRUCTURE = ("unit_bytes", "header", "memories", "engines", "packets")
_STAND_INS: Table = {
    "name": "",
    "summary": "",
    "abi": 1,
    "atom": 1,
    "rounding": ROUNDINGS[0],
    "multiplier_bits": MOST_BITS,
    "regions": ["region"],
}
"""Values that let the rest be checked when the file's own are missing or of another type."""
_MEMORY: Mapping[str, type] = {"bytes": int, "alignment": int, "address_bits": int}
_ENGINE: Mapping[str, type] = {"kind": str, "memories": list}
_PACKET: Mapping[str, type] = {"opcode": int, "engine": str, "fields": list}
_FIELD: Mapping[str, type] = {"name": str, "unit": int, "bit": int, "bits": int, "kind": str}
_LIMIT: Mapping[str, type] = {"least": int, "most": int, "because": str}
_NEEDED = ("dram", "sram", "weights", "accumulator")
_WORDS = {int: "a number", str: "a text", list: "a list", dict: "a table", bool: "true or false"}


def read_description(path: Path) -> Description:
    """Read and check a description; raise CompileError with every fault of the file."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the description '{path}': {error}") from None
    return parse_description(text, path.name)


def parse_description(text: str | bytes, file: str = "description") -> Description:
    """Check the text of a description and make it; raise CompileError with all its faults."""
    try:
        text = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        raise CompileError([Diagnostic(file, f"is no text: {error}")]) from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CompileError([Diagnostic(file, str(error))]) from None
    reader = _Reader(text, file)
    made = reader.description(table)
    if reader.faults or made is None:
        raise CompileError(sorted(reader.faults, key=_line_of))
    return made


def _line_of(fault: Diagnostic) -> tuple[int, str]:
    return int(fault.where.rpartition(":")[2]), fault.message


def _entry(table: object, key: str, default: object) -> object:
    return cast(Table, table).get(key, default) if isinstance(table, dict) else default


class _Reader:
    """Make the parts of a description out of tables, and collect what is wrong with them."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.lines = text.splitlines()
        self.file = file
        self.faults: list[Diagnostic] = []

    def fault(self, where: tuple[str, ...], message: str) -> None:
        self.faults.append(Diagnostic(f"{self.file}:{self.line(where)}", message))

    def line(self, where: tuple[str, ...]) -> int:
        """Find the line of a path of keys: its table's head, then the last key in that table."""
        for length in range(len(where), 0, -1):
            head = re.escape(".".join(where[:length]))
            start = self._search(rf"\s*\[{head}\]", 0, len(self.lines))
            if start is not None:
                return self._below(start, where[length:]) + 1
        return self._below(-1, where) + 1 or 1

    def _below(self, head: int, keys: tuple[str, ...]) -> int:
        end = self._search(r"\s*\[[\w.]+\]\s*(#|$)", head + 1, len(self.lines))
        found = head
        for key in keys:
            text = re.escape(key)
            pattern = rf"\s*{text}\s*=|.*[{{,]\s*name\s*=\s*\"{text}\""
            line = self._search(pattern, max(found, 0), len(self.lines) if end is None else end)
            found = found if line is None else line
        return found

    def _search(self, pattern: str, start: int, end: int) -> int | None:
        matches = (n for n in range(start, end) if re.match(pattern, self.lines[n]))
        return next(matches, None)

    def complete(
        self, table: object, needed: Mapping[str, type], where: tuple[str, ...], more: object = ()
    ) -> Table | None:
        """Return a table that has all entries of the right type and no others, or None."""
        if not isinstance(table, dict):
            self.fault(where, f"'{'.'.join(where)}' must be a table")
            return None
        entries = cast(Table, table)
        count = len(self.faults)
        named = f"'{'.'.join(where)}' " if where else "the description "
        for key, kind in needed.items():
            if key not in entries:
                self.fault(where, f"{named}lacks '{key}'")
            elif type(entries[key]) is not kind:
                self.fault((*where, key), f"'{key}' must be {_WORDS[kind]}")
        optional = cast("Iterable[str]", more)
        for key in entries.keys() - needed.keys() - set(optional):
            self.fault((*where, key), f"{named}has an unknown entry '{key}'")
        return entries if len(self.faults) == count else None

    def number(self, where: tuple[str, ...], value: int, least: int, most: int) -> None:
        if not least <= value <= most:
            self.fault(where, f"'{where[-1]}' is {value}, must be from {least} to {most}")

    def power(self, where: tuple[str, ...], value: int) -> None:
        if value < 1 or value & value - 1:
            self.fault(where, f"'{where[-1]}' is {value}, must be a power of two")

    def description(self, table: Table) -> Description | None:
        top = self.complete(table, _TOP, ())
        if top is None:
            # Without the tables nothing more can be said; without the rest, much of them can.
            if any(type(table.get(key)) is not _TOP[key] for key in _STRUCTURE):
                return None
            good = {key: table[key] for key in _TOP if type(table.get(key)) is _TOP[key]}
            top = {**_STAND_INS, **good}
        self.number(("abi",), top["abi"], 1, 0xFFFF)
        self.power(("atom",), top["atom"])
        self.power(("unit_bytes",), top["unit_bytes"])
        self.number(("unit_bytes",), top["unit_bytes"], 8, 4096)
        self.number(("multiplier_bits",), top["multiplier_bits"], 2, MOST_BITS)
        if top["rounding"] not in ROUNDINGS:
            known = ", ".join(ROUNDINGS)
            self.fault(("rounding",), f"rounding is '{top['rounding']}', must be one of: {known}")
        regions = self._names(("regions",), top["regions"])
        memories = {name: self.memory(name, entry) for name, entry in top["memories"].items()}
        for name in _NEEDED:
            if name not in memories:
                self.fault(("memories",), f"'memories' lacks '{name}'")
        known_memories = {name: memory for name, memory in memories.items() if memory}
        engines = {n: self.engine(n, entry, memories) for n, entry in top["engines"].items()}
        header = self.header(top["header"], top["unit_bytes"], engines)
        packets = self.packets(top["packets"], top, memories, engines, header)
        if self.faults:
            return None
        return Description(
            **{key: top[key] for key in list(_TOP)[:7]},
            regions=regions,
            header=header,
            memories=known_memories,
            engines={name: engine for name, engine in engines.items() if engine},
            packets=packets,
            source=self.text,
        )

    def _names(self, where: tuple[str, ...], names: list[object]) -> tuple[str, ...]:
        texts = tuple(name for name in names if isinstance(name, str))
        if len(set(texts)) != len(names) or not names:
            self.fault(where, f"'{where[-1]}' must be a list of names, each different")
        return texts

    def memory(self, name: str, table: object) -> Memory | None:
        where = ("memories", name)
        entries = self.complete(table, _MEMORY, where)
        if entries is None:
            return None
        size, alignment, bits = (entries[key] for key in _MEMORY)
        if alignment < 1 or alignment & alignment - 1:
            self.fault(where, f"alignment of {name} is {alignment}, must be a power of two")
        elif size < 1 or size % alignment:
            message = f"{name} has {size} bytes, must be a multiple of its alignment, {alignment}"
            self.fault(where, message)
        if not 1 <= bits <= 64:
            self.fault(where, f"addresses of {name} have {bits} bits, must have 1 to 64")
        elif size > 1 << bits:
            message = f"{name} has {size} bytes, addresses of {bits} bits reach {1 << bits}"
            self.fault(where, message)
        return Memory(name, size, alignment, bits)

    def engine(self, name: str, table: object, memories: Iterable[str]) -> Engine | None:
        where = ("engines", name)
        kind = _entry(table, "kind", None)
        if isinstance(kind, str) and kind not in ENGINE_KINDS:
            known = ", ".join(ENGINE_KINDS)
            self.fault((*where, "kind"), f"kind of {name} is '{kind}', must be one of: {known}")
            return None
        costs = ENGINE_KINDS.get(str(kind), ())
        entries = self.complete(table, {**_ENGINE, **dict.fromkeys(costs, int)}, where)
        if entries is None:
            return None
        names = self._names((*where, "memories"), entries["memories"])
        for memory in names:
            if memory not in memories:
                message = f"engine {name} names the memory '{memory}', which there is not"
                self.fault((*where, "memories"), message)
        for key in costs:
            least = 0 if key in ("latency", "overhead") else 1
            self.number((*where, key), entries[key], least, 1 << 20)
        return Engine(name, str(kind), names, {key: entries[key] for key in costs})

    def header(self, table: Table, unit: int, engines: Mapping[str, object]) -> Mapping[str, int]:
        entries = self.complete(table, dict.fromkeys(HEADER, int), ("header",))
        if entries is None:
            return {}
        for key in HEADER:
            self.number(("header", key), entries[key], 1, 32)
        one_each = sum(entries[key] for key in HEADER) + RESERVED
        needed = one_each + (len(engines) - 1) * entries["wait"]
        if needed > unit * 8:
            self.fault(("header",), f"the header takes {needed} bits, a unit has {unit * 8}")
        if len(engines) > 1 << entries["engine"]:
            message = f"{len(engines)} engines do not fit in {entries['engine']} bits"
            self.fault(("header", "engine"), message)
        return {key: entries[key] for key in HEADER}

    def packets(
        self,
        tables: Table,
        top: Table,
        memories: Mapping[str, Memory | None],
        engines: Mapping[str, Engine | None],
        header: Mapping[str, int],
    ) -> Mapping[str, PacketFormat]:
        made: dict[str, PacketFormat] = {}
        for name, table in tables.items():
            packet = self.packet(name, table, top["unit_bytes"] * 8, memories, engines)
            if packet is None:
                continue
            twin = next((p.name for p in made.values() if p.opcode == packet.opcode), None)
            where = ("packets", name, "opcode")
            if twin is not None:
                self.fault(where, f"packets {twin} and {name} both have opcode {packet.opcode}")
            if header:
                self.number(where, packet.opcode, 0, (1 << header["opcode"]) - 1)
                if packet.units >= 1 << header["length"]:
                    message = f"packet {name} has {packet.units} units, 'length' cannot say so"
                    self.fault(where[:2], message)
            made[name] = packet
        return made

    def packet(
        self,
        name: str,
        table: object,
        unit_bits: int,
        memories: Mapping[str, Memory | None],
        engines: Mapping[str, Engine | None],
    ) -> PacketFormat | None:
        where = ("packets", name)
        entries = self.complete(table, _PACKET, where, ("limits",))
        if entries is None:
            return None
        engine = engines.get(entries["engine"])
        if entries["engine"] not in engines:
            message = f"packet {name} names the engine '{entries['engine']}', which there is not"
            self.fault((*where, "engine"), message)
        fields: list[Field] = []
        for table in cast(list[object], entries["fields"]):
            field = self.field(name, table, unit_bits, memories, engine)
            if field is None:
                continue
            for other in fields:
                self._apart(where, field, other, unit_bits)
            fields.append(field)
        limits = self.limits(name, entries.get("limits", {}), fields)
        return PacketFormat(name, entries["opcode"], entries["engine"], tuple(fields), limits)

    def _apart(self, where: tuple[str, ...], field: Field, other: Field, unit: int) -> None:
        place = (*where, field.name)
        if field.name == other.name:
            self.fault(place, f"packet {where[-1]} has two fields '{field.name}'")
        first, other_first = field.first(unit // 8), other.first(unit // 8)
        if first < other_first + other.bits and other_first < first + field.bits:
            message = f"fields '{other.name}' and '{field.name}' of {where[-1]} overlap"
            self.fault(place, message)

    def field(
        self,
        packet: str,
        table: object,
        unit_bits: int,
        memories: Mapping[str, Memory | None],
        engine: Engine | None,
    ) -> Field | None:
        named = _entry(table, "name", "fields")
        where = ("packets", packet, str(named))
        entries = self.complete(table, _FIELD, where, ("wide",))
        if entries is None:
            return None
        field = Field(**entries)
        self.kind(where, field, memories, engine)
        if not 1 <= field.bits <= 64:
            self.fault(where, f"field '{field.name}' has {field.bits} bits, must have 1 to 64")
        if field.unit < 1 or not 0 <= field.bit < unit_bits:
            message = f"field '{field.name}' starts at bit {field.bit} of unit {field.unit}"
            self.fault(where, f"{message}, units from 1 on have bits 0 to {unit_bits - 1}")
        elif field.bit + field.bits > unit_bits and not field.wide:
            message = f"field '{field.name}' crosses the end of unit {field.unit}"
            self.fault(where, f"{message}, must say wide = true")
        return field

    def kind(
        self,
        where: tuple[str, ...],
        field: Field,
        memories: Mapping[str, Memory | None],
        engine: Engine | None,
    ) -> None:
        if field.memory is not None:
            self.address(where, field, memories, engine)
        elif field.family == "enum":
            cases = field.cases
            if len(set(cases)) != len(cases) or not all(cases):
                self.fault(where, f"cases of field '{field.name}' must be names, each different")
            if len(cases) > 1 << field.bits:
                message = f"{len(cases)} cases of field '{field.name}' do not fit in {field.bits}"
                self.fault(where, f"{message} bits")
        elif field.kind not in NUMBERS:
            known = ", ".join((*NUMBERS, "address:<memory>", "enum:<case>,<case>"))
            message = f"field '{field.name}' is of kind '{field.kind}', must be one of: {known}"
            self.fault(where, message)

    def address(
        self,
        where: tuple[str, ...],
        field: Field,
        memories: Mapping[str, Memory | None],
        engine: Engine | None,
    ) -> None:
        memory = memories.get(field.memory or "")
        if field.memory not in memories:
            self.fault(where, f"field '{field.name}' points into '{field.memory}', no memory")
        if memory is None:
            return
        if field.bits < memory.address_bits:
            message = f"field '{field.name}' has {field.bits} bits, addresses of {memory.name} have"
            self.fault(where, f"{message} {memory.address_bits}")
        if engine is not None and memory.name not in engine.memories:
            message = f"field '{field.name}' points into {memory.name}, which engine {engine.name}"
            self.fault(where, f"{message} does not touch")

    def limits(self, packet: str, tables: object, fields: list[Field]) -> tuple[Limit, ...]:
        made: list[Limit] = []
        names = {field.name for field in fields}
        where = ("packets", packet, "limits")
        if not isinstance(tables, dict):
            self.fault(where, f"'{'.'.join(where)}' must be a table")
            return ()
        for name, table in cast(Table, tables).items():
            entries = self.complete(table, _LIMIT, (*where, name))
            if name not in names:
                self.fault((*where, name), f"limit '{name}' names no field of packet {packet}")
            if entries is not None:
                made.append(Limit(name, **entries))
        return tuple(made)
