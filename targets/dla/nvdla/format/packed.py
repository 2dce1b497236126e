"""Encode and decode descriptors: packed little-endian structs, as a firmware's ABI lays them out.

A descriptor is a frozen dataclass whose annotations are of `scalars.py`. `Count` makes a tuple an
array, `Since` is the first ABI that has a field.
"""

import struct
from functools import cache
from typing import Any, NamedTuple, TypeVar

from .....dialects.core.errors import CompileError
from .scalars import Field, fields_of

D = TypeVar("D")


class Abi(NamedTuple):
    """The version of the descriptors, which each blob of a loadable states."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Count(NamedTuple):
    """The number of elements of an array."""

    elements: int


class Since(NamedTuple):
    """The first ABI that has a field; in earlier ones it takes no bytes, and has its default."""

    abi: Abi


def size_of(cls: type, abi: Abi) -> int:
    """Return the bytes of a descriptor."""
    return sum(_size(field, abi) for field in _stored(cls, abi))


def offset_of(cls: type, name: str, abi: Abi) -> int:
    """Return where a field starts, in bytes; raise KeyError for a field that the ABI lacks."""
    at = 0
    for field in _stored(cls, abi):
        if field.name == name:
            return at
        at += _size(field, abi)
    raise KeyError(name)


def decode(cls: type[D], data: bytes, at: int, abi: Abi) -> D:
    """Return the descriptor at an offset; `at + size_of(cls, abi)` must be within the data."""
    values: dict[str, Any] = {}
    for field in _stored(cls, abi):
        count, size = _count(field), _size(field, abi)
        scalar = field.scalar
        if scalar:
            found = struct.unpack_from(f"<{count}{scalar.code}", data, at)
        else:
            step = size // count
            found = tuple(decode(field.kind, data, at + i * step, abi) for i in range(count))
        values[field.name] = found if field.is_tuple else found[0]
        at += size
    return cls(**values)


def encode(descriptor: object, abi: Abi) -> bytes:
    """Return the bytes of a descriptor.

    Raises CompileError for a value that its field cannot represent, or that the ABI has no field
    for.
    """
    cls = type(descriptor)
    stored = _stored(cls, abi)
    for field in fields_of(cls):
        if field not in stored and getattr(descriptor, field.name) != getattr(cls, field.name):
            _refuse(cls, field.name, getattr(descriptor, field.name), f"0 in ABI {abi}")
    return b"".join(_encoded(descriptor, field, abi) for field in stored)


def _encoded(descriptor: object, field: Field, abi: Abi) -> bytes:
    value: Any = getattr(descriptor, field.name)
    elements = value if field.is_tuple else (value,)
    if len(elements) != _count(field):
        _refuse(type(descriptor), field.name, len(elements), f"{_count(field)} elements")
    scalar = field.scalar
    if scalar is None:
        return b"".join(encode(element, abi) for element in elements)
    for element in elements:
        if not scalar.holds(element):
            _refuse(type(descriptor), field.name, element, f"a number of type {scalar.name}")
    return struct.pack(f"<{len(elements)}{scalar.code}", *elements)


def _refuse(cls: type, name: str, value: object, must: str) -> None:
    raise CompileError(f"'{name}' of {cls.__name__} is {value}, must be {must}")


@cache
def _stored(cls: type, abi: Abi) -> tuple[Field, ...]:
    return tuple(field for field in fields_of(cls) if _since(field) <= abi)


def _since(field: Field) -> Abi:
    return next((note.abi for note in field.notes if isinstance(note, Since)), Abi(0, 0))


def _count(field: Field) -> int:
    return next((note.elements for note in field.notes if isinstance(note, Count)), 1)


def _size(field: Field, abi: Abi) -> int:
    scalar = field.scalar
    return _count(field) * (scalar.size if scalar else size_of(field.kind, abi))
