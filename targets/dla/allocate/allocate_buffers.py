"""Give the buffers of programs their addresses."""

from collections.abc import Sequence
from itertools import combinations

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.location import describe, node_names
from ....dialects.core.module import Module
from ....dialects.dla import Program
from ....dialects.dla.buffers import BufferOp
from ....passes.core import Pass
from ...memory.arena import Interval, Plan, plan_arena
from ..core.description import Description, Memory
from ..registry import VANILLA, Configuration
from ..retry import Retry
from .liveness import LiveRange, liveness, programs

SHOWN = 4
"""How many of the live buffers an overflow error names."""


class AllocateBuffers(Pass):
    """Give each buffer an address; overlapping live ranges share no bytes.

    The arguments of a program are placed one after another in their regions. Raises Retry if a
    memory is too small.

    dla.alloc : memref<1x4x4x16xi8, "sram">   =>   dla.alloc {address = 512} : memref<…>
    """

    target: Configuration = VANILLA

    def run(self, module: Module) -> None:
        description = self.target.description
        for program in programs(module, self.target.name):
            _place_arguments(program, description)
            ops = program.ops
            found = liveness(program, ops)
            for space in dict.fromkeys(live_range.buffer.space for live_range in found):
                _allocate(
                    ops,
                    [live_range for live_range in found if live_range.buffer.space == space],
                    description,
                )


def _place_arguments(program: Program, description: Description) -> None:
    dram = description.memories["dram"]
    ends: dict[str, int] = {}
    addresses: list[int] = []
    for _, buffer in program.arguments:
        start = ends.get(buffer.space, 0)
        addresses.append(start)
        ends[buffer.space] = start + -(-buffer.size_bytes // dram.alignment) * dram.alignment
    for space, end in ends.items():
        if end > dram.bytes:
            message = f"{space} of program '{program.sym_name}' has {end} bytes"
            where = describe(program.location)
            raise CompileError([Diagnostic(where, f"{message}, must have at most {dram.bytes}")])
    program.set_attributes({"argument_addresses": tuple(addresses)})


def _allocate(
    ops: Sequence[BufferOp], found: Sequence[LiveRange], description: Description
) -> None:
    """Plan the buffers of one space and write their addresses."""
    space = found[0].buffer.space
    memory = description.memory(space)
    if memory.name not in _addressed(description):
        _one_at_a_time(found)
    used = [
        Interval(number, live_range.buffer.size_bytes, live_range.first, live_range.last)
        for number, live_range in enumerate(found)
        if live_range.first <= live_range.last
    ]
    plan = plan_arena(used, memory.alignment, memory.bytes)
    if plan.size_bytes > memory.bytes:
        raise Retry(_overflow(ops, found, memory, space, plan))
    for number, live_range in enumerate(found):
        live_range.alloc.set_attributes({"address": plan.offsets.get(number, 0)})


def _addressed(description: Description) -> set[str | None]:
    """List the memories that packets address; buffers of any other one start at byte 0."""
    return {field.memory for packet in description.packets.values() for field in packet.fields}


def _one_at_a_time(found: Sequence[LiveRange]) -> None:
    for one, other in combinations(found, 2):
        if one.first <= other.last and other.first <= one.last:
            message = f"lives while another buffer in {one.buffer.space} does: no packet has "
            where = describe(other.alloc.location)
            raise CompileError([Diagnostic(where, f"'dla.alloc' op {message}an address there")])


def _overflow(
    ops: Sequence[BufferOp], found: Sequence[LiveRange], memory: Memory, space: str, plan: Plan
) -> str:
    """Describe by how much a memory overflows, at which op, and the largest live buffers."""
    sizes = [0] * len(ops)
    for live_range in found:
        for number in range(live_range.first, live_range.last + 1):
            sizes[number] += live_range.buffer.size_bytes
    peak = sizes.index(max(sizes))
    live = sorted(
        (live_range for live_range in found if live_range.first <= peak <= live_range.last),
        key=lambda live_range: -live_range.buffer.size_bytes,
    )
    named = ", ".join(_named(ops, live_range) for live_range in live[:SHOWN])
    rest = f" and {len(live) - SHOWN} more" if len(live) > SHOWN else ""
    return (
        f"{space} overflows by {plan.size_bytes - memory.bytes} bytes: it has {memory.bytes}, "
        f"the plan {plan}; most live at {_at(ops[peak])}: {named}{rest}"
    )


def _named(ops: Sequence[BufferOp], live_range: LiveRange) -> str:
    return f"{live_range.buffer} from {_at(ops[live_range.first])}"


def _at(op: BufferOp) -> str:
    nodes = node_names(op.location)
    return f"{op.op_name} of {nodes[-1]}" if nodes else op.op_name
