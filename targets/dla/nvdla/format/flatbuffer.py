"""Read and write FlatBuffers by the classes of their tables; the fields of a class are its slots.

The reader checks every offset against the file, and needs no library.
"""

import struct
from typing import Any, NoReturn, TypeVar, cast

from .....dialects.core.errors import CompileError, Diagnostic
from .....dialects.core.extras import require
from .scalars import Field, Scalar, fields_of

T = TypeVar("T", bound="Table")

_UINT, _INT, _USHORT = Scalar("uint", "I"), Scalar("int", "i"), Scalar("ushort", "H")
_SHARING = 4
"""Objects may share bytes, but together have at most this many times the bytes of the file."""


class Table:
    """A table: fields may be absent, and then have their defaults."""


class Struct:
    """A struct of scalars, stored in place; its fields are aligned to themselves."""


class Reader:
    """A file, its name for messages, and the bytes that have yet to be accounted for."""

    def __init__(self, data: bytes, file: str) -> None:
        self.data = data
        self.file = file
        self._left = _SHARING * len(data)

    def refuse(self, at: int, message: str) -> NoReturn:
        """Raise CompileError for a fault at an offset."""
        raise CompileError([Diagnostic(f"{self.file}, offset {at:#x}", message)])

    def root(self, cls: type[T]) -> T:
        """Return the root table; raise CompileError, with the offset, for what is not a file."""
        return self._table(cls, self._target(0))

    def number(self, scalar: Scalar, at: int) -> int:
        return int(struct.unpack("<" + scalar.code, self._bytes(at, scalar.size))[0])

    def _bytes(self, at: int, size: int) -> bytes:
        if at < 0 or at + size > len(self.data):
            self.refuse(at, f"ends at {at + size:#x}, the file has {len(self.data):#x} bytes")
        return self.data[at : at + size]

    def _target(self, at: int) -> int:
        return at + self.number(_UINT, at)

    def _table(self, cls: type[T], at: int) -> T:
        entries = at - self.number(_INT, at)
        size = self.number(_USHORT, entries)
        if size < 4 or size % 2:
            self.refuse(entries, f"a table of fields has {size} bytes, must have 4 or an even more")
        self._account(at, 4)
        values: dict[str, Any] = {}
        for slot, field in enumerate(fields_of(cls)):
            place = 4 + 2 * slot
            offset = self.number(_USHORT, entries + place) if place + 2 <= size else 0
            if offset:
                values[field.name] = self._value(field, at + offset)
        return cls(**values)

    def _value(self, field: Field, at: int) -> Any:
        if field.scalar:
            if field.is_tuple:
                return self._numbers(field.scalar, self._target(at))
            return self.number(field.scalar, at)
        if field.is_tuple:
            return self._elements(field.kind, self._target(at))
        return self._object(field.kind, at)

    def _object(self, kind: Any, at: int) -> Any:
        """Return a string, bytes or table that is referred to at an offset, or a struct there."""
        if kind is bytes:
            return self._blob(self._target(at))
        if kind is str:
            return self._string(self._target(at))
        if issubclass(kind, Struct):
            numbers = [cast(Scalar, each.scalar) for each in fields_of(kind)]
            return kind(*(self.number(each, at + i * each.size) for i, each in enumerate(numbers)))
        return self._table(kind, self._target(at))

    def _blob(self, at: int) -> bytes:
        size = self.number(_UINT, at)
        self._account(at, size)
        return bytes(self._bytes(at + 4, size))

    def _string(self, at: int) -> str:
        try:
            return self._blob(at).decode()
        except UnicodeDecodeError as error:
            self.refuse(at + 4 + error.start, "is not UTF-8")

    def _numbers(self, scalar: Scalar, at: int) -> tuple[int, ...]:
        count = self.number(_UINT, at)
        self._account(at, count * scalar.size)
        return struct.unpack(f"<{count}{scalar.code}", self._bytes(at + 4, count * scalar.size))

    def _elements(self, kind: Any, at: int) -> tuple[Any, ...]:
        count = self.number(_UINT, at)
        self._account(at, 4 * count)
        self._bytes(at + 4, 4 * count)
        return tuple(self._object(kind, at + 4 + 4 * each) for each in range(count))

    def _account(self, at: int, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self.refuse(at, "objects share bytes, and expand to more than four times the file")


def write(root: Table) -> bytes:
    """Return the file of a table; fields that have the default 0, or are empty, are left out.

    Raises CompileError for numbers that their fields cannot represent, and if the library is
    missing.
    """
    require("flatbuffers", "writing loadables of NVDLA")
    from flatbuffers import Builder  # pyright: ignore[reportMissingTypeStubs]

    builder: Any = Builder(1024)
    builder.Finish(_written(builder, root))
    return bytes(builder.Output())


def _written(builder: Any, table: Table) -> int:
    """Write the objects that a table refers to, then the table; return its place."""
    fields = fields_of(type(table))
    values = [getattr(table, each.name) for each in fields]
    offsets = [_refer(builder, *each) for each in zip(fields, values, strict=True)]
    builder.StartObject(len(fields))
    # Large fields first, so that there are no gaps.
    for slot in sorted(range(len(fields)), key=lambda slot: -_size(fields[slot])):
        field, value = fields[slot], values[slot]
        if offsets[slot]:
            builder.PrependUOffsetTRelativeSlot(slot, offsets[slot], 0)
        elif isinstance(value, Struct):
            builder.PrependStructSlot(slot, _struct(builder, value), 0)
        elif isinstance(value, int):
            builder.PrependSlot(_flags(field, value), slot, value, 0)
    return int(builder.EndObject())


def _refer(builder: Any, field: Field, value: Any) -> int:
    """Write a string, vector or table, and return its place: 0 for what is stored in place."""
    if isinstance(value, str):
        return int(builder.CreateString(value)) if value else 0
    if isinstance(value, bytes):
        return int(builder.CreateByteVector(value)) if value else 0
    if not field.is_tuple or not value:
        return 0
    if field.scalar:
        builder.StartVector(field.scalar.size, len(value), field.scalar.size)
        for each in reversed(value):
            builder.Prepend(_flags(field, each), each)
        return int(builder.EndVector())
    places = [
        builder.CreateString(each) if isinstance(each, str) else _written(builder, each)
        for each in value
    ]
    builder.StartVector(4, len(places), 4)
    for place in reversed(places):
        builder.PrependUOffsetTRelative(place)
    return int(builder.EndVector())


def _struct(builder: Any, value: Struct) -> int:
    fields = fields_of(type(value))
    size = max(_size(each) for each in fields)
    builder.Prep(size, size * len(fields))
    for field in reversed(fields):
        number: int = getattr(value, field.name)
        builder.Prepend(_flags(field, number), number)
    return int(builder.Offset())


def _size(field: Field) -> int:
    if field.scalar and not field.is_tuple:
        return field.scalar.size
    return 1 if isinstance(field.kind, type) and issubclass(field.kind, Struct) else 4


_FLAGS = {
    "ubyte": "Uint8Flags",
    "ushort": "Uint16Flags",
    "short": "Int16Flags",
    "uint": "Uint32Flags",
    "int": "Int32Flags",
    "ulong": "Uint64Flags",
}


def _flags(field: Field, value: int) -> Any:
    from flatbuffers import number_types  # pyright: ignore[reportMissingTypeStubs]

    scalar = cast(Scalar, field.scalar)
    if not scalar.holds(value):
        raise CompileError(f"'{field.name}' is {value}, must be a number of type {scalar.name}")
    return getattr(number_types, _FLAGS[scalar.name])


def schema(root: type[Table]) -> str:
    """Return the schema of a file in FlatBuffers' language, for readers in other languages."""
    found: dict[type, str] = {}
    _declare(root, found)
    return "\n".join([*found.values(), f"root_type {root.__name__};\n"])


def _declare(cls: type, found: dict[type, str]) -> None:
    if cls in found:
        return
    for field in fields_of(cls):
        if isinstance(field.kind, type) and field.kind not in (str, bytes):
            _declare(field.kind, found)
    lines = [f"  {each.name}: {_spelled(each)};" for each in fields_of(cls)]
    word = "struct" if issubclass(cls, Struct) else "table"
    found[cls] = "\n".join([f"{word} {cls.__name__} {{", *lines, "}\n"])


def _spelled(field: Field) -> str:
    if field.kind is bytes:
        return "[ubyte]"
    name = field.scalar.name if field.scalar else "string"
    if isinstance(field.kind, type) and field.kind is not str:
        name = field.kind.__name__
    return f"[{name}]" if field.is_tuple else name
