"""Copies between the memories of a computer, which no target makes."""

from collections.abc import Sequence

from ..dialects import tri
from ..dialects.core.location import node_names
from ..runtime.manifest import Step
from ..targets.code import Buffers, Code, NumberedCall


class Copies(Code):
    """Copy the bytes of values from memory to memory."""

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[Step]:
        return [_step(call.op, buffers) for _, call in calls]


def _step(op: object, buffers: Buffers) -> Step:
    assert isinstance(op, tri.Copy)
    return Step(
        "copy",
        operands=(buffers.number(op.x),),
        results=(buffers.number(op.y),),
        nodes=node_names(op.location),
    )
