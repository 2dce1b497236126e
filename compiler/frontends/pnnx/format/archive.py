"""The weights of a PNNX file: a zip whose entries are stored as they are, mapped into memory.

Only the directory is read when an archive is opened. An entry is checked against its CRC-32 when
its bytes are first asked for. Facts that a zip has twice must agree. No MLIR.
"""

import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

from .....dialects.core.errors import CompileError, Diagnostic

_LOCAL_MARK, _CENTRAL_MARK, _END_MARK = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_END64_MARK, _LOCATOR_MARK = b"PK\6\6", b"PK\6\7"

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_EXTRA64 = struct.Struct("<2H3QL")

_ENCRYPTED, _SIZES_FOLLOW = 1, 8
_STORED = 0
_WIDE, _WIDE_COUNT = 0xFFFFFFFF, 0xFFFF
_LONGEST_COMMENT = 0xFFFF


class Stored:
    """One entry: the range of its bytes in the archive, and their checksum."""

    def __init__(self, archive: "Archive", name: str, offset: int, size: int, crc: int) -> None:
        self.name = name
        self.size = size
        self._archive = archive
        self._offset = offset
        self._crc = crc
        self._checked = False

    def read(self) -> memoryview:
        """Return the bytes, without a copy; raise CompileError when the checksum is wrong."""
        data = self._archive.view(self._offset, self.size)
        if not self._checked and zlib.crc32(data) != self._crc:
            raise self._archive.damage(f"the data of entry '{self.name}' misses its checksum")
        self._checked = True
        return data

    def release(self) -> None:
        """Give the memory back; the bytes are read from the file again when asked for."""
        self._archive.release(self._offset, self.size)


