"""Turn scheduled ops into packets, whose fields the ops declare."""

from collections.abc import Mapping, Sequence

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.location import describe
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.dla.access import Access
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import REGIONS, buffer_of
from ..core.description import Description
from ..core.fields import Value
from ..core.packet import InstructionSet, Packet
from ..core.tile_packet import REGION, STRIDES, PacketFields
from ..phases import CODE_EMIT

DRAM = "dram."
"""The prefix of the regions of DRAM in the names of spaces."""


def refusal(op: Op, message: str) -> CompileError:
    """Return the error for an op that no packet can encode."""
    text = f"'{op.op_name}' op {message}"
    return CompileError([Diagnostic(describe(op.location), text, (f"in phase {CODE_EMIT}",))])


def waits_of(ops: Sequence[BufferOp]) -> tuple[list[dict[str, int]], dict[str, int]]:
    """Return for each op the packets it waits for by engine, and the packets of each engine."""
    counts: dict[str, int] = {}
    places: dict[ir.Value, tuple[str, int]] = {}
    waits: list[dict[str, int]] = []
    for op in ops:
        mine: dict[str, int] = {}
        for token in op.waits:
            engine, count = places[token]
            mine[engine] = max(mine.get(engine, 0), count)
        waits.append(mine)
        counts[op.engine] = counts.get(op.engine, 0) + 1
        places[op.done[0]] = (op.engine, counts[op.engine])
    return waits, counts


def packet_of(
    instructions: InstructionSet,
    op: BufferOp,
    addresses: Mapping[ir.Value, int],
    waits: Mapping[str, int],
) -> Packet:
    """Return the packet of a scheduled op; raise CompileError if there is none."""
    description = instructions.description
    if op.packet not in instructions.classes:
        raise refusal(op, f"is packet '{op.packet}', which {description.name} has not")
    packet, values = instructions.classes[op.packet], _values(op, description, addresses)
    if differ := sorted(values.keys() ^ set(packet.own_fields())):
        raise refusal(op, f"and its packet do not share the fields {', '.join(differ)}")
    _check_accelerator(op, description)
    made: Packet = packet(waits=waits, **values)  # pyright: ignore[reportArgumentType]
    try:
        instructions.encode(made)
    except Invalid as error:
        raise refusal(op, str(error)) from None
    return made


def _values(
    op: BufferOp, description: Description, addresses: Mapping[ir.Value, int]
) -> dict[str, Value]:
    """Return the values of the packet's fields."""
    fields, attributes = PacketFields.of(type(op)), op.attributes
    accesses = {access.operand: access for access in op.accesses(op.atom)}
    values: dict[str, Value] = {name: attributes[name] for name in fields.attributes}
    if fields.has_region:
        values[REGION] = _region(op, description)
    for name, value in op.buffers.items():
        if value not in addresses:
            raise refusal(op, f"has no address of '{name}', --allocate-buffers gives it one")
        address, buffer = addresses[value], buffer_of(value.type)
        if name in fields.addresses:
            at = attributes[f"{name}_at"]
            start = Access(name, at if name in fields.images else (at,), ())
            values[name] = address + start.offset(buffer)
        elif address:
            message = f"has '{name}' at address {address}"
            raise refusal(op, f"{message}, its packet uses byte 0 on")
        if name in fields.images:
            access = accesses.get(name)
            strides = access.strides(buffer) if access else buffer.strides[1:]
            for stride, elements in zip(STRIDES, strides[:-1], strict=True):
                values[f"{name}_{stride}"] = elements * buffer.itemsize
    return values


def _region(op: BufferOp, description: Description) -> int:
    """Return the number of the region of DRAM that an op accesses."""
    spaces = [buffer_of(value.type).space for value in op.buffers.values()]
    (name,) = (space.removeprefix(DRAM) for space in spaces if space in REGIONS)
    if name not in description.regions:
        message = f"uses region {name} of dram, must use one of"
        raise refusal(op, f"{message} {', '.join(description.regions)}")
    return description.regions.index(name)


def _check_accelerator(op: BufferOp, description: Description) -> None:
    """Raise CompileError if an op has an engine, atom or rounding that its packet cannot have."""
    engine = description.packets[op.packet].engine
    if op.engine != engine:
        raise refusal(op, f"is on engine '{op.engine}', must be on {engine}")
    if op.atom != description.atom:
        message = f"has atoms of {op.atom} channels, {description.name} has"
        raise refusal(op, f"{message} {description.atom}")
    rounding = getattr(op, "rounding", description.rounding)
    if rounding != description.rounding:
        message = f"rounds {rounding}, {description.name} rounds"
        raise refusal(op, f"{message} {description.rounding}")
