"""Put programs that were made one by one into one container, each constant stored once."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ....dialects.core.errors import CompileError, Invalid
from .contents import Container, relocations
from .packet import InstructionSet, Packet
from .simulator import CONSTANTS

_REGION = "constants"


def merged(instructions: InstructionSet, programs: Sequence[Container]) -> tuple[Container, ...]:
    """Return programs that read the same constants: those of equal bytes are there once.

    Their packets get other addresses in the region of constants, and are else the same. Raises
    CompileError where the region of all constants is too large for the memory or for addresses.
    """
    pool = _Pool(instructions.description.memories["dram"].alignment)
    moved = [_moved(instructions, each, pool) for each in programs]
    constants, size = bytes(pool.data), len(pool.data)
    largest = instructions.description.memories["dram"].bytes
    if size > largest:
        raise CompileError(f"all constants have {size} bytes, the memory has {largest}")
    starts = tuple(pool.places.values())
    return tuple(
        replace(
            each,
            regions={**each.regions, _REGION: size} if size else each.regions,
            constants=constants,
            starts=starts,
            code=code,
            relocations=relocations(instructions, code),
        )
        for each, code in zip(programs, moved, strict=True)
    )


@dataclass
class _Pool:
    """Constants one behind the other, each at a multiple of `alignment`, and their places."""

    alignment: int
    data: bytearray = field(default_factory=bytearray)
    places: dict[bytes, int] = field(default_factory=dict[bytes, int])

    def place(self, constant: bytes) -> int:
        padded = constant + bytes(-len(constant) % self.alignment)
        if padded not in self.places:
            self.places[padded] = len(self.data)
            self.data += padded
        return self.places[padded]


def _moved(instructions: InstructionSet, program: Container, pool: _Pool) -> bytes:
    """Return the code of a program whose constants are in a pool."""
    starts = program.starts or (0,)
    places = [pool.place(each) for each in program.pieces if each]
    fields: dict[int, list[str]] = {}
    for entry in program.relocations:
        if entry.region == _REGION:
            fields.setdefault(entry.offset, []).append(entry.field)
    code: list[bytes] = []
    for placed in instructions.decode_stream(program.code):
        packet = placed.packet
        changes: dict[str, int] = {}
        for name in fields.get(placed.offset, ()):
            address: int = getattr(packet, name)
            piece = _piece(instructions, packet, starts)
            changes[name] = places[piece] + address - starts[piece]
        code.append(_encoded(instructions, packet, changes))
    return b"".join(code)


def _piece(instructions: InstructionSet, packet: Packet, starts: Sequence[int]) -> int:
    """Return which constant a packet reads; raise CompileError where it reads several."""
    read = [e for e in packet.reads(instructions.description) if e.space == CONSTANTS]
    found = {bisect_right(starts, at) - 1 for e in read for at in (e.start, e.end - 1)}
    if len(found) != 1:
        raise CompileError(f"packet '{packet.name}' reads {len(found)} constants, must read one")
    return found.pop()


def _encoded(instructions: InstructionSet, packet: Packet, changes: Mapping[str, int]) -> bytes:
    try:
        return instructions.encode(replace(packet, **changes))  # pyright: ignore[reportArgumentType]
    except Invalid as error:
        raise CompileError(f"constants of several programs: {error}") from None
