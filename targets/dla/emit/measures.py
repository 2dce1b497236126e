"""Measure memory use and traffic of programs, beside their lower bounds, for reports."""

import math
from collections.abc import Sequence

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.numerics.integers import TABLE_BYTES
from ....dialects.dla.buffers import touched
from ....dialects.dla.types import REGIONS, SRAM
from ....runtime.dla.part import DlaProgram
from ..allocate.liveness import LiveRange, liveness
from ..core.description import Description
from ..schedule.group_members import members_of


def traffic_bounds(module: Module, target: str, description: Description) -> list[int]:
    """Return for each group the traffic in bytes if no value is resident in SRAM.

    Each op then loads its operands and weights once, and stores its result once.
    """
    groups = [op for op in ops(module.main) if isinstance(op, tri.Group) and op.target == target]
    return [_moved_alone(group, description) for group in groups]


def _moved_alone(group: tri.Group, description: Description) -> int:
    members = members_of(group)
    values = [v for op in members for v in (*dict.fromkeys(op.operation.operands), *op.results)]
    return sum(_size(value, description) for value in values)


def _size(value: ir.Value, description: Description) -> int:
    """Return the bytes of a value in DRAM, where channels are padded to whole atoms."""
    tensor = tensor_of(value.type)
    padded = description.padded(tensor.shape[-1])
    return math.prod(tensor.shape[:-1]) * padded * (1 if tensor.dtype == "i8" else TABLE_BYTES)


def measure(
    program: dla.Program, description: Description, entry: str, traffic_bound: int
) -> DlaProgram:
    """Describe a scheduled program, whose container is an entry of the package."""
    found = [
        live_range
        for live_range in liveness(program, program.ops)
        if live_range.buffer.space == SRAM
    ]
    ends = [live_range.alloc.address + live_range.buffer.size_bytes for live_range in found]
    return DlaProgram(
        entry,
        packets=len(program.ops) + 1,
        sram_bytes=max(ends, default=0),
        sram_lower_bound=_most_alive(found),
        sram_capacity=description.memories[SRAM].bytes,
        dram_bytes=_traffic(program),
        dram_bound=traffic_bound,
    )


def _most_alive(found: Sequence[LiveRange]) -> int:
    """Return the most bytes that are live at once, a lower bound of any allocation."""
    starts = [live_range.first for live_range in found if live_range.first <= live_range.last]
    return max((_alive(found, number) for number in starts), default=0)


def _alive(found: Sequence[LiveRange], number: int) -> int:
    return sum(
        live_range.buffer.size_bytes
        for live_range in found
        if live_range.first <= number <= live_range.last
    )


def _traffic(program: dla.Program) -> int:
    """Return the bytes that the ops of a program read from DRAM and write to it."""
    accesses = (found for op in program.ops for found in touched(op))
    return sum(
        math.prod(access.sizes) * buffer.itemsize
        for _, buffer, access in accesses
        if buffer.space in REGIONS
    )
