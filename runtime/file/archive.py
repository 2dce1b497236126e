"""Read and write the container: a zip whose entries are stored as they are.

Any unzip reads it. The reader is stricter than they are: it takes only what the writer makes,
so that every byte of an entry can be handed out in place and none twice.
"""

import struct
import zlib
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple, TypeAlias, cast

from ..errors import PackageError

Bytes: TypeAlias = bytes | bytearray | memoryview
"""The bytes of the file of a package."""

PAGE = 4096
CACHE_LINE = 64

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_EXTRA = struct.Struct("<2H")

_WIDE = struct.Struct("<3Q")

MARK, _CENTRAL_MARK, _END_MARK = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_END64_MARK, _LOCATOR_MARK = b"PK\6\6", b"PK\6\7"

_VERSION, _VERSION64 = 20, 45
_MADE_ON_UNIX = 3 << 8
_PLAIN_FILE = 0o100644 << 16
_FIRST_OF_1980 = 0x21
_EXTRA64, _EXTRA_ALIGNMENT = 0x0001, 0xD935
_IN_EXTRA, _IN_END64 = 0xFFFFFFFF, 0xFFFF

# Fields of 32 and 16 bits hold less than these; tests lower them.
wide_size = _IN_EXTRA
wide_count = _IN_END64

NAMES = "a path of letters, digits and _ . + -, each part of which starts with a letter, digit or _"
_LONGEST_SHOWN = 80


class Member(NamedTuple):
    """Place one entry in the file."""

    offset: int
    size: int
    crc: int


def is_name(name: bytes) -> bool:
    """Return whether a name is `NAMES`, none of which leads out of a folder.

    Methods of bytes know ASCII alone.
    """
    return all(
        part[:1].replace(b"_", b"0").isalnum() and (b"0" + part.translate(None, b"_.+-")).isalnum()
        for part in name.split(b"/")
    )


def write(file: BinaryIO, entries: Mapping[str, memoryview]) -> None:
    """Write the entries in order; those of a page or more start on a page of the file."""
    directory: list[bytes] = []
    position = 0
    for name, data in entries.items():
        if not is_name(name.encode(errors="replace")):
            raise PackageError(f"entry {name!r} has a name that must be {NAMES}")
        member = Member(position, len(data), zlib.crc32(data))
        header = _local_header(name.encode(), member)
        directory.append(_central_header(name.encode(), member))
        file.write(header)
        file.write(data)
        position += len(header) + len(data)
    file.write(b"".join(directory))
    file.write(_end(len(directory), position, sum(map(len, directory))))


def _local_header(name: bytes, member: Member) -> bytes:
    large = member.size >= wide_size
    extra = _extra(_EXTRA64, struct.pack("<2Q", member.size, member.size)) if large else b""
    alignment = PAGE if member.size >= PAGE else CACHE_LINE
    mark = struct.pack("<H", alignment)
    end = member.offset + _LOCAL.size + len(name) + len(extra) + _EXTRA.size + len(mark)
    extra += _extra(_EXTRA_ALIGNMENT, mark + bytes(-end % alignment))
    size = _IN_EXTRA if large else member.size
    version = _VERSION64 if large else _VERSION
    fixed = (version, 0, 0, 0, _FIRST_OF_1980, member.crc, size, size, len(name), len(extra))
    return _LOCAL.pack(MARK, *fixed) + name + extra


def _central_header(name: bytes, member: Member) -> bytes:
    large = max(member.size, member.offset) >= wide_size
    wide = _WIDE.pack(member.size, member.size, member.offset)
    extra = _extra(_EXTRA64, wide) if large else b""
    size, offset = (_IN_EXTRA, _IN_EXTRA) if large else (member.size, member.offset)
    version = _VERSION64 if large else _VERSION
    fixed = (_MADE_ON_UNIX | version, version, 0, 0, 0, _FIRST_OF_1980, member.crc, size, size)
    tail = (len(name), len(extra), 0, 0, 0, _PLAIN_FILE, offset)
    return _CENTRAL.pack(_CENTRAL_MARK, *fixed, *tail) + name + extra


def _extra(kind: int, data: bytes) -> bytes:
    return _EXTRA.pack(kind, len(data)) + data


def _end(count: int, start: int, size: int) -> bytes:
    if count < wide_count and max(start, size) < wide_size:
        return _END.pack(_END_MARK, 0, 0, count, count, size, start, 0)
    versions = (_MADE_ON_UNIX | _VERSION64, _VERSION64)
    wide = _END64.pack(_END64_MARK, _END64.size - 12, *versions, 0, 0, count, count, size, start)
    locator = _LOCATOR.pack(_LOCATOR_MARK, 0, start + size, 1)
    pointer = (_IN_END64, _IN_END64, _IN_EXTRA, _IN_EXTRA)
    return wide + locator + _END.pack(_END_MARK, 0, 0, *pointer, 0)


def read(data: memoryview) -> dict[str, Member]:
    """Find the entries; raises PackageError unless the file is whole and of the writer's kind."""
    if bytes(data[:4]) != MARK:
        raise PackageError(f"is not a package: it starts with {bytes(data[:8])!r}")
    count, start, end = _directory(data)
    members: dict[str, Member] = {}
    position = start
    for _ in range(count):
        name, member, position = _read_central(data, position, end)
        if name in members:
            raise PackageError(f"is corrupt: entry '{name}' occurs twice")
        members[name] = _locate(data, name, member, start)
    if position != end:
        raise PackageError(f"is corrupt: {end - position} bytes follow its list of entries")
    _check_disjoint(members)
    return members