class Archive:
    """A `.pnnx.bin` file, open for as long as somebody holds it, an entry or its bytes.

    Raises CompileError when the file cannot be opened, or is not a zip of stored entries.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._map: mmap.mmap | None = None
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size:
                    self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise CompileError([Diagnostic(self.path, f"cannot be read: {reason}")]) from None
        self._bytes = memoryview(self._map or b"")
        try:
            self.entries = self._directory()
        except struct.error:
            raise self.damage("a header is not whole") from None

    def view(self, offset: int, size: int) -> memoryview:
        """Return bytes of the file as they are mapped."""
        return self._bytes[offset : offset + size]

    def release(self, offset: int, size: int) -> None:
        """Drop the pages of a range from memory; the file still has them."""
        first = -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (offset + size) // mmap.PAGESIZE * mmap.PAGESIZE - first
        if self._map and length > 0 and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, first, length)

    def damage(self, message: str) -> CompileError:
        """Make the error of a file that contradicts itself."""
        return CompileError([Diagnostic(self.path, f"is damaged: {message}")])

    # -- the directory ------------------------------------------------------------------------

    def _directory(self) -> dict[str, Stored]:
        count, size, start = self._end()
        if start + size > len(self._bytes):
            raise self.damage("its directory is outside of the file")
        entries: dict[str, Stored] = {}
        at = start
        while at < start + size:
            entry, at = self._entry(at)
            if entry.name in entries:
                raise self.damage(f"entry '{entry.name}' is there twice")
            entries[entry.name] = entry
        if len(entries) != count or at != start + size:
            raise self.damage(f"its directory has {len(entries)} entries, must have {count}")
        return entries

    def _end(self) -> tuple[int, int, int]:
        """Find the number of entries, and the size and place of the directory."""
        at = self._find_end()
        count, size, start = _END.unpack_from(self._bytes, at)[4:7]
        locator = at - _LOCATOR.size
        if locator < 0 or self._mark(locator) != _LOCATOR_MARK:
            return count, size, start
        at64 = _LOCATOR.unpack_from(self._bytes, locator)[2]
        if at64 > locator - _END64.size or self._mark(at64) != _END64_MARK:
            raise self.damage("there is no zip64 record where the file says so")
        return _END64.unpack_from(self._bytes, at64)[7:10]

    def _find_end(self) -> int:
        tail = bytes(self._bytes[-_END.size - _LONGEST_COMMENT :])
        at = tail.rfind(_END_MARK)
        while at >= 0:
            if at + _END.size <= len(tail):
                comment = _END.unpack_from(tail, at)[-1]
                if at + _END.size + comment == len(tail):
                    return len(self._bytes) - len(tail) + at
            at = tail.rfind(_END_MARK, 0, at)
        raise CompileError([Diagnostic(self.path, "is not a zip file, or not a whole one")])

    def _entry(self, at: int) -> tuple[Stored, int]:
        """Read the directory's entry at a place; return it and the place of the next."""
        fields = _CENTRAL.unpack_from(self._bytes, at)
        flags, method, _, _, crc, stored, size, name_size, extra_size, comment_size = fields[3:13]
        if fields[0] != _CENTRAL_MARK:
            raise self.damage("its directory has something else than entries")
        start = at + _CENTRAL.size
        name = self._name(start, name_size)
        extra = bytes(self.view(start + name_size, extra_size))
        size, stored, header = self._wide(name, extra, [size, stored, fields[16]])
        if method != _STORED or flags & _ENCRYPTED or size != stored:
            words = f"has entry '{name}' compressed or encrypted, must be stored as it is"
            raise CompileError([Diagnostic(self.path, words)])
        offset = self._data(name, header, None if flags & _SIZES_FOLLOW else crc)
        if offset + size > len(self._bytes):
            raise self.damage(f"entry '{name}' is outside of the file")
        return Stored(self, name, offset, size, crc), start + name_size + extra_size + comment_size

    def _data(self, name: str, header: int, crc: int | None) -> int:
        """Find the data of an entry behind its own header, which must agree with the directory."""
        fields = _LOCAL.unpack_from(self._bytes, min(header, len(self._bytes)))
        name_size, extra_size = fields[9:]
        start = header + _LOCAL.size
        if (fields[0], fields[3]) != (_LOCAL_MARK, _STORED) or self._name(start, name_size) != name:
            raise self.damage(f"there is no entry '{name}' where its directory says so")
        if crc not in (None, fields[6]):
            raise self.damage(f"entry '{name}' has two checksums")
        return start + name_size + extra_size

    def _wide(self, name: str, extra: bytes, values: list[int]) -> list[int]:
        """Replace numbers that do not fit 32 bits by those in the zip64 field."""
        at = 0
        while at + 4 <= len(extra):
            kind, length = struct.unpack_from("<2H", extra, at)
            if kind == 1:
                wide = iter(struct.unpack_from(f"<{min(length // 8, 3)}Q", extra, at + 4))
                values = [next(wide, value) if value == _WIDE else value for value in values]
            at += 4 + length
        if _WIDE in values:
            raise self.damage(f"entry '{name}' lacks its size or its place")
        return values

    def _name(self, start: int, size: int) -> str:
        return bytes(self.view(start, size)).decode(errors="surrogateescape")

    def _mark(self, at: int) -> bytes:
        return bytes(self.view(at, 4))


def write_archive(path: str | os.PathLike[str], entries: Mapping[str, memoryview]) -> None:
    """Write entries one after another, with the very fields that PNNX writes.

    Each number is in a zip64 field, versions and dates are zero: equal weights give equal files.
    """
    directory: list[bytes] = []
    with Path(path).open("wb") as file:
        for name, data in entries.items():
            encoded, crc = name.encode(), zlib.crc32(data)
            sizes = (crc, _WIDE, _WIDE, len(encoded), _EXTRA64.size)
            place = (0, _WIDE_COUNT, 0, 0, _WIDE)
            extra = _extra(len(data), file.tell())
            directory.append(
                _CENTRAL.pack(_CENTRAL_MARK, *[0] * 6, *sizes, *place) + encoded + extra
            )
            file.write(_LOCAL.pack(_LOCAL_MARK, *[0] * 5, *sizes) + encoded + _extra(len(data), 0))
            file.write(data)
        start = file.tell()
        file.write(b"".join(directory))
        file.write(_end_records(len(directory), start, file.tell()))


def _extra(size: int, place: int) -> bytes:
    return _EXTRA64.pack(1, _EXTRA64.size - 4, size, size, place, 0)


def _end_records(count: int, start: int, end: int) -> bytes:
    size = _END64.size - 12  # what comes after this number
    record = _END64.pack(_END64_MARK, size, 0, 0, 0, 0, count, count, end - start, start)
    locator = _LOCATOR.pack(_LOCATOR_MARK, 0, end, 1)
    return record + locator + _END.pack(_END_MARK, *[_WIDE_COUNT] * 4, _WIDE, _WIDE, 0)
