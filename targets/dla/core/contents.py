"""What a container holds: programs, each a command stream, and the constants that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ....dialects.core.errors import CompileError
from ....runtime.sizes.size_expressions import is_symbol_name
from ....runtime.sizes.values import spelled_sizes
from .description import Description
from .packet import InstructionSet, Placed
from .ports import Port

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Relocation:
    """A packet, by its offset, and the field that is relative to the base of a region."""

    offset: int
    field: str
    region: str


@dataclass(frozen=True)
class Container:
    """A program of a container: its stream, its ports, the nodes of its packets, its constants.

    `constants`, at the start of their region, are those of all programs of the container; one of
    them begins at each of `starts`, or they are one. `sizes` are the exact sizes that the program
    is for, none where it is the only one. `regions` are the bytes of each region.
    """

    regions: Mapping[str, int]
    constants: bytes
    code: bytes
    relocations: tuple[Relocation, ...] = ()
    nodes: tuple[str, ...] = ()
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    starts: tuple[int, ...] = ()
    sizes: Sizes = field(default_factory=dict[str, int])

    @property
    def pieces(self) -> list[bytes]:
        """Return the constants one by one."""
        ends = (*self.starts[1:], len(self.constants))
        spans = zip(self.starts or (0,), ends, strict=True)
        return [self.constants[start:end] for start, end in spans]


def program_for(programs: Sequence[Container], sizes: Sizes) -> Container:
    """Return the program for exact sizes; raise CompileError that lists the sizes there are."""
    for each in programs:
        if each.sizes == sizes:
            return each
    if not programs[0].sizes:
        raise CompileError(f"has one program for all runs, none for {spelled_sizes(sizes)}")
    listed = "; ".join(spelled_sizes(each.sizes) for each in programs)
    asked = spelled_sizes(sizes) or "no sizes"
    raise CompileError(f"has no program for {asked}, it has: {listed}")


def programs_fault(programs: Sequence[Container]) -> str | None:
    """Return why programs cannot be in one container, or None."""
    if not programs:
        return "there is no program, must be one"
    first = programs[0]
    starts, end = first.starts, len(first.constants)
    if starts and (starts[0] != 0 or starts[-1] >= end or list(starts) != sorted({*starts})):
        return f"'starts' must go from 0 upwards to below {end}, the bytes of all constants"
    for number, each in enumerate(programs):
        fault = _sizes_fault(each.sizes, programs[:number])
        if fault is not None:
            return f"'programs[{number}]' {fault}"
        if (each.constants, each.starts) != (first.constants, first.starts):
            return f"'programs[{number}]' has other constants than 'programs[0]'"
    return None


def _sizes_fault(sizes: Sizes, earlier: Sequence[Container]) -> str | None:
    for name, size in sizes.items():
        if not is_symbol_name(name):
            return f"has a size of {name!r:.40}, must be of the name of a symbol"
        if size < 0:
            return f"has size {name}={size}, must be 0 or more"
    if not earlier:
        return None
    names, needed = ", ".join(sizes) or "no sizes", ", ".join(earlier[0].sizes)
    if not needed or sorted(sizes) != sorted(earlier[0].sizes):
        return f"is for {names}, must be for sizes of {needed or 'symbols, as each of several'}"
    if sizes in [each.sizes for each in earlier]:
        return f"is for {spelled_sizes(sizes)} again"
    return None


def relocations(instructions: InstructionSet, code: bytes) -> tuple[Relocation, ...]:
    """List the fields of a stream that point into regions of DRAM."""
    return relocations_of(instructions, instructions.decode_stream(code))


def relocations_of(
    instructions: InstructionSet, stream: Sequence[Placed]
) -> tuple[Relocation, ...]:
    """List the fields of decoded packets that point into regions of DRAM."""
    found: list[Relocation] = []
    for placed in stream:
        fields = instructions.form(placed.packet).fields
        regions = [getattr(placed.packet, f.name) for f in fields if f.kind == "region"]
        for each in fields:
            if each.memory == "dram" and regions:
                region = _region(instructions.description, regions[0], placed)
                found.append(Relocation(placed.offset, each.name, region))
    return tuple(found)


def _region(description: Description, number: int, placed: Placed) -> str:
    if number >= len(description.regions):
        message = f"region {number}, there are {len(description.regions)}"
        raise CompileError(f"offset {placed.offset:#x}: {message}")
    return description.regions[number]


def relocate(instructions: InstructionSet, program: Container, bases: Mapping[str, int]) -> bytes:
    """Return the stream with absolute addresses, for hardware without base registers."""
    code, unit = bytearray(program.code), instructions.description.unit_bytes
    for entry in program.relocations:
        form = instructions.form(instructions.decode(program.code, entry.offset))
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
