"""Containers as text, with all that is in them, and back: the same file comes of it.

.constant                   a constant begins, or all are one
.data 00010203              the bytes of constants, in order, on any number of lines
.program N=1 T=16           the program for exact sizes begins, or there is one for all runs
.region constants 4096      the bytes of a region of dram
.input "x" region=inputs offset=0x0 shape=1,8,8,3 channels=16 fill=0
.output "y" …
.node "Conv_1"              what the packets below are of, in quotes as in JSON
conv wait.load=2 source=0x0 …

Text after `;` is a comment. A program without any `.node` has no nodes.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import cast

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from .contents import Container, programs_fault, relocations
from .disassembly import packet_text, read_packet
from .packet import InstructionSet, Packet
from .ports import Port, ports_fault

_PORT = ("region", "offset", "shape", "channels", "fill")
_LINE = 32
"""The bytes of constants per line."""


def listing(instructions: InstructionSet, *programs: Container) -> str:
    """Return the text of a container with programs that share their constants."""
    lines = [line for each in programs for line in _lines(instructions, each)]
    return "".join(f"{line}\n" for line in [*_data_lines(programs[0]), *lines])


def read_listing(
    instructions: InstructionSet, text: str, file: str = "text"
) -> tuple[Container, ...]:
    """Return the programs of a text; raise CompileError with all faults, each with its line."""
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
    return reader.containers()


def _data_lines(container: Container) -> Iterator[str]:
    for piece in container.pieces:
        if container.starts:
            yield ".constant"
        for start in range(0, len(piece), _LINE):
            yield f".data {piece[start : start + _LINE].hex()}"


def _lines(instructions: InstructionSet, container: Container) -> Iterator[str]:
    if container.sizes:
        sizes = sorted(container.sizes.items())
        yield " ".join([".program", *(f"{name}={size}" for name, size in sizes)])
    for name, size in sorted(container.regions.items()):
        yield f".region {name} {size}"
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


@dataclass
class _Program:
    """The parts of a program that begins at a line."""

    line: int
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    regions: dict[str, int] = field(default_factory=dict[str, int])
    code: bytearray = field(default_factory=bytearray)
    nodes: list[str] = field(default_factory=list[str])
    node: str | None = None
    inputs: list[tuple[int, Port]] = field(default_factory=list[tuple[int, Port]])
    outputs: list[tuple[int, Port]] = field(default_factory=list[tuple[int, Port]])
    used: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def is_empty(self) -> bool:
        return not (self.code or self.regions or self.inputs or self.outputs)


class _Reader:
    """Collect the programs of a container from lines."""

    def __init__(self, instructions: InstructionSet) -> None:
        self.instructions = instructions
        self.constants = bytearray()
        self.starts: list[int] = []
        self.data_line = 0
        self.program = _Program(1)
        self.programs = [self.program]

    def read(self, number: int, line: str) -> None:
        """Read a line; raise Invalid for its faults."""
        word, text = (*line.split(maxsplit=1), "", "")[:2]
        plain = text.partition(";")[0]
        if not word.startswith("."):
            self._packet(number, line)
        elif word == ".node":
            self.program.node, _ = _name(word, text)
        elif word in (".input", ".output"):
            ports = self.program.inputs if word == ".input" else self.program.outputs
            ports.append((number, _port(word, text)))
        elif word == ".region":
            self._region(plain.split())
        elif word == ".data":
            self.data_line = number
            self._data(plain)
        elif word == ".constant":
            self.data_line = number
            self.starts.append(len(self.constants))
        elif word == ".program":
            self._begin(number, plain.split())
        else:
            known = ", ".join(
                (".constant", ".data", ".input", ".node", ".output", ".program", ".region")
            )
            raise Invalid(f"'{word}' is unknown, must be one of: {known}, packets")

    def missing(self) -> list[tuple[int, str]]:
        """List what all lines together lack, each with the line that needs it."""
        faults: list[tuple[int, str]] = []
        for each in self.programs:
            size = each.regions.get("constants", 0)
            faults += [
                (line, f"region '{name}' is used, say its size: .region {name} BYTES")
                for name, line in each.used.items()
                if name not in each.regions
            ]
            if len(self.constants) > size:
                message = f"constants have {len(self.constants)} bytes, their region has {size}"
                faults.append((self.data_line, message))
            faults += self._port_faults(each)
        return [*faults, *self._program_faults()]

    def _program_faults(self) -> Iterator[tuple[int, str]]:
        """Find the first program that does not go with those before it."""
        made = self.containers()
        for number, each in enumerate(self.programs, start=1):
            fault = programs_fault(made[:number])
            if fault is not None:
                yield self.data_line if fault.startswith("'starts'") else each.line, fault
                return

    def _port_faults(self, program: _Program) -> Iterator[tuple[int, str]]:
        """Find the first fault of the inputs and of the outputs, each with its line."""
        description = self.instructions.description
        for listed in (program.inputs, program.outputs):
            ports = [port for _, port in listed]
            for number, (line, _) in enumerate(listed, start=1):
                first = ports[:number]
                inputs, outputs = (first, []) if listed is program.inputs else ([], first)
                fault = ports_fault(description, program.regions, inputs, outputs)
                if fault is not None:
                    yield line, fault
                    break

    def containers(self) -> tuple[Container, ...]:
        """Return the programs of lines without a fault."""
        return tuple(map(self._container, self.programs))

    def _container(self, program: _Program) -> Container:
        code = bytes(program.code)
        nodes = () if program.node is None else tuple(program.nodes)
        moved = relocations(self.instructions, code)
        inputs, outputs = (
            tuple(port for _, port in listed) for listed in (program.inputs, program.outputs)
        )
        constants, starts = bytes(self.constants), tuple(self.starts)
        contents = (constants, code, moved, nodes, inputs, outputs, starts)
        return Container(program.regions, *contents, program.sizes)

    def _begin(self, number: int, words: list[str]) -> None:
        try:
            pairs = [(name, int(size, 0)) for name, size in (word.split("=") for word in words)]
        except ValueError:
            raise Invalid("'.program' must be followed by sizes, as in N=1 T=16") from None
        sizes = dict(pairs)
        if len(sizes) != len(pairs):
            raise Invalid("'.program' has a name twice")
        if len(self.programs) == 1 and self.program.is_empty:
            self.programs.clear()
        self.program = _Program(number, sizes)
        self.programs.append(self.program)

    def _packet(self, number: int, line: str) -> None:
        packet = read_packet(self.instructions, line)
        if packet is None:
            return
        self.program.nodes.append(self.program.node or "")
        for name in self._regions_of(packet):
            self.program.used.setdefault(name, number)
        self.program.code += self.instructions.encode(packet)

    def _regions_of(self, packet: Packet) -> Iterator[str]:
        known = self.instructions.description.regions
        for each in self.instructions.form(packet).fields:
            if each.kind != "region":
                continue
            place: int = getattr(packet, each.name)
            if not 0 <= place < len(known):
                raise Invalid(f"field '{each.name}' is {place}, there are {len(known)} regions")
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
        if name in self.program.regions:
            raise Invalid(f"region '{name}' is there twice")
        largest = description.memories["dram"].bytes
        if not 0 <= size <= largest:
            raise Invalid(f"region '{name}' has {size} bytes, must have 0 to {largest}")
        self.program.regions[name] = size

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
