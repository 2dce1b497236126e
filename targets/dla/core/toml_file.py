"""Read a description from a TOML file; list all of its faults, each with its line."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import cast

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.numerics.fixed_point import MOST_BITS, ROUNDINGS
from .description import ENGINE_KINDS, HEADER, RESERVED, Description, Engine, Memory
from .toml_packets import Known, PacketReader
from .toml_tables import Table, Tables

_FACTS: Mapping[str, type] = {
    "name": str,
    "summary": str,
    "abi": int,
    "unit_bytes": int,
    "atom": int,
    "rounding": str,
    "multiplier_bits": int,
}
_PARTS: Mapping[str, type] = {
    "regions": list,
    "header": dict,
    "memories": dict,
    "engines": dict,
    "packets": dict,
}
_MEMORY: Mapping[str, type] = {"bytes": int, "alignment": int, "address_bits": int}
_ENGINE: Mapping[str, type] = {"kind": str, "memories": list}
_COSTS: Mapping[str, type] = dict.fromkeys(chain(*ENGINE_KINDS.values()), int)
_NEEDED = ("dram", "sram", "weights", "accumulator")
_REGIONS = ("constants", "inputs", "outputs", "activations")
_LONGEST = 24
"""The bytes of a name in the header of a container."""


def read_description(path: Path) -> Description:
    """Read and check a description; raise CompileError with every fault of the file."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the description '{path}': {error}") from None
    return parse_description(text, path.name)


@lru_cache(maxsize=16)
def parse_description(text: str | bytes, file: str = "description") -> Description:
    """Check the text of a description and make it; raise CompileError with all its faults."""
    try:
        text = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        raise CompileError([Diagnostic(file, f"is no text: {error}")]) from None
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CompileError([Diagnostic(file, str(error))]) from None
    tables = Tables(text, file)
    made = _Reader(tables).description(table)
    if made is None:
        raise CompileError(tables.in_order())
    return made


