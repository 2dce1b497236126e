"""Containers: command streams as files, with what a loader needs to refuse the wrong ones.

    offset  bytes  contents (numbers are little endian)
    0       4      TDLA
    4       2      version of this format
    6       2      ABI of the packets
    8       16     hash of the description that the stream was made for
    24      4      bytes of the manifest
    28      4      bytes of the constants
    32      4      bytes of the code
    36      4      CRC-32 of the whole file with these 4 bytes 0
    40      24     name of the target, zeros after it
    64             manifest (JSON), constants, code; each padded with zeros to 16 bytes

The manifest has the sizes of dram's regions, the ports, relocations, and the node that each packet
is of, or no nodes. The description is not part of it: whoever loads a container has it, and the
hash tells. There is one file for a container: what `save` would write otherwise is refused.
"""

import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from .description import Description
from .document import as_list, as_number, as_table, as_text
from .packet import InstructionSet, Placed
from .ports import Port, from_table, ports_fault, to_table

Found = TypeVar("Found")

MAGIC, VERSION = b"TDLA", 2
ENTRIES = ("inputs", "nodes", "outputs", "regions", "relocations")
"""The entries of a manifest."""

_HEADER = struct.Struct("<4sHH16sIIII24s")
_CRC = 36
_NAME = 40
_UNIT = 16


@dataclass(frozen=True)
class Relocation:
    """A packet, by its offset, and the field that is relative to the base of a region."""

    offset: int
    field: str
    region: str


@dataclass(frozen=True)
class Container:
    """A stream, its constants, the sizes of its regions, its ports, the nodes of its packets.

    Constants are stored at the start of their region.
    """

    regions: Mapping[str, int]
    constants: bytes
    code: bytes
    relocations: tuple[Relocation, ...] = ()
    nodes: tuple[str, ...] = ()
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()


def relocations(instructions: InstructionSet, code: bytes) -> tuple[Relocation, ...]:
    """List the fields of a stream that point into regions of DRAM."""
    return _relocations(instructions, instructions.decode_stream(code))


def _relocations(instructions: InstructionSet, stream: Sequence[Placed]) -> tuple[Relocation, ...]:
    found: list[Relocation] = []
    for placed in stream:
        fields = instructions.form(placed.packet).fields
        regions = [getattr(placed.packet, f.name) for f in fields if f.kind == "region"]
        for field in fields:
            if field.memory == "dram" and regions:
                region = _region(instructions.description, regions[0], placed)
                found.append(Relocation(placed.offset, field.name, region))
    return tuple(found)


def _region(description: Description, number: int, placed: Placed) -> str:
    if number >= len(description.regions):
        message = f"region {number}, there are {len(description.regions)}"
        raise CompileError(f"offset {placed.offset:#x}: {message}")
    return description.regions[number]


def relocate(instructions: InstructionSet, container: Container, bases: Mapping[str, int]) -> bytes:
    """Return the stream with absolute addresses, for hardware without base registers."""
    code, unit = bytearray(container.code), instructions.description.unit_bytes
    for entry in container.relocations:
        form = instructions.form(instructions.decode(container.code, entry.offset))
        field = next(field for field in form.fields if field.name == entry.field)
        size = form.units * unit
        bits = int.from_bytes(code[entry.offset : entry.offset + size], "little")
        mask = (1 << field.bits) - 1 << field.first(unit)
        address = ((bits & mask) >> field.first(unit)) + bases[entry.region]
        if address >> field.bits:
            message = f"address {address:#x} of '{field.name}' has more than {field.bits} bits"
            raise CompileError(f"offset {entry.offset:#x}: {message}")
        bits = bits & ~mask | address << field.first(unit)
        code[entry.offset : entry.offset + size] = bits.to_bytes(size, "little")
    return bytes(code)


def save(description: Description, container: Container) -> bytes:
    """Return the file of a container; the same container gives the same bytes.

    Raises CompileError for ports that `load` would refuse.
    """
    fault = ports_fault(description, container.regions, container.inputs, container.outputs)
    if fault is not None:
        raise CompileError(f"container: {fault}")
    manifest = json.dumps(
        {
            "inputs": to_table(container.inputs),
            "nodes": container.nodes,
            "outputs": to_table(container.outputs),
            "regions": container.regions,
            "relocations": [[r.offset, r.field, r.region] for r in container.relocations],
        },
        sort_keys=True,
    ).encode()
    name = description.name.encode()
    if len(name) > 24:
        raise CompileError(f"the name '{description.name}' has more than 24 bytes")
    sections = (manifest, container.constants, container.code)
    sizes = map(len, sections)
    head = _HEADER.pack(MAGIC, VERSION, description.abi, description.digest, *sizes, 0, name)
    data = bytearray(head + b"".join(map(_padded, sections)))
    data[_CRC : _CRC + 4] = zlib.crc32(data).to_bytes(4, "little")
    return bytes(data)


def _padded(section: bytes) -> bytes:
    return section + bytes(-len(section) % _UNIT)


def find_for(data: bytes, file: str, find: Callable[[str], Found]) -> Found:
    """Return the result of `find` for the name of the target in a file's header.

    The rest of the file is not checked. Raises CompileError with the offset if there is no such
    target.
    """
    _require_head(data, file)
    try:
        return find(_target_name(data))
    except CompileError as error:
        if error.diagnostics[0].where:
            raise
        _refuse(file, _NAME, error.diagnostics[0].message)


def _target_name(data: bytes) -> str:
    return data[_NAME : _HEADER.size].rstrip(b"\0").decode("utf-8", "replace")


