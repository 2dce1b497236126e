"""Liveness: from which op of a program to which one a buffer is in use."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import view
from ....dialects.dla import Alloc, Program
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import BufferType, buffer_of


@dataclass(frozen=True)
class LiveRange:
    """A buffer of a program, and the numbers of the first and last op that use it.

    The live range of an unused buffer is empty: `last` is before `first`.
    """

    alloc: Alloc
    buffer: BufferType
    first: int
    last: int


def programs(module: Module, target: str) -> list[Program]:
    """List the programs of an accelerator, in order."""
    found = (view(operation) for operation in module.operation.regions[0].blocks[0].operations)
    return [op for op in found if isinstance(op, Program) and op.target == target]


def liveness(program: Program, ops: Sequence[BufferOp]) -> list[LiveRange]:
    """Return the live ranges of all buffers that a program allocates, in order."""
    first: dict[ir.Value, int] = {}
    last: dict[ir.Value, int] = {}
    for number, op in enumerate(ops):
        for value in op.buffers.values():
            first.setdefault(value, number)
            last[value] = number
    found: list[LiveRange] = []
    for operation in program.block.operations:
        op = view(operation)
        if isinstance(op, Alloc):
            value = op.buffer
            used = (first.get(value, 0), last.get(value, -1))
            found.append(LiveRange(op, buffer_of(value.type), *used))
    return found


def overlap(found: Sequence[LiveRange]) -> str | None:
    """Describe two buffers that share bytes in overlapping live ranges; None without any.

    All buffers must have addresses.
    """
    active: list[tuple[LiveRange, int, int]] = []
    used = [live_range for live_range in found if live_range.first <= live_range.last]
    for live_range in sorted(used, key=lambda live_range: live_range.first):
        start = live_range.alloc.address
        end = start + live_range.buffer.size_bytes
        active = [entry for entry in active if entry[0].last >= live_range.first]
        for other, first, last in active:
            if other.buffer.space == live_range.buffer.space and first < end and start < last:
                return (
                    f"{live_range.buffer} at {start} and {other.buffer} at {first} share bytes "
                    f"while op {live_range.first} needs both"
                )
        active.append((live_range, start, end))
    return None
