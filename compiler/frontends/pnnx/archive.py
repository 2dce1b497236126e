"""The weights of a PNNX file: a zip whose entries are stored as they are, mapped into memory.

Only the directory is read when an archive is opened. An entry is checked against its CRC-32 when
its bytes are first asked for.
"""

import mmap
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from ....dialects.core.errors import CompileError, Diagnostic

LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
END64, LOCATOR64 = b"PK\6\6", b"PK\6\7"
LARGE = 0xFFFFFFFF

_LOCAL = struct.Struct("<4s5HLLLHH")
_CENTRAL = struct.Struct("<4s6HLLLHHHHHLL")
_END = struct.Struct("<4s4HLLH")
_END64 = struct.Struct("<4sQHHLLQQQQ")
_LOCATOR64 = struct.Struct("<4sLQL")


@dataclass(frozen=True)
class Entry:
    """Say where the bytes of an entry are, and their checksum."""

    name: str
    offset: int
    size: int
    crc: int


class Archive:
    """A `.pnnx.bin` file, open for as long as somebody holds one of its entries.

    Raises CompileError when the file cannot be opened, or is not a zip of stored entries.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            with open(path, "rb") as file:
                size = file.seek(0, 2)
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as error:
            raise self._damage(f"cannot be read: {error.strerror}") from None
        self._bytes = memoryview(self._map)
        self._checked: set[str] = set()
        try:
            self.entries = self._directory()
        except struct.error:
            raise self._damage("is damaged: it ends within a header") from None

    def read(self, name: str) -> memoryview:
        """Return the bytes of an entry, without a copy; raise CompileError on a wrong checksum."""
        entry = self.entries[name]
        data = self._bytes[entry.offset : entry.offset + entry.size]
        if name not in self._checked:
            if zlib.crc32(data) != entry.crc:
                raise self._damage(f"is damaged: the data of '{name}' does not fit its checksum")
            self._checked.add(name)
        return data

    def release(self, name: str) -> None:
        """Give the memory of an entry back; it is read from the file again when asked for."""
        entry = self.entries[name]
        first = -(-entry.offset // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (entry.offset + entry.size) // mmap.PAGESIZE * mmap.PAGESIZE - first
        if length > 0 and isinstance(self._map, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, first, length)

    # -- the directory ------------------------------------------------------------------------

    def _directory(self) -> dict[str, Entry]:
        count, size, start = self._end()
        if start + size > len(self._bytes):
            raise self._damage("is damaged: its directory is outside of the file")
        entries: dict[str, Entry] = {}
        offset = start
        while offset < start + size:
            entry, offset = self._entry(offset)
            if entry.name in entries:
                raise self._damage(f"has two entries '{entry.name}'")
            entries[entry.name] = entry
        if len(entries) != count or offset != start + size:
            raise self._damage(f"is damaged: it has {len(entries)} entries, not {count}")
        return entries

    def _end(self) -> tuple[int, int, int]:
        """Find the number of entries, and the size and place of the directory."""
        at = self._find_end()
        _, _, _, _, count, size, start, _ = _END.unpack_from(self._bytes, at)
        locator = at - _LOCATOR64.size
        if locator < 0 or self._mark(locator) != LOCATOR64:
            return count, size, start
        _, _, at64, _ = _LOCATOR64.unpack_from(self._bytes, locator)
        if at64 > locator - _END64.size or self._mark(at64) != END64:
            raise self._damage("is damaged: it has no zip64 record where it says so")
        *_, count, size, start = _END64.unpack_from(self._bytes, at64)
        return count, size, start

    def _find_end(self) -> int:
        tail = bytes(self._bytes[-_END.size - 0xFFFF :])
        at = tail.rfind(END)
        while at >= 0:
            if at + _END.size <= len(tail):
                comment = _END.unpack_from(tail, at)[-1]
                if at + _END.size + comment == len(tail):
                    return len(self._bytes) - len(tail) + at
            at = tail.rfind(END, 0, at)
        raise self._damage("is not a zip file, or not a whole one")

    def _entry(self, at: int) -> tuple[Entry, int]:
        """Read the directory's entry at an offset; return it and the offset of the next."""
        fields = _CENTRAL.unpack_from(self._bytes, at)
        mark, _, _, flags, method, _, _, crc, stored, size, name_size, extra_size, comment = fields[
            :13
        ]
        if mark != CENTRAL:
            raise self._damage("is damaged: its directory has something else than entries")
        start = at + _CENTRAL.size
        name = self._name(start, name_size)
        extra = bytes(self._bytes[start + name_size : start + name_size + extra_size])
        size, stored, header = self._large(name, extra, [size, stored, fields[16]])
        if method != 0 or flags & 1 or size != stored:
            raise self._damage(f"has entry '{name}' compressed or encrypted, must be stored")
        offset = self._data(name, header, crc, flags, size)
        return Entry(name, offset, size, crc), start + name_size + extra_size + comment

    def _data(self, name: str, header: int, crc: int, flags: int, size: int) -> int:
        """Find the data of an entry behind its own header, which must say the same."""
        fields = _LOCAL.unpack_from(self._bytes, min(header, len(self._bytes)))
        mark, _, _, method, _, _, local_crc, _, _, name_size, extra_size = fields
        start = header + _LOCAL.size
        if mark != LOCAL or method != 0 or self._name(start, name_size) != name:
            raise self._damage(f"is damaged: there is no entry '{name}' where it says so")
        if not flags & 8 and local_crc != crc:
            raise self._damage(f"is damaged: entry '{name}' has two checksums")
        offset = start + name_size + extra_size
        if offset + size > len(self._bytes):
            raise self._damage(f"is damaged: entry '{name}' is outside of the file")
        return offset

    def _large(self, name: str, extra: bytes, values: list[int]) -> list[int]:
        """Replace what does not fit 32 bits by the numbers in the zip64 field."""
        at = 0
        while at + 4 <= len(extra):
            kind, length = struct.unpack_from("<HH", extra, at)
            if kind == 1:
                large = iter(struct.unpack_from(f"<{min(length // 8, 3)}Q", extra, at + 4))
                values = [next(large, v) if v == LARGE else v for v in values]
            at += 4 + length
        if LARGE in values:
            raise self._damage(f"is damaged: entry '{name}' lacks its size or place")
        return values

    def _mark(self, at: int) -> bytes:
        return bytes(self._bytes[at : at + 4])

    def _name(self, start: int, size: int) -> str:
        return bytes(self._bytes[start : start + size]).decode(errors="surrogateescape")

    def _damage(self, message: str) -> CompileError:
        return CompileError([Diagnostic(self.path, message)])


