"""Turn scheduled ops into packets: fields have the names of operands and attributes."""

from collections.abc import Mapping, Sequence
from typing import Any

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.location import describe
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.dla.access import Access
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import BufferType, buffer_of
from ..core.fields import Field, Value
from ..core.packet import InstructionSet, Packet
from ..phases import CODE_EMIT

STRIDES = {"row": 1, "pixel": 2}
"""The axis of an image whose stride a field `<operand>_row` or `<operand>_pixel` is."""

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
    if op.packet not in instructions.classes:
        name = instructions.description.name
        raise refusal(op, f"is packet '{op.packet}', which {name} has not")
    packing = _Packing(instructions, op, addresses)
    values = {field.name: packing.value(field) for field in packing.form.fields}
    packing.check(values)
    made: Packet = instructions.classes[op.packet](waits=waits, **values)  # pyright: ignore[reportArgumentType]
    try:
        instructions.encode(made)
    except Invalid as error:
        raise refusal(op, str(error)) from None
    return made


class _Packing:
    def __init__(
        self, instructions: InstructionSet, op: BufferOp, addresses: Mapping[ir.Value, int]
    ) -> None:
        self.op = op
        self.description = instructions.description
        self.form = self.description.packets[op.packet]
        self.attributes: dict[str, Any] = op.attributes
        self.accesses = {access.operand: access for access in op.accesses()}
        self.buffers: dict[str, BufferType] = {}
        self.addresses: dict[str, int] = {}
        for name, value in op.buffers.items():
            self.buffers[name] = buffer_of(value.type)
            if value not in addresses:
                raise refusal(op, f"has no address of '{name}', --allocate-buffers gives it one")
            self.addresses[name] = addresses[value]

    def value(self, field: Field) -> Value:
        """Return the value of a field."""
        operand, _, stride = field.name.rpartition("_")
        if field.memory is not None:
            return self._address(field.name)
        if field.kind == "region":
            return self._region()
        if operand in self.buffers and stride in STRIDES:
            return self._stride(operand, STRIDES[stride])
        if field.name not in self.attributes:
            raise refusal(self.op, f"has no attribute '{field.name}', which its packet must say")
        return self.attributes[field.name]

    def check(self, values: Mapping[str, Value]) -> None:
        """Raise CompileError if a property of the op has no counterpart in its packet."""
        if self.op.engine != self.form.engine:
            raise refusal(
                self.op, f"is on engine '{self.op.engine}', must be on {self.form.engine}"
            )
        if self.op.atom != self.description.atom:
            message = f"has atoms of {self.op.atom} channels, {self.description.name} has"
            raise refusal(self.op, f"{message} {self.description.atom}")
        for name in self.buffers.keys() - values.keys():
            if self.addresses[name]:
                message = f"has '{name}' at address {self.addresses[name]}"
                raise refusal(self.op, f"{message}, its packet uses byte 0 on")
        starts = {f"{name}_at" for name in self.buffers}
        for name in self.attributes.keys() - values.keys() - starts - {"engine"}:
            self._fixed(name)

    def _fixed(self, name: str) -> None:
        """Check an attribute that is the same for all packets of an accelerator."""
        if name != "rounding":
            raise refusal(self.op, f"has attribute '{name}', its packet has no field for it")
        if self.attributes[name] != self.description.rounding:
            message = f"rounds {self.attributes[name]}, {self.description.name} rounds"
            raise refusal(self.op, f"{message} {self.description.rounding}")

    def _address(self, operand: str) -> int:
        if operand not in self.buffers:
            raise refusal(self.op, f"has no operand '{operand}', which its packet must say")
        start = self.attributes[f"{operand}_at"]
        first = (start,) if isinstance(start, int) else start
        return self.addresses[operand] + Access(operand, first, ()).offset(self.buffers[operand])

    def _region(self) -> int:
        """Return the number of the region of DRAM that the op accesses."""
        names = [b.space.removeprefix(DRAM) for b in self.buffers.values() if DRAM in b.space]
        known = self.description.regions
        if len(names) != 1 or names[0] not in known:
            message = f"uses regions {', '.join(names) or 'none'} of dram, must use one of"
            raise refusal(self.op, f"{message} {', '.join(known)}")
        return known.index(names[0])

    def _stride(self, operand: str, axis: int) -> int:
        buffer = self.buffers[operand]
        if operand in self.accesses:
            return self.accesses[operand].strides(buffer)[axis - 1] * buffer.itemsize
        return buffer.strides[axis] * buffer.itemsize
