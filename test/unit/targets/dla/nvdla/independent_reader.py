"""Read a loadable by its format notes alone, sharing nothing with the product.

A table is a row of letters of the module struct; s is a string, d bytes, v a version, and capitals
in brackets are vectors, of tables where they name one.
"""

import struct
from typing import Any

TABLES: dict[str, list[str]] = {
    "Loadable": ["v"],
    "Task": ["H", "I", "h", "[H]", "[H]", "[H]"],
    "Memory": ["H", "B", "H", "Q", "I", "[s]", "[Q]", "H", "H"],
    "Address": ["H", "H", "Q", "Q"],
    "Event": ["H", "B", "H", "I", "B"],
    "Blob": ["s", "Q", "I", "I", "v", "d"],
    "Tensor": ["s", "H", "H", "Q", "Q", *"BBBBB", *"iiii", *"IIIIIIII"],
    "Reloc": ["H", "H", "Q", "I", "I", "B"],
    "Submit": ["H", "[H]"],
}
for _name in ("Task", "Memory", "Address", "Event", "Blob", "Tensor", "Reloc", "Submit"):
    TABLES["Loadable"].append(f"[{_name}]")


def read(data: bytes) -> tuple[Any, ...]:
    """Return the values of the fields of the root, nested tables as tuples."""
    return _table(data, _at(data, "I", 0), "Loadable")


def _at(data: bytes, code: str, place: int) -> int:
    return int(struct.unpack_from("<" + code, data, place)[0])


def _table(data: bytes, place: int, name: str) -> tuple[Any, ...]:
    entries = place - _at(data, "i", place)
    count = (_at(data, "H", entries) - 4) // 2
    offsets = [_at(data, "H", entries + 4 + 2 * i) for i in range(count)]
    offsets += [0] * (len(TABLES[name]) - count)
    return tuple(
        _field(data, place + offset, kind) if offset else _default(kind)
        for kind, offset in zip(TABLES[name], offsets, strict=True)
    )


def _default(kind: str) -> Any:
    return {"s": "", "d": b"", "v": (0, 0, 0)}.get(kind, () if kind.startswith("[") else 0)


def _field(data: bytes, place: int, kind: str) -> Any:
    if kind == "v":
        return tuple(data[place : place + 3])
    if kind in "BHIQhi":
        return _at(data, kind, place)
    start = place + _at(data, "I", place)
    count = _at(data, "I", start)
    if kind == "d":
        return data[start + 4 : start + 4 + count]
    if kind == "s":
        return data[start + 4 : start + 4 + count].decode()
    element = kind.strip("[]")
    size = struct.calcsize("<" + element) if element in "BHIQhi" else 4
    places = range(start + 4, start + 4 + size * count, size)
    if element in TABLES:
        return tuple(_table(data, each + _at(data, "I", each), element) for each in places)
    return tuple(_field(data, each, element) for each in places)
