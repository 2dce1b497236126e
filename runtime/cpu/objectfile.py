"""Read relocatable objects for x86-64: their sections, symbols and relocations."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import PackageError
from ..frozen import Frozen

_HEADER = struct.Struct("<16s2HL3QL6H")
_SECTION = struct.Struct("<2L4Q2L2Q")
_SYMBOL = struct.Struct("<L2BH2Q")
_RELOCATION = struct.Struct("<2Qq")

_IDENTITY = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian, version 1
_RELOCATABLE, _X86_64 = 1, 62

_SYMTAB, _RELA, _NOBITS, _REL = 2, 4, 8, 9
_INIT_ARRAY, _FINI_ARRAY, _UNWIND = 14, 15, 0x70000001
_WRITE, _ALLOC, _EXECUTE, _TLS = 0x1, 0x2, 0x4, 0x400

_LOCAL, _WEAK = 0, 2
_UNDEFINED, _ABSOLUTE, _RESERVED = 0, 0xFFF1, 0xFF00

_MAX_ALIGNMENT = 4096


class Section(NamedTuple):
    """Describe one part of an object that goes into memory."""

    name: str
    size: int
    alignment: int
    writable: bool
    executable: bool
    data: memoryview  # empty where memory starts as zeros


class Symbol(NamedTuple):
    """Name a place: `value` bytes into `section`, an address, or nothing known here."""

    name: str
    section: int | None
    value: int
    local: bool
    weak: bool
    defined: bool


class Relocation(NamedTuple):
    """Ask for the address of a symbol at `offset` bytes into a section."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


class _RawSection(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class ObjectFile(Frozen):
    """Hold what linking needs to know of one object; section numbers are those of the file."""

    name: str
    sections: dict[int, Section]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]

    @staticmethod
    def read(name: str, data: memoryview) -> "ObjectFile":
        """Parse an object; `name` stands for it in errors."""
        try:
            return _Reader(name, data).read()
        except (struct.error, IndexError, ValueError, OverflowError):
            raise PackageError(f"'{name}' is corrupt: it points outside of itself") from None


class _Reader:
    def __init__(self, name: str, data: memoryview) -> None:
        self.name = name
        self.data = data
        self.raw = self._headers()

    def read(self) -> ObjectFile:
        sections = {i: self._section(raw) for i, raw in enumerate(self.raw) if self._loaded(raw)}
        symbols = tuple(self._symbols(sections))
        relocations = tuple(self._relocations(sections, len(symbols)))
        return ObjectFile(self.name, sections, symbols, relocations)

    def _headers(self) -> list[_RawSection]:
        header = _HEADER.unpack_from(self.data, 0)
        if header[0][:7] != _IDENTITY or header[1:3] != (_RELOCATABLE, _X86_64):
            raise PackageError(f"'{self.name}' is not a relocatable object for x86-64")
        start, count = header[6], header[12]
        self.names = header[13]
        return [
            _RawSection(*_SECTION.unpack_from(self.data, start + i * _SECTION.size))
            for i in range(count)
        ]

    def _bytes(self, raw: _RawSection) -> memoryview:
        if raw.offset + raw.size > len(self.data):
            raise IndexError
        return self.data[raw.offset : raw.offset + raw.size]

    def _string(self, table: int, offset: int) -> str:
        strings = bytes(self._bytes(self.raw[table]))
        return strings[offset : strings.index(b"\0", offset)].decode()

    def _loaded(self, raw: _RawSection) -> bool:
        return bool(raw.flags & _ALLOC) and raw.kind != _UNWIND and not self._is_unwind(raw)

    def _is_unwind(self, raw: _RawSection) -> bool:
        return self._string(self.names, raw.name) == ".eh_frame"

    def _section(self, raw: _RawSection) -> Section:
        name = self._string(self.names, raw.name)
        if raw.flags & _TLS:
            raise PackageError(f"'{self.name}' has thread-local data in '{name}', must have none")
        if raw.kind in (_INIT_ARRAY, _FINI_ARRAY):
            raise PackageError(f"'{self.name}' has constructors in '{name}', must have none")
        alignment = max(raw.alignment, 1)
        if alignment > _MAX_ALIGNMENT or alignment & (alignment - 1):
            raise PackageError(f"'{self.name}' aligns '{name}' to {alignment}, at most a page")
        data = memoryview(b"") if raw.kind == _NOBITS else self._bytes(raw)
        writable, executable = bool(raw.flags & _WRITE), bool(raw.flags & _EXECUTE)
        return Section(name, raw.size, alignment, writable, executable, data)

    def _symbols(self, sections: dict[int, Section]) -> Iterator[Symbol]:
        for table in self.raw:
            if table.kind != _SYMTAB:
                continue
            strings = bytes(self._bytes(self.raw[table.link]))
            for text, info, _, section, value, _ in _SYMBOL.iter_unpack(self._bytes(table)):
                name = strings[text : strings.index(b"\0", text)].decode()
                yield self._symbol(name, info >> 4, section, value, sections)
            return

    def _symbol(
        self, name: str, binding: int, section: int, value: int, sections: dict[int, Section]
    ) -> Symbol:
        local, weak = binding == _LOCAL, binding == _WEAK
        if section == _UNDEFINED:
            return Symbol(name, None, 0, local, weak, defined=False)
        if section >= _RESERVED and section != _ABSOLUTE:
            raise PackageError(f"'{self.name}' leaves open where '{name}' lives (a common symbol)")
        if section == _ABSOLUTE:
            return Symbol(name, None, value, local, weak, defined=True)
        if section in sections and value > sections[section].size:
            raise IndexError
        return Symbol(name, section, value, local, weak, defined=section in sections)

    def _relocations(self, sections: dict[int, Section], symbols: int) -> Iterator[Relocation]:
        for table in self.raw:
            if table.info not in sections or table.kind not in (_REL, _RELA):
                continue
            if table.kind == _REL:
                raise PackageError(f"'{self.name}' has relocations without addends")
            for offset, info, addend in _RELOCATION.iter_unpack(self._bytes(table)):
                if info >> 32 >= symbols:
                    raise IndexError
                yield Relocation(table.info, offset, info & 0xFFFFFFFF, info >> 32, addend)
