"""Containers: command streams as files, with what a loader needs to refuse the wrong ones.

    offset  bytes  contents (numbers are little endian)
    0       4      TDLA
    4       2      version of this format
    6       2      ABI of the packets
    8       16     hash of the description that the streams were made for
    24      4      bytes of the manifest
    28      4      bytes of the constants
    32      4      bytes of the code
    36      4      CRC-32 of the whole file with these 4 bytes 0
    40      24     name of the target, zeros after it
    64             manifest (JSON), constants, code; each padded with zeros to 16 bytes

The manifest says where constants start, and of each program its bytes of the code, which follow one
another, the exact sizes that it is for, the sizes of dram's regions, the ports, relocations, and
the node that each packet is of, or no nodes. All programs read the same constants. The description
is not part of it: whoever loads a container has it, and the hash tells. There is one file for a
container: what `save` would write otherwise is refused.
"""

import struct
import zlib
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import NoReturn, TypeVar

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from .contents import Container, Sizes, program_for, programs_fault, relocations_of
from .description import Description
from .manifest import read_manifest, write_manifest
from .packet import InstructionSet
from .ports import ports_fault

Found = TypeVar("Found")

MAGIC, VERSION = b"TDLA", 3
NO_SIZES: Sizes = MappingProxyType({})
"""The sizes of the program of a container that has one for all runs."""

_HEADER = struct.Struct("<4sHH16sIIII24s")
_CRC = 36
_NAME = 40
_UNIT = 16


def save(description: Description, *programs: Container) -> bytes:
    """Return the file of a container; the same programs give the same bytes.

    Raises CompileError for programs or ports that `load` would refuse.
    """
    fault = programs_fault(programs) or _ports_fault(description, programs)
    if fault is not None:
        raise CompileError(f"container: {fault}")
    name = description.name.encode()
    if len(name) > 24:
        raise CompileError(f"the name '{description.name}' has more than 24 bytes")
    code = b"".join(each.code for each in programs)
    sections = (write_manifest(programs), programs[0].constants, code)
    sizes = map(len, sections)
    head = _HEADER.pack(MAGIC, VERSION, description.abi, description.digest, *sizes, 0, name)
    data = bytearray(head + b"".join(map(_padded, sections)))
    data[_CRC : _CRC + 4] = zlib.crc32(data).to_bytes(4, "little")
    return bytes(data)


def _ports_fault(description: Description, programs: Sequence[Container]) -> str | None:
    for number, each in enumerate(programs):
        fault = ports_fault(description, each.regions, each.inputs, each.outputs)
        if fault is not None:
            return f"in 'programs[{number}]', {fault}"
    return None


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


def load(
    instructions: InstructionSet, data: bytes, file: str = "container", sizes: Sizes = NO_SIZES
) -> Container:
    """Check a file and return its program for some sizes.

    Raises CompileError with the offset of a fault, and with the sizes that there are.
    """
    programs = load_all(instructions, data, file)
    try:
        return program_for(programs, sizes)
    except CompileError as error:
        _refuse(file, _HEADER.size, error.diagnostics[0].message)


def load_all(
    instructions: InstructionSet, data: bytes, file: str = "container"
) -> tuple[Container, ...]:
    """Check a file and return its programs; raise CompileError with the offset of a fault."""
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
    made = _programs(description, file, sections)
    start = len(data) - len(_padded(sections[-1]))
    for each in made:
        _check_code(instructions, file, each, start)
        start += len(each.code)
    place = _first_difference(zeroed, save(description, *made))
    if place is not None:
        _refuse(file, place, "differs from the encoding of its contents")
    return made


def _check_code(instructions: InstructionSet, file: str, made: Container, start: int) -> None:
    try:
        stream = instructions.decode_stream(made.code)
        needed = relocations_of(instructions, stream)
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


def _programs(
    description: Description, file: str, sections: Sequence[bytes]
) -> tuple[Container, ...]:
    start = _HEADER.size
    try:
        made = read_manifest(*sections)
    except Invalid as error:
        _refuse(file, start, f"in the manifest, {error}")
    except ValueError as error:
        _refuse(file, start, f"the manifest is not JSON: {error}")
    except RecursionError:
        _refuse(file, start, "the manifest is nested too deep")
    for each in made:
        _check_regions(description, file, each)
    fault = programs_fault(made) or _ports_fault(description, made)
    if fault is not None:
        _refuse(file, start, f"in the manifest, {fault}")
    return made


def _check_regions(description: Description, file: str, made: Container) -> None:
    largest = description.memories["dram"].bytes
    for name, size in made.regions.items():
        if name not in description.regions or not 0 <= size <= largest:
            message = f"region {name!r:.40} of {size!r:.40} bytes is not one of the target's"
            _refuse(file, _HEADER.size, message)
    if len(made.constants) > made.regions.get("constants", 0):
        _refuse(file, 28, f"{len(made.constants)} bytes of constants, their region has fewer")


def _refuse(file: str, offset: int, message: str) -> NoReturn:
    raise CompileError([Diagnostic(f"{file}, offset {offset:#x}", message)])
