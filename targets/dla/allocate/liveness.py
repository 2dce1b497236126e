"""Lives: from which op of a program to which one a buffer must keep its bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import view
from ....dialects.dla import Alloc, Program
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import Buffer, buffer_of


@dataclass(frozen=True)
class Life:
    """A buffer that a program makes, and the numbers of the first and last op that use it.

    A buffer that nothing uses lives while nothing else does: `last` is before `first`.
    """

    alloc: Alloc
    buffer: Buffer
    first: int
    last: int


def programs(module: Module, target: str) -> list[Program]:
    """List the programs of an accelerator, in order."""
    found = (view(operation) for operation in module.operation.regions[0].blocks[0].operations)
    return [op for op in found if isinstance(op, Program) and op.target == target]


def lives(program: Program, ops: Sequence[BufferOp]) -> list[Life]:
    """Return the lives of all buffers that a program makes, in the order in which it does."""
    first: dict[ir.Value, int] = {}
    last: dict[ir.Value, int] = {}
    for number, op in enumerate(ops):
        for value in op.buffers.values():
            first.setdefault(value, number)
            last[value] = number
    found: list[Life] = []
    for operation in program.block.operations:
        op = view(operation)
        if isinstance(op, Alloc):
            value = op.buffer
            used = (first.get(value, 0), last.get(value, -1))
            found.append(Life(op, buffer_of(value.type), *used))
    return found


def overlap(found: Sequence[Life]) -> str | None:
    """Say which two buffers share bytes while both live, or None; all must have addresses."""
    active: list[tuple[Life, int, int]] = []
    used = [life for life in found if life.first <= life.last]
    for life in sorted(used, key=lambda life: life.first):
        start = life.alloc.address
        end = start + life.buffer.size_bytes
        active = [entry for entry in active if entry[0].last >= life.first]
        for other, first, last in active:
            if other.buffer.space == life.buffer.space and first < end and start < last:
                return (
                    f"{life.buffer} at {start} and {other.buffer} at {first} share bytes "
                    f"while op {life.first} needs both"
                )
        active.append((life, start, end))
    return None
