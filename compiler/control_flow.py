"""Branches and loops of a placed model, whose bodies are steps in a step."""

from collections.abc import Sequence

from ..dialects import tri
from ..dialects.core.location import node_names
from ..dialects.core.mlir import ir
from ..dialects.tri.control_flow import fault_of, yielded
from ..runtime.branch.step import BranchStep
from ..runtime.contents import ABSENT
from ..runtime.loop.step import LoopStep
from ..runtime.nested import Body, Move
from ..runtime.step import Step
from ..targets.compiled import Buffers, CompiledPart
from ..targets.program.calls import NumberedCall
from ..targets.written import written

Pairs = Sequence[tuple[ir.Value, ir.Value]]
"""Values, each with the one whose place its bytes go to."""


class ControlFlow(CompiledPart):
    """Make steps of branches and loops, which no target runs: a session decides what is done."""

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[Step]:
        return [_step(call.op, buffers) for _, call in calls]


def _step(op: object, buffers: Buffers) -> Step:
    if isinstance(op, tri.If):
        return _branch(op, buffers)
    assert isinstance(op, tri.Loop)
    return _loop(op, buffers)


def _branch(op: tri.If, buffers: Buffers) -> BranchStep:
    then, otherwise = (
        Body(fault=fault)
        if (fault := fault_of(block))
        else Body(buffers.body(block), _moves(_pairs(yielded(block), op.outputs), buffers))
        for block in op.bodies
    )
    return BranchStep(
        operands=tuple(buffers.number(value) for value in op.operation.operands),
        results=tuple(map(buffers.number, op.results)),
        nodes=node_names(op.location),
        then=then,
        otherwise=otherwise,
    )


def _loop(op: tri.Loop, buffers: Buffers) -> LoopStep:
    (block,) = op.bodies
    number, *_ = block.arguments
    count, first = len(op.carried), 1 + len(op.carried)
    scanned = list(block.arguments)[first : first + len(op.scanned)]
    made = list(yielded(block))
    again = ABSENT if op.condition is None else buffers.number(made.pop(0))
    carried, stacked = list(op.outputs)[:count], list(op.outputs)[count:]
    ends = (ABSENT if v is None else buffers.number(v) for v in (op.trip_count, op.condition))
    others = (*op.carried, *op.scanned, *op.inputs)
    return LoopStep(
        operands=(*ends, *map(buffers.number, others)),
        results=tuple(map(buffers.number, op.results)),
        nodes=node_names(op.location),
        iterations=written(op.iterations),
        number=buffers.number(number),
        next=again,
        body=Body(buffers.body(block), _moves(_pairs(made[:count], carried), buffers)),
        first=_moves(_pairs(op.carried, carried), buffers),
        elements=_elements(_pairs(op.scanned, scanned), buffers),
        outputs=_elements(_pairs(made[count:], stacked), buffers),
    )


def _pairs(sources: Sequence[ir.Value], targets: Sequence[ir.Value]) -> Pairs:
    return list(zip(sources, targets, strict=True))


def _moves(pairs: Pairs, buffers: Buffers) -> tuple[Move, ...]:
    """Return the moves of what is not already in the place to which it goes."""
    place = buffers.program.place
    return _elements([(s, t) for s, t in pairs if place(s) != place(t)], buffers)


def _elements(pairs: Pairs, buffers: Buffers) -> tuple[Move, ...]:
    return tuple(Move(buffers.number(source), buffers.number(target)) for source, target in pairs)
