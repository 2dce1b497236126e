"""Copies between the memories of a computer, which no target makes."""

from collections.abc import Sequence

from ..dialects import tri
from ..dialects.core.location import node_names
from ..runtime.copy.step import CopyStep
from ..targets.compiled import Buffers, CompiledPart
from ..targets.memory.values import read_memory
from ..targets.program.calls import NumberedCall


class Copies(CompiledPart):
    """Copy the bytes of values from memory to memory."""

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[CopyStep]:
        return [_step(call.op, buffers) for _, call in calls]


def _step(op: object, buffers: Buffers) -> CopyStep:
    assert isinstance(op, tri.Copy)
    return CopyStep(
        operands=(buffers.number(op.x, read_memory(op)),),
        results=(buffers.number(op.y, op.to),),
        nodes=node_names(op.location),
    )
