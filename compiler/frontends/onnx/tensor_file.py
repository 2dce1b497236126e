"""Read large initializers of an ONNX file from the file, one by one, and not with the model.

Protobuf copies all bytes of a message, and its Python binding copies them again for each access. So
the model is decoded without the raw data of large initializers, which is read when it is needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from typing import NamedTuple

import numpy as np
import onnx

from ....dialects.core.tensor import Array

LEAST_BYTES = 1 << 16
"""Smaller data stays in the message."""

_GRAPH, _INITIALIZER = 7, 5
_DATA_TYPE, _SEGMENT, _NAME, _RAW_DATA, _LOCATION = 2, 3, 8, 9, 14
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

_TYPES = frozenset(
    onnx.TensorProto.DataType.Value(name)
    for name in (
        *("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL"),
        *("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"),
    )
)
"""The element types of which a file has each element in whole bytes."""


class _Span(NamedTuple):
    offset: int
    size: int


@dataclass
class TensorFile:
    """Hold the places of large initializers in an open file, by their names."""

    file: BufferedReader
    spans: dict[str, _Span] = field(default_factory=dict[str, _Span])

    def read(self, tensor: onnx.TensorProto) -> Array | None:
        """Return the value of an initializer in the file, None for others.

        Raises ValueError for data that does not fit the type.
        """
        span = self.spans.get(tensor.name)
        if span is None:
            return None
        data = np.empty(span.size, np.uint8)
        self.file.seek(span.offset)
        if self.file.readinto(data.data) != span.size:
            raise ValueError("the file has become shorter")
        data.flags.writeable = False
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        return np.frombuffer(data, dtype).reshape(tensor.dims)


def strip_initializers(data: memoryview) -> tuple[bytes, dict[str, _Span]]:
    """Return a model without the raw data of large initializers, and the places of these.

    Raises ValueError for what is no message, or has parts that this does not know.
    """
    parts: list[bytes | memoryview] = []
    spans: dict[str, _Span] = {}
    graphs = 0
    for part in _fields(data, 0, len(data)):
        if part.number == _GRAPH and part.kind == _LENGTH:
            graphs += 1
            parts += _message(_GRAPH, _strip_graph(data, part, spans))
        else:
            parts.append(data[part.start : part.end])
    if graphs != 1:  # several are merged into one
        raise ValueError(f"{graphs} graphs")
    return b"".join(parts), spans


class _Field(NamedTuple):
    """A field of a message: where it starts, and where its content does."""

    number: int
    kind: int
    start: int
    content: int
    end: int


def _strip_graph(data: memoryview, graph: _Field, spans: dict[str, _Span]) -> bytes:
    parts: list[bytes | memoryview] = []
    for part in _fields(data, graph.content, graph.end):
        is_tensor = part.number == _INITIALIZER and part.kind == _LENGTH
        if is_tensor and part.end - part.content >= LEAST_BYTES:
            parts += _message(_INITIALIZER, _strip_tensor(data, part, spans))
        else:
            parts.append(data[part.start : part.end])
    return b"".join(parts)


def _strip_tensor(data: memoryview, tensor: _Field, spans: dict[str, _Span]) -> bytes:
    """Return a tensor without its raw data, or as it is where the data is not simply there."""
    fields = list(_fields(data, tensor.content, tensor.end))
    raw = [part for part in fields if part.number == _RAW_DATA]
    names = [bytes(data[p.content : p.end]) for p in fields if p.number == _NAME]
    types = [_varint(data, p.content, p.end)[0] for p in fields if p.number == _DATA_TYPE]
    special = any(part.number in (_SEGMENT, _LOCATION) for part in fields)
    simple = len(raw) == len(names) == len(types) == 1 and types[0] in _TYPES and not special
    if not simple or raw[0].end - raw[0].content < LEAST_BYTES:
        return bytes(data[tensor.content : tensor.end])
    spans[names[0].decode()] = _Span(raw[0].content, raw[0].end - raw[0].content)
    return b"".join(data[part.start : part.end] for part in fields if part.number != _RAW_DATA)


def _message(number: int, content: bytes) -> tuple[bytes, bytes]:
    return _encode(number << 3 | _LENGTH) + _encode(len(content)), content


def _fields(data: memoryview, at: int, end: int) -> Iterator[_Field]:
    while at < end:
        start = at
        tag, at = _varint(data, at, end)
        kind = tag & 7
        if kind == _LENGTH:
            size, at = _varint(data, at, end)
        elif kind == _VARINT:
            size = _varint(data, at, end)[1] - at
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + size > end:
            raise ValueError("a field ends after its message")
        yield _Field(tag >> 3, kind, start, at, at + size)
        at += size


def _varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("a number does not end")


def _encode(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