def load(instructions: InstructionSet, data: bytes, file: str = "container") -> Container:
    """Check a file and return its contents; raise CompileError with the offset of a fault."""
    _require_head(data, file)
    description = instructions.description
    _, _, abi, digest, manifest_size, constants, code, _, _ = _HEADER.unpack_from(data)
    if abi != description.abi:
        _refuse(file, 6, f"ABI {abi}, {description.name} has {description.abi}")
    if digest != description.digest:
        message = f"made for another description: {digest.hex()}"
        _refuse(file, 8, f"{message}, {description.name} is {description.digest.hex()}")
    if _target_name(data) != description.name:
        _refuse(file, _NAME, f"for '{_target_name(data)}', not for {description.name}")
    offset = _HEADER.size
    sections: list[bytes] = []
    for field, size in zip((24, 28, 32), (manifest_size, constants, code), strict=True):
        if offset + size > len(data):
            _refuse(file, field, f"a section of {size} bytes at {offset:#x} is cut short")
        sections.append(data[offset : offset + size])
        offset += size + -size % _UNIT
    if offset != len(data):
        _refuse(file, min(offset, len(data)), f"the file has {len(data)} bytes, not {offset}")
    zeroed = data[:_CRC] + bytes(4) + data[_CRC + 4 :]
    if zlib.crc32(zeroed) != int.from_bytes(data[_CRC : _CRC + 4], "little"):
        _refuse(file, _CRC, "the checksum does not match, the file is corrupt")
    made = _container(description, file, sections)
    _check_code(instructions, file, made, len(data) - len(_padded(made.code)))
    place = _first_difference(zeroed, save(description, made))
    if place is not None:
        _refuse(file, place, "differs from the encoding of its contents")
    return made


def _check_code(instructions: InstructionSet, file: str, made: Container, start: int) -> None:
    try:
        stream = instructions.decode_stream(made.code)
        needed = _relocations(instructions, stream)
    except CompileError as error:
        _refuse(file, start, f"the code that starts here: {error.diagnostics[0].message}")
    for entry in needed:
        if entry.region not in made.regions:
            _refuse(file, start + entry.offset, f"region '{entry.region}' is used, it has no size")
    if made.relocations != needed:
        _refuse(file, _HEADER.size, "relocations are not those of the code")
    if len(made.nodes) not in (0, len(stream)):
        message = f"{len(made.nodes)} nodes are listed for {len(stream)} packets"
        _refuse(file, _HEADER.size, message)


def _first_difference(zeroed: bytes, other: bytes) -> int | None:
    """Return the offset of the first difference between two files, checksums ignored."""
    other = other[:_CRC] + bytes(4) + other[_CRC + 4 :]
    if zeroed == other:
        return None
    shorter = min(len(zeroed), len(other))
    return next((n for n in range(shorter) if zeroed[n] != other[n]), shorter)


def _require_head(data: bytes, file: str) -> None:
    if data[:4] != MAGIC:
        _refuse(file, 0, f"starts with {data[:4]!r}, not {MAGIC!r}: no container")
    if len(data) < _HEADER.size:
        _refuse(file, len(data), f"the header is cut short, it has {_HEADER.size} bytes")
    version = int.from_bytes(data[4:6], "little")
    if version != VERSION:
        _refuse(file, 4, f"version {version} of the format, this reads {VERSION}")


def _container(description: Description, file: str, sections: Sequence[bytes]) -> Container:
    start = _HEADER.size
    try:
        made = _read(json.loads(sections[0]), sections)
    except Invalid as error:
        _refuse(file, start, f"in the manifest, {error}")
    except ValueError as error:
        _refuse(file, start, f"the manifest is not JSON: {error}")
    except RecursionError:
        _refuse(file, start, "the manifest is nested too deep")
    largest = description.memories["dram"].bytes
    for name, size in made.regions.items():
        if name not in description.regions or not 0 <= size <= largest:
            _refuse(file, start, f"region '{name}' of {size} bytes is not one of the target's")
    fault = ports_fault(description, made.regions, made.inputs, made.outputs)
    if fault is not None:
        _refuse(file, start, f"in the manifest, {fault}")
    if len(made.constants) > made.regions.get("constants", 0):
        _refuse(file, 28, f"{len(made.constants)} bytes of constants, their region has fewer")
    return made


def _read(document: object, sections: Sequence[bytes]) -> Container:
    """Return the container that a manifest describes; raise Invalid for any other document."""
    table = as_table(document, "manifest", ENTRIES)
    sizes = as_table(table["regions"], "regions", ())
    regions = {name: as_number(size, name) for name, size in sizes.items()}
    moved = [_relocation(entry) for entry in as_list(table["relocations"], "relocations")]
    nodes = [as_text(node, "nodes") for node in as_list(table["nodes"], "nodes")]
    inputs, outputs = (from_table(table[kind], kind) for kind in ("inputs", "outputs"))
    _, constants, code = sections
    return Container(regions, constants, code, tuple(moved), tuple(nodes), inputs, outputs)


def _relocation(entry: object) -> Relocation:
    values = as_list(entry, "relocations")
    if len(values) != 3:
        raise Invalid(f"'relocations' has {len(values)} values in one of them, must have 3")
    offset, field, region = values
    return Relocation(
        as_number(offset, "offset"), as_text(field, "field"), as_text(region, "region")
    )


def _refuse(file: str, offset: int, message: str) -> NoReturn:
    raise CompileError([Diagnostic(f"{file}, offset {offset:#x}", message)])
