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


CONVERTER = {"scale": ("h", 0), "truncate": ("B", 2), "enable": ("B", 3), "offset": ("i", 4)}
STAGE = {
    **{name: ("B", at) for at, name in enumerate(("enable", "alu_type", "type", "mode"))},
    **{name: ("B", 4 + at) for at, name in enumerate(("act", "shift", "truncate", "precision"))},
    "alu_operand": ("i", 8),
    "mul_operand": ("i", 12),
    **{f"alu_cvt.{name}": (code, 16 + at) for name, (code, at) in CONVERTER.items()},
    **{f"mul_cvt.{name}": (code, 24 + at) for name, (code, at) in CONVERTER.items()},
}
SDP = {
    "src_precision": ("B", 0),
    "dst_precision": ("B", 1),
    "lut_index": ("h", 2),
    **{f"out_cvt.{name}": (code, 4 + at) for name, (code, at) in CONVERTER.items()},
    "conv_mode": ("B", 12),
    "batch_num": ("B", 13),
    "batch_stride": ("I", 16),
    **{f"x1_op.{name}": (code, 20 + at) for name, (code, at) in STAGE.items()},
    **{f"x2_op.{name}": (code, 52 + at) for name, (code, at) in STAGE.items()},
    **{f"y_op.{name}": (code, 84 + at) for name, (code, at) in STAGE.items()},
}
CUBE = {
    "type": ("H", 0),
    "address": ("h", 2),
    "offset": ("I", 4),
    "size": ("I", 8),
    **{name: ("H", 12 + 2 * at) for at, name in enumerate(("width", "height", "channel"))},
    **{name: ("I", 20 + 4 * at) for at, name in enumerate(("line", "surf", "plane"))},
}


class Task:
    """The descriptors of the first task, of ABI 0.12, found from its list of addresses."""

    def __init__(self, data: bytes) -> None:
        _, tasks, self.memories, self.addresses, _, blobs, *_ = read(data)
        self.blobs = {name: contents for name, *_, contents in blobs}
        self.list = tasks[0][3]
        self.network = self.bytes_at(0)
        self.count = _at(self.network, "H", 30)
        operations, surfaces, graph = (
            self.bytes_at(_at(self.network, "h", at)) for at in (0, 2, 4)
        )
        self.operations = [operations[116 * i : 116 * (i + 1)] for i in range(self.count)]
        self.surfaces = [surfaces[644 * i : 644 * (i + 1)] for i in range(self.count)]
        self.graph = [graph[36 * i : 36 * (i + 1)] for i in range(self.count)]

    def bytes_at(self, index: int) -> bytes:
        """Return the bytes at an address of the task, whose memory one blob fills."""
        (address,) = (each for each in self.addresses if each[0] == self.list[index])
        (memory,) = (each for each in self.memories if each[0] == address[1])
        (name,) = memory[5]
        return self.blobs[name][address[2] :]

    def engine(self, number: int) -> int:
        return _at(self.graph[number], "B", 3)

    def fields(self, number: int, places: dict[str, tuple[str, int]]) -> dict[str, int]:
        return {name: _at(self.operations[number], *at) for name, at in places.items()}

    def cube(self, number: int, at: int) -> dict[str, int]:
        surface = self.surfaces[number]
        return {name: _at(surface, code, at + place) for name, (code, place) in CUBE.items()}

    def arrivals(self) -> list[int]:
        """Count the notifications that arrive at each operation."""
        found = [0] * self.count
        for entry in self.graph:
            for at in (*range(8, 32, 4), 32):
                if (consumer := _at(entry, "h", at)) >= 0:
                    found[consumer] += 1
        return found
