"""Read GGUF files: the header into Python values, tensors as views of the mapped file.

Every count and size in a header is compared with the bytes that are left, so that a damaged file
takes no more memory than its size. Source: the specification of GGUF, `docs/gguf.md` of ggml.
"""

import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....dialects.core.errors import CompileError
from ....dialects.core.tensor import Array
from .blocks import BF16, BLOCK_TYPES, OTHER_TYPES, PLAIN_TYPES, Blocks

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = "general.alignment"
LONGEST_NAME, HIGHEST_RANK = 1 << 16, 4

STRING, ARRAY = 8, 9
SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
"""How each type of a scalar in the header is stored, as `struct` spells it."""


@dataclass(frozen=True)
class Strings:
    """Stand for an array of strings, such as a vocabulary; only their number is kept."""

    count: int


Value = int | float | bool | str | Array | Strings


@dataclass(frozen=True)
class GgufTensor:
    """Hold a tensor of a file: its sizes, the last one fastest, and its bytes as they are."""

    name: str
    type: int
    shape: tuple[int, ...]
    raw: Array

    @property
    def is_blocked(self) -> bool:
        """Whether elements are in blocks of few bits."""
        return self.type in BLOCK_TYPES

    @property
    def type_name(self) -> str:
        return type_name(self.type)

    def blocks(self) -> Blocks:
        """Return the elements as blocks: arrays of […, blocks in a row, …]."""
        kind = BLOCK_TYPES[self.type]
        apart = kind.take_apart(self.raw.reshape(-1, kind.size))
        *outer, columns = self.shape
        return apart.reshaped(*outer, columns // apart.numbers.shape[-1])

    def halves(self) -> Array:
        """Return the elements of a tensor of f16."""
        return np.array(self.raw.view("<f2").reshape(self.shape))

    def floats(self) -> Array:
        """Return the elements in f32."""
        if self.is_blocked:
            return self.blocks().dequantized()
        plain = self.raw.view(PLAIN_TYPES[self.type]).reshape(self.shape)
        if self.type == BF16:
            return (plain.astype(np.uint32) << 16).view(np.float32)
        return plain.astype(np.float32)


@dataclass(frozen=True)
class GgufFile:
    """Hold a header's values by key, and the tensors by name."""

    path: str
    metadata: Mapping[str, Value]
    tensors: Mapping[str, GgufTensor]


def type_name(number: int) -> str:
    """Return the name of a type of tensors."""
    if number in BLOCK_TYPES:
        return BLOCK_TYPES[number].name
    plain = {0: "F32", 1: "F16", 28: "F64", BF16: "BF16"}
    return plain.get(number) or OTHER_TYPES.get(number) or f"type {number}"


def read_gguf(path: str | os.PathLike[str]) -> GgufFile:
    """Read the header of a file and map its tensors.

    Raises CompileError for a file that cannot be opened, is no GGUF of version 2 or 3, breaks off,
    contradicts itself, or has tensors of types that are not supported: all of these at once.
    """
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise _Damaged("is empty")
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _Reader(str(path), data).read()
    except OSError as error:
        raise CompileError(f"cannot read '{path}': {error.strerror}") from None
    except _Damaged as error:
        raise CompileError(f"cannot read '{path}': {error}") from None


class _Damaged(Exception):
    """Report what is wrong with a file."""


class _Reader:
    def __init__(self, path: str, data: mmap.mmap) -> None:
        self.path = path
        self.data = data
        self.size = len(data)
        self.at = 0

    def read(self) -> GgufFile:
        if self._bytes(4, "magic number") != MAGIC:
            raise _Damaged("is no GGUF file, must begin with 'GGUF'")
        version = self._number("<I", "version")
        if not version & 0xFFFF:
            raise _Damaged("is big-endian, must be little-endian: convert it with gguf's scripts")
        if version not in VERSIONS:
            known = " or ".join(map(str, VERSIONS))
            raise _Damaged(f"has version {version} of GGUF, must have {known}")
        tensors, pairs = self._number("<Q", "tensor count"), self._number("<Q", "key count")
        metadata: dict[str, Value] = {}
        for _ in range(pairs):
            key = self._string("key", LONGEST_NAME)
            if key in metadata:
                raise _Damaged(f"has key '{key}' twice")
            metadata[key] = self._value(key, self._number("<I", f"type of '{key}'"))
        found: dict[str, tuple[int, tuple[int, ...], int]] = {}
        for _ in range(tensors):
            name = self._string("tensor name", LONGEST_NAME)
            if name in found:
                raise _Damaged(f"has tensor '{name}' twice")
            found[name] = self._tensor(name)
        alignment = metadata.get(ALIGNMENT, 32)
        if not isinstance(alignment, int) or alignment < 1 or alignment & alignment - 1:
            raise _Damaged(f"has {ALIGNMENT} {alignment}, must be a power of two")
        start = -(-self.at // alignment) * alignment
        made = {name: self._mapped(name, start, *each) for name, each in found.items()}
        return GgufFile(self.path, metadata, made)

    # -- parts of the header ----------------------------------------------------------------------

    def _take(self, size: int, what: str) -> int:
        """Move on by some bytes and return where these begin."""
        begin = self.at
        if size > self.size - begin:
            raise _Damaged(f"breaks off in the {what}: needs {size} bytes at byte {begin}")
        self.at = begin + size
        return begin

    def _bytes(self, size: int, what: str) -> bytes:
        begin = self._take(size, what)
        return self.data[begin : begin + size]

    def _number(self, code: str, what: str) -> Any:
        return struct.unpack_from(code, self.data, self._take(struct.calcsize(code), what))[0]

    def _string(self, what: str, longest: int | None = None) -> str:
        size = self._number("<Q", f"length of a {what}")
        if longest is not None and size > longest:
            raise _Damaged(f"has a {what} of {size} bytes, must have at most {longest}")
        return self._bytes(size, what).decode("utf-8", "backslashreplace")

    def _value(self, key: str, kind: int) -> Value:
        if kind == STRING:
            return self._string(f"value of '{key}'")
        if kind in SCALARS:
            return self._number(SCALARS[kind], f"value of '{key}'")
        if kind == ARRAY:
            return self._array(key)
        raise _Damaged(f"has a value of type {kind} for key '{key}', must be of type 0 to 12")

    def _array(self, key: str) -> Value:
        kind = self._number("<I", f"type of '{key}'")
        count = self._number("<Q", f"length of '{key}'")
        what = f"array '{key}'"
        if kind in SCALARS:
            dtype = np.dtype(SCALARS[kind])
            begin = self._take(count * dtype.itemsize, what)
            return np.frombuffer(self.data, dtype, count, begin)
        if kind != STRING:
            raise _Damaged(f"has an array of type {kind} for key '{key}', must be scalars or text")
        for _ in range(count):
            self._take(self._number("<Q", what), what)
        return Strings(count)

    def _tensor(self, name: str) -> tuple[int, tuple[int, ...], int]:
        """Return the type of a tensor, its sizes and its offset."""
        rank = self._number("<I", f"rank of '{name}'")
        if rank > HIGHEST_RANK:
            raise _Damaged(f"has tensor '{name}' of rank {rank}, must be at most {HIGHEST_RANK}")
        sizes = [self._number("<Q", f"sizes of '{name}'") for _ in range(rank)]
        kind = self._number("<I", f"type of '{name}'")
        return kind, tuple(sizes[::-1]), self._number("<Q", f"offset of '{name}'")

    def _mapped(
        self, name: str, start: int, kind: int, shape: tuple[int, ...], offset: int
    ) -> GgufTensor:
        what = f"tensor '{name}' of type {type_name(kind)} and shape {list(shape)}"
        if not all(shape):
            raise _Damaged(f"has {what}, must have no size of 0")
        if kind not in BLOCK_TYPES and kind not in PLAIN_TYPES:
            return GgufTensor(name, kind, shape, np.empty(0, np.uint8))  # refused where it is used
        count = 1
        for size in shape:
            count *= size
        block, size = 1, PLAIN_TYPES[kind].itemsize if kind in PLAIN_TYPES else 0
        if kind in BLOCK_TYPES:
            block, size = BLOCK_TYPES[kind].elements, BLOCK_TYPES[kind].size
        if not shape or shape[-1] % block:
            raise _Damaged(f"has {what}, its rows must be blocks of {block}")
        stored, begin = count // block * size, start + offset
        if stored > self.size - begin:
            raise _Damaged(f"breaks off in {what}: needs {stored} bytes at byte {begin}")
        return GgufTensor(name, kind, shape, np.frombuffer(self.data, np.uint8, stored, begin))