def _directory(data: memoryview) -> tuple[int, int, int]:
    """Return how many entries are listed, where the list starts and where it ends."""
    end = len(data) - _END.size
    if end < 0 or bytes(data[end : end + 4]) != _END_MARK:
        raise PackageError(
            f"is truncated, or has bytes behind its end: the last {_END.size} of its {len(data)} "
            "bytes are no end mark"
        )
    disk, first_disk, _, count, size, start, comment = _unpack(_END, _END_MARK, data, end)
    if disk or first_disk or comment:
        raise PackageError(
            f"is corrupt: its end mark counts disks {disk} and {first_disk} and {comment} bytes of "
            "comment, all must be 0"
        )
    if start == _IN_EXTRA:
        _, end, _ = _unpack(_LOCATOR, _LOCATOR_MARK, data, end - _LOCATOR.size)
        *_, count, size, start = _unpack(_END64, _END64_MARK, data, end)
    if start + size != end:
        raise PackageError(
            f"is corrupt or truncated: its list of entries should end at byte {start + size}, "
            f"ends at {end}"
        )
    return count, start, end


def _read_central(data: memoryview, position: int, end: int) -> tuple[str, Member, int]:
    """Return an entry with the offset of its header, and where the next one is listed."""
    header = _unpack(_CENTRAL, _CENTRAL_MARK, data, position)
    _, _, flags, method, _, _, crc, stored, size, name_size, extra_size, comment_size = header[:12]
    name_at = position + _CENTRAL.size
    extra_at = name_at + name_size
    following = extra_at + extra_size + comment_size
    if following > end:
        raise PackageError(
            f"is corrupt: the entry listed at byte {position} reaches to byte {following}, the "
            f"list of entries to {end}"
        )
    raw_name, extra = bytes(data[name_at:extra_at]), bytes(data[extra_at:following])
    if not is_name(raw_name):
        raise PackageError(
            f"the entry listed at byte {position} is named {raw_name[:_LONGEST_SHOWN]!r}, a name "
            f"must be {NAMES}"
        )
    name, offset = raw_name.decode(), header[-1]
    if offset == _IN_EXTRA:
        size, stored, offset = _read_wide(name, extra)
    if method or flags:
        raise PackageError(
            f"entry '{name}' has compression method {method} and flags {flags:#x}, must be stored "
            "as it is, without flags: do not pack a package again with another tool"
        )
    if stored != size:
        raise PackageError(f"is corrupt: entry '{name}' is of {stored} bytes and of {size}")
    return name, Member(offset, size, crc), following


def _read_wide(name: str, extra: bytes) -> tuple[int, int, int]:
    if len(extra) != _EXTRA.size + _WIDE.size or _EXTRA.unpack_from(extra)[0] != _EXTRA64:
        raise PackageError(f"is corrupt: entry '{name}' has wide sizes, but not listed as such")
    return _WIDE.unpack_from(extra, _EXTRA.size)


def _locate(data: memoryview, name: str, member: Member, end: int) -> Member:
    """Return the member with the offset of its data instead of that of its header."""
    *_, name_size, extra_size = _unpack(_LOCAL, MARK, data, member.offset)
    name_at = member.offset + _LOCAL.size
    start = name_at + name_size + extra_size
    found = bytes(data[name_at : name_at + name_size])
    if found != name.encode():
        raise PackageError(
            f"is corrupt: entry '{name}' is listed for byte {member.offset}, where "
            f"{found[:_LONGEST_SHOWN]!r} is"
        )
    if start + member.size > end:
        raise PackageError(
            f"is corrupt: entry '{name}' reaches to byte {start + member.size}, the list of "
            f"entries starts at {end}"
        )
    return member._replace(offset=start)


def _check_disjoint(members: Mapping[str, Member]) -> None:
    position = 0
    for name, member in sorted(members.items(), key=lambda item: item[1].offset):
        if member.offset - _LOCAL.size - len(name) < position:
            raise PackageError(f"is corrupt: entry '{name}' overlaps the one before it")
        position = member.offset + member.size


def _unpack(layout: struct.Struct, mark: bytes, data: memoryview, position: int) -> tuple[int, ...]:
    """Return the fields after `mark`, which must be at `position`."""
    if not 0 <= position <= len(data) - layout.size:
        raise PackageError(
            f"is corrupt or truncated: it should have {mark!r} at byte {position} and the rest of "
            f"{layout.size} bytes behind it, it ends at {len(data)}"
        )
    found, *values = layout.unpack_from(data, position)
    if found != mark:
        raise PackageError(f"is corrupt: it has {found!r} at byte {position}, must have {mark!r}")
    return tuple(values)


def given_bytes(source: object) -> memoryview | None:
    """Return the bytes of a package that are given in place of a path, or None for a path.

    A path may be bytes, too, but begins as no archive does.
    """
    if isinstance(source, bytes) and not source.startswith(MARK):
        return None
    if not isinstance(source, bytes | bytearray | memoryview):
        return None
    return memoryview(cast("Bytes", source)).cast("B").toreadonly()


def bytes_of(data: Bytes) -> memoryview:
    """View bytes as they are counted, read only."""
    view = memoryview(data)
    return view.cast("B").toreadonly() if view.nbytes else memoryview(b"")
