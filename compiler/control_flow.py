"""Branches and loops of a placed model, whose bodies are steps in a step."""

from collections.abc import Sequence
from itertools import compress

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.location import node_names
from ..dialects.core.mlir import ir
from ..dialects.core.sizes.atoms import Size, single_symbol
from ..dialects.tri.control_flow import fault_of, yielded
from ..runtime.branch.step import BranchStep
from ..runtime.contents import ABSENT
from ..runtime.loop.changing import Carried
from ..runtime.loop.step import LoopStep
from ..runtime.nested import Body, Move
from ..runtime.step import FoundSize, Step
from ..targets.compiled import Buffers, CompiledPart
from ..targets.program.bodies import changing_arguments, has_found_sizes
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
        finds=_sizes(op.result_sizes, op.outputs),
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
    last, stacked = list(op.outputs)[:count], list(op.outputs)[count:]
    changing = [has_found_sizes(op, value) for value in op.outputs]
    fixed = [not each for each in changing]
    ends = (ABSENT if v is None else buffers.number(v) for v in (op.trip_count, op.condition))
    others = (*op.carried, *op.scanned, *op.inputs)
    quadruples = zip(op.carried, op.carried_arguments, made, last, strict=False)
    carried = [Carried(*map(buffers.number, each)) for each in compress(quadruples, changing)]
    outputs = _pairs(made[count:], stacked)
    return LoopStep(
        operands=(*ends, *map(buffers.number, others)),
        results=tuple(map(buffers.number, op.results)),
        nodes=node_names(op.location),
        finds=_sizes(op.result_sizes, op.outputs),
        iterations=written(op.iterations),
        number=buffers.number(number),
        next=again,
        body=Body(
            buffers.body(block),
            _moves(list(compress(zip(made, last, strict=False), fixed)), buffers),
        ),
        first=_moves(list(compress(zip(op.carried, last, strict=True), fixed)), buffers),
        elements=_elements(_pairs(op.scanned, scanned), buffers),
        outputs=_elements(list(compress(outputs, fixed[count:])), buffers),
        carried=tuple(carried),
        carried_sizes=_sizes(op.carried_sizes, changing_arguments(op)),
        gathered=_elements(list(compress(outputs, changing[count:])), buffers),
        joined=op.joined,
    )


def _sizes(sizes: Sequence[Size], values: Sequence[ir.Value]) -> tuple[FoundSize, ...]:
    """Return where sizes are found: in the shapes of which values."""
    axes = {
        str(size): (number, axis)
        for number, value in enumerate(values)
        for axis, size in enumerate(tensor_of(value.type).shape)
    }
    symbols = [symbol.name for size in sizes if (symbol := single_symbol(size)) is not None]
    return tuple(FoundSize(name, *axes[name]) for name in symbols)


def _pairs(sources: Sequence[ir.Value], targets: Sequence[ir.Value]) -> Pairs:
    return list(zip(sources, targets, strict=True))


def _moves(pairs: Pairs, buffers: Buffers) -> tuple[Move, ...]:
    """Return the moves of what is not already in the place to which it goes."""
    place = buffers.program.place
    return _elements([(s, t) for s, t in pairs if place(s) != place(t)], buffers)


def _elements(pairs: Pairs, buffers: Buffers) -> tuple[Move, ...]:
    return tuple(Move(buffers.number(source), buffers.number(target)) for source, target in pairs)