class ArchiveWriter:
    """Write the entries of a `.pnnx.bin` one after another, with the fields that PNNX writes.

    Every size is in a zip64 field, dates and versions are zero: equal weights give equal files.
    """

    def __init__(self, path: str | Path) -> None:
        self._file = open(path, "wb")  # noqa: SIM115
        self._entries: list[Entry] = []

    def write(self, name: str, data: memoryview) -> None:
        """Append one entry."""
        encoded, crc = name.encode(errors="surrogateescape"), zlib.crc32(data)
        self._entries.append(Entry(name, self._file.tell(), len(data), crc))
        extra = _extra(len(data), 0)
        head = _LOCAL.pack(LOCAL, 0, 0, 0, 0, 0, crc, LARGE, LARGE, len(encoded), len(extra))
        self._file.write(head + encoded + extra)
        self._file.write(data)

    def close(self) -> None:
        """Write the directory and close the file."""
        start = self._file.tell()
        for each in self._entries:
            name, extra = each.name.encode(errors="surrogateescape"), _extra(each.size, each.offset)
            sizes = (each.crc, LARGE, LARGE, len(name), len(extra), 0, 0xFFFF, 0, 0, LARGE)
            self._file.write(_CENTRAL.pack(CENTRAL, 0, 0, 0, 0, 0, 0, *sizes) + name + extra)
        end = self._file.tell()
        count = len(self._entries)
        record = (END64, _END64.size - 12, 0, 0, 0, 0, count, count, end - start, start)
        self._file.write(_END64.pack(*record) + _LOCATOR64.pack(LOCATOR64, 0, end, 1))
        self._file.write(_END.pack(END, *[0xFFFF] * 4, LARGE, LARGE, 0))
        self._file.close()


def _extra(size: int, offset: int) -> bytes:
    """Return the zip64 field of an entry."""
    return struct.pack("<HHQQQL", 1, 28, size, size, offset, 0)