class _Reader:
    """Build the parts of a description from tables.

    A faulty part is None; nothing that depends on it is reported.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def description(self, table: Table) -> Description | None:
        top = self.tables.good(table, {**_FACTS, **_PARTS}, ())
        self._facts(top)
        unit = self._unit(top.get("unit_bytes"))
        regions = self._regions(top.get("regions"))
        memories = self._memories(top.get("memories"))
        engines = self._engines(top.get("engines"), memories)
        header = self._header(top.get("header"), unit, engines)
        known = Known(unit, header, memories, engines, len(regions))
        packets = PacketReader(self.tables, known).packets(top.get("packets", {}))
        if self.tables.faults:
            return None
        return Description(
            **{key: top[key] for key in _FACTS},
            regions=regions,
            header=header,
            memories={name: memory for name, memory in (memories or {}).items() if memory},
            engines={name: engine for name, engine in (engines or {}).items() if engine},
            packets=packets,
            source=self.tables.text,
        )

    def _facts(self, top: Table) -> None:
        name: str = top.get("name", "name")
        if not 1 <= len(name.encode()) <= _LONGEST:
            self.tables.fault(("name",), f"'name' is '{name}', must have 1 to {_LONGEST} bytes")
        self.tables.number(("abi",), top.get("abi"), 1, 0xFFFF)
        self.tables.power(("atom",), top.get("atom"))
        self.tables.number(("multiplier_bits",), top.get("multiplier_bits"), 2, MOST_BITS)
        self.tables.choice(("rounding",), top.get("rounding"), ROUNDINGS, "rounding")

    def _unit(self, unit: int | None) -> int | None:
        self.tables.power(("unit_bytes",), unit)
        return self.tables.number(("unit_bytes",), unit, 8, 4096)

    def _regions(self, listed: Sequence[object] | None) -> tuple[str, ...]:
        if listed is None:
            return ()
        names = self.tables.names(("regions",), listed)
        for name in _REGIONS:
            if name not in names:
                self.tables.fault(("regions",), f"'regions' lacks '{name}'")
        return names

    def _memories(self, tables: Table | None) -> Mapping[str, Memory | None] | None:
        if tables is None:
            return None
        for name in _NEEDED:
            if name not in tables:
                self.tables.fault(("memories",), f"'memories' lacks '{name}'")
        return {name: self._memory(name, table) for name, table in tables.items()}

    def _memory(self, name: str, table: object) -> Memory | None:
        where, before = ("memories", name), len(self.tables.faults)
        self.tables.word(where, name)
        entries = self.tables.good(table, _MEMORY, where)
        size, alignment, bits = (entries.get(key) for key in _MEMORY)
        if alignment is not None and (alignment < 1 or alignment & alignment - 1):
            message = f"alignment of {name} is {alignment}, must be a power of two"
            self.tables.fault(where, message)
        elif size is not None and (size < 1 or size % (alignment or 1)):
            message = f"{name} has {size} bytes, must be a multiple of its alignment, {alignment}"
            self.tables.fault(where, message)
        if bits is not None and not 1 <= bits <= 64:
            self.tables.fault(where, f"addresses of {name} have {bits} bits, must have 1 to 64")
        elif size is not None and bits is not None and size > 1 << bits:
            message = f"{name} has {size} bytes, addresses of {bits} bits reach {1 << bits}"
            self.tables.fault(where, message)
        if len(self.tables.faults) > before or size is None or alignment is None or bits is None:
            return None
        return Memory(name, size, alignment, bits)

    def _engines(
        self, tables: Table | None, memories: Mapping[str, object] | None
    ) -> Mapping[str, Engine | None] | None:
        if tables is None:
            return None
        return {name: self._engine(name, table, memories) for name, table in tables.items()}

    def _engine(
        self, name: str, table: object, memories: Mapping[str, object] | None
    ) -> Engine | None:
        where = ("engines", name)
        self.tables.word(where, name)
        costs = ENGINE_KINDS.get(_kind(table), ())
        needed = {**_ENGINE, **dict.fromkeys(costs, int)}
        entries = self.tables.good(table, needed, where, {} if costs else _COSTS)
        kinds = tuple(ENGINE_KINDS)
        self.tables.choice((*where, "kind"), entries.get("kind"), kinds, f"kind of {name}")
        for key in _COSTS:
            least = 0 if key in ("latency", "overhead") else 1
            self.tables.number((*where, key), entries.get(key), least, 1 << 20)
        if "memories" not in entries:
            return None
        names = self.tables.names((*where, "memories"), entries["memories"])
        for memory in names:
            if memories is not None and memory not in memories:
                message = f"engine {name} names the memory '{memory}', which does not exist"
                self.tables.fault((*where, "memories"), message)
        given = {key: entries[key] for key in costs if key in entries}
        return Engine(name, _kind(table), names, given)

    def _header(
        self, table: Table | None, unit: int | None, engines: Mapping[str, object] | None
    ) -> Mapping[str, int]:
        if table is None:
            return {}
        entries = self.tables.good(table, dict.fromkeys(HEADER, int), ("header",))
        header = {
            key: bits
            for key in HEADER
            if (bits := self.tables.number(("header", key), entries.get(key), 1, 32)) is not None
        }
        if engines is None:
            return header
        if len(engines) > 1 << header.get("engine", 32):
            message = f"{len(engines)} engines do not fit in {header['engine']} bits"
            self.tables.fault(("header", "engine"), message)
        if unit is None or len(header) < len(HEADER):
            return header
        needed = sum(header.values()) + RESERVED + (len(engines) - 1) * header["wait"]
        if needed > unit * 8:
            message = f"the header takes {needed} bits, a unit has {unit * 8}"
            self.tables.fault(("header",), message)
        return header


def _kind(table: object) -> str:
    """Return the kind of an engine, "" if its table has none."""
    kind = cast(Table, table).get("kind") if isinstance(table, dict) else None
    return kind if isinstance(kind, str) else ""
