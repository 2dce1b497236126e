"""The weight file of a model in C: a header, a table of tensors, and their data.

All numbers are little-endian. The header has 64 bytes:

    0   8  "TRIVIUMW"
    8   4  the version, 1
   12   4  the CRC-32 of all bytes from 16 on
   16   8  the id, which the code has too: that of other code or of other weights differs
   24   8  the bytes of the file
   32  16  where the table begins, and how many entries it has
   48  16  where the data begins, and how many bytes it has

An entry has 96 bytes: the offset of a tensor in the data, its bytes, its element type as text of 8
bytes, where its name begins in the file and how many bytes that has (4 each), its rank, and up to 8
sizes. Names follow the table. The data begins at a page, so that the file can be mapped.
"""

import struct
import zlib
from collections.abc import Sequence

from ...runtime.contents import WEIGHTS, Buffer
from ...runtime.sizes.size_expressions import Size

MAGIC, VERSION = b"TRIVIUMW", 1
PAGE = 4096
MOST_SIZES = 8

_HEADER = struct.Struct("<8sIIQQQQQQ")
_ENTRY = struct.Struct("<QQ8sIIQ8Q")
_UNCHECKED = 16


def weight_file(buffers: Sequence[Buffer], data: bytes | memoryview, identity: int) -> bytes:
    """Return the file with the constants of a program; `identity` has 64 bits."""
    stored = [each for each in buffers if each.base == WEIGHTS]
    names = [each.name.encode() for each in stored]
    table_end = _HEADER.size + _ENTRY.size * len(stored)
    begin = data_offset(buffers)
    at = table_end
    entries: list[bytes] = []
    for each, name in zip(stored, names, strict=True):
        entries.append(_entry(each, at, len(name)))
        at += len(name)
    size = begin + len(data)
    places = (_HEADER.size, len(stored), begin, len(data))
    head = _HEADER.pack(MAGIC, VERSION, 0, identity, size, *places)
    text = b"".join([head, *entries, *names]).ljust(begin, b"\0")
    checksum = zlib.crc32(data, zlib.crc32(text[_UNCHECKED:]))
    head = _HEADER.pack(MAGIC, VERSION, checksum, identity, size, *places)
    return b"".join([head, text[_HEADER.size :], data])


def data_offset(buffers: Sequence[Buffer]) -> int:
    """Return where the data begins in the file."""
    stored = [each for each in buffers if each.base == WEIGHTS]
    end = _HEADER.size + sum(_ENTRY.size + len(each.name.encode()) for each in stored)
    return -(-end // PAGE) * PAGE


def _entry(buffer: Buffer, name: int, length: int) -> bytes:
    shape = [_known(size) for size in buffer.shape]
    sizes = shape if len(shape) <= MOST_SIZES else [buffer.size_bytes]
    padded = (*sizes, *[0] * (MOST_SIZES - len(sizes)))
    dtype = buffer.dtype.encode()[:8]
    offset = _known(buffer.offset)
    return _ENTRY.pack(offset, buffer.size_bytes, dtype, name, length, len(sizes), *padded)


def _known(size: Size) -> int:
    assert isinstance(size, int), "sizes that change from run to run were refused"
    return size
