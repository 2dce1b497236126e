"""Containers as text, with all that is in them, and back: the same file comes of it.

.region constants 4096      the bytes of a region of dram
.data 00010203              constants, in order, on any number of lines
.input "x" region=inputs offset=0x0 shape=1,8,8,3 channels=16 fill=0
.output "y" …
.node "Conv_1"              what the packets below are of, in quotes as in JSON
conv wait.load=2 source=0x0 …

Text after `;` is a comment. Without any `.node` the container has no nodes.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from typing import cast

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from .container import Container, relocations
from .disassembly import packet_text, read_packet
from .packet import InstructionSet, Packet
from .ports import Port, ports_fault

_PORT = ("region", "offset", "shape", "channels", "fill")
_LINE = 32
"""The bytes of constants per line."""


def listing(instructions: InstructionSet, container: Container) -> str:
    """Return the text of a container."""
    return "".join(f"{line}\n" for line in _lines(instructions, container))


def read_listing(instructions: InstructionSet, text: str, file: str = "text") -> Container:
    """Return the container of a text; raise CompileError with all faults, each with its line."""
    reader = _Reader(instructions)
    faults: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            reader.read(number, line.strip())
        except Invalid as error:
            faults.append((number, str(error)))
    faults = sorted([*faults, *reader.missing()])
    if faults:
        raise CompileError([Diagnostic(f"{file}:{line}", message) for line, message in faults])
    return reader.container()


def _lines(instructions: InstructionSet, container: Container) -> Iterator[str]:
    for name, size in sorted(container.regions.items()):
        yield f".region {name} {size}"
    for start in range(0, len(container.constants), _LINE):
        yield f".data {container.constants[start : start + _LINE].hex()}"
    for word, ports in ((".input", container.inputs), (".output", container.outputs)):
        yield from (f"{word} {_port_text(port)}" for port in ports)
    packets = [placed.packet for placed in instructions.decode_stream(container.code)]
    nodes = container.nodes or [None] * len(packets)
    pairs = zip(nodes, packets, strict=True)
    for node, group in groupby(pairs, lambda pair: pair[0]):
        if node is not None:
            yield f".node {json.dumps(node)}"
        yield from (packet_text(instructions, packet) for _, packet in group)


def _port_text(port: Port) -> str:
    place = f"{json.dumps(port.name)} region={port.region} offset={port.offset:#x}"
    shape = ",".join(map(str, port.shape))
    return f"{place} shape={shape} channels={port.channels} fill={port.fill}"


class _Reader:
    """Collect the parts of a container from lines."""

    def __init__(self, instructions: InstructionSet) -> None:
        self.instructions = instructions
        self.regions: dict[str, int] = {}
        self.constants = bytearray()
        self.code = bytearray()
        self.nodes: list[str] = []
        self.node: str | None = None
        self.data_line = 0
        self.ports: dict[str, list[tuple[int, Port]]] = {".input": [], ".output": []}
        self.used: dict[str, int] = {}

    def read(self, number: int, line: str) -> None:
        """Read a line; raise Invalid for its faults."""
        word, text = (*line.split(maxsplit=1), "", "")[:2]
        if not word.startswith("."):
            self._packet(number, line)
        elif word == ".node":
            self.node, _ = _name(word, text)
        elif word in self.ports:
            self.ports[word].append((number, _port(word, text)))
        elif word == ".region":
            self._region(text.partition(";")[0].split())
        elif word == ".data":
            self.data_line = number
            self._data(text.partition(";")[0])
        else:
            known = ", ".join((".data", *self.ports, ".node", ".region"))
            raise Invalid(f"'{word}' is unknown, must be one of: {known}, packets")

    def missing(self) -> list[tuple[int, str]]:
        """List what all lines together lack, each with the line that needs it."""
        size = self.regions.get("constants", 0)
        faults = [
            (line, f"region '{name}' is used, say its size: .region {name} BYTES")
            for name, line in self.used.items()
            if name not in self.regions
        ]
        if len(self.constants) > size:
            message = f"constants have {len(self.constants)} bytes, their region has {size}"
            faults.append((self.data_line, message))
        return [*faults, *self._port_faults()]

    def _port_faults(self) -> Iterator[tuple[int, str]]:
        """Find the first fault of the inputs and of the outputs, each with its line."""
        description = self.instructions.description
        for word, listed in self.ports.items():
            ports = [port for _, port in listed]
            for number, (line, _) in enumerate(listed, start=1):
                inputs, outputs = (ports[:number], []) if word == ".input" else ([], ports[:number])
                fault = ports_fault(description, self.regions, inputs, outputs)
                if fault is not None:
                    yield line, fault
                    break

    def container(self) -> Container:
        """Return the container of lines without a fault."""
        code = bytes(self.code)
        nodes = () if self.node is None else tuple(self.nodes)
        moved = relocations(self.instructions, code)
        inputs, outputs = (tuple(p for _, p in listed) for listed in self.ports.values())
        constants = bytes(self.constants)
        return Container(self.regions, constants, code, moved, nodes, inputs, outputs)

    def _packet(self, number: int, line: str) -> None:
        packet = read_packet(self.instructions, line)
        if packet is None:
            return
        self.nodes.append(self.node or "")
        for name in self._regions_of(packet):
            self.used.setdefault(name, number)
        self.code += self.instructions.encode(packet)

    def _regions_of(self, packet: Packet) -> Iterator[str]:
        known = self.instructions.description.regions
        for field in self.instructions.form(packet).fields:
            if field.kind != "region":
                continue
            place: int = getattr(packet, field.name)
            if not 0 <= place < len(known):
                raise Invalid(f"field '{field.name}' is {place}, there are {len(known)} regions")
            yield known[place]

    def _region(self, words: list[str]) -> None:
        description = self.instructions.description
        try:
            name, text = words
            size = int(text, 0)
        except ValueError:
            raise Invalid("'.region' must be followed by a name and a number of bytes") from None
        if name not in description.regions:
            known = ", ".join(description.regions)
            raise Invalid(f"no region is called '{name}', there are: {known}")
        if name in self.regions:
            raise Invalid(f"region '{name}' is there twice")
        largest = description.memories["dram"].bytes
        if not 0 <= size <= largest:
            raise Invalid(f"region '{name}' has {size} bytes, must have 0 to {largest}")
        self.regions[name] = size

    def _data(self, text: str) -> None:
        try:
            self.constants += bytes.fromhex(text)
        except ValueError:
            raise Invalid("'.data' must be followed by pairs of hexadecimal digits") from None


def _name(word: str, text: str) -> tuple[str, str]:
    """Return a name in quotes and the text behind it, without comments."""
    name, end = "", 0
    if text.startswith('"'):
        with suppress(ValueError):
            name, end = cast("tuple[str, int]", json.JSONDecoder().raw_decode(text))
    rest = text[end:].partition(";")[0].strip()
    if not end or (rest and word == ".node"):
        raise Invalid(f"'{word}' must be followed by a name in quotes")
    return name, rest


def _port(word: str, text: str) -> Port:
    name, rest = _name(word, text)
    entries = dict(entry.split("=", 1) for entry in rest.split() if "=" in entry)
    if list(entries) != list(_PORT) or len(entries) != len(rest.split()):
        raise Invalid(f"behind its name, '{word}' must have: {', '.join(_PORT)}")
    try:
        offset, channels, fill = (int(entries[key], 0) for key in ("offset", "channels", "fill"))
        shape = tuple(int(size, 0) for size in entries["shape"].split(","))
    except ValueError:
        raise Invalid(f"offset, shape, channels and fill of '{word}' must be numbers") from None
    return Port(name, entries["region"], offset, shape, channels, fill)
