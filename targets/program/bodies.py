"""The memory of branches and loops: what runs in a body has one interval in the arena around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.mlir import ir
from ...dialects.core.module import direct_ops
from ...dialects.core.op import Op, view
from ...dialects.tri.control_flow import yielded
from .calls import Call, NumberedCall

Roots = dict[ir.Value, ir.Value]
"""For each value that has no place of its own, the one in whose place it is."""


@dataclass(frozen=True)
class Scope:
    """Hold the calls of a block that run, with their positions in the program.

    `lasting` are values that need their place from the begin of the block to its end, `ends` those
    that need it until then.
    """

    calls: tuple[NumberedCall, ...]
    lasting: tuple[ir.Value, ...] = ()
    ends: tuple[ir.Value, ...] = ()


class Numbering:
    """Number calls: first those at load, then those of the function, then those of bodies."""

    def __init__(self, load: Sequence[Call], run: Sequence[Call], loaded: set[Op]) -> None:
        self._loaded = loaded
        self._next = len(load) + len(run)
        self.scopes: dict[ir.Block, Scope] = {}
        self.calls: list[Call] = [*load, *run]
        self.main = Scope(tuple(enumerate(run, len(load))))
        for call in run:
            self._enter(call)

    def _enter(self, call: Call) -> None:
        for body in call.bodies:
            run = [each for each in body.calls if each.op not in self._loaded]
            numbered = tuple(enumerate(run, self._next))
            self._next += len(run)
            self.calls += run
            lasting, ends = lasting_values(call.op, body.block), tuple(yielded(body.block))
            self.scopes[body.block] = Scope(numbered, lasting, ends)
            for each in run:
                self._enter(each)


def all_calls(calls: Sequence[Call]) -> Iterator[Call]:
    """Yield calls, each before those of its bodies."""
    for call in calls:
        yield call
        for body in call.bodies:
            yield from all_calls(body.calls)


def lasting_values(op: Op, block: ir.Block) -> tuple[ir.Value, ...]:
    """Return the arguments of a body that are written anew for each iteration."""
    if not isinstance(op, tri.Loop):
        return ()
    first = 1 + len(op.carried)
    scanned = range(first, first + len(op.scanned))
    return tuple(block.arguments[i] for i in (0, *scanned))


def argument_roots(op: tri.ControlOp, block: ir.Block) -> Iterator[tuple[ir.Value, ir.Value]]:
    """Yield the arguments of a body that are in the place of a value around it, and that value.

    What a loop carries is in the places of its results: there it is at the end.
    """
    lasting = lasting_values(op, block)
    free = [value for value in block.arguments if value not in lasting]
    if isinstance(op, tri.Loop):
        carried = list(op.outputs)[: len(op.carried)]
        yield from zip(free, [*carried, *op.inputs], strict=True)
    elif isinstance(op, tri.If):
        yield from zip(free, op.inputs, strict=True)


def result_roots(
    op: tri.ControlOp, block: ir.Block, loaded: set[Op], viewed: type[Op] | tuple[type[Op], ...]
) -> Iterator[tuple[ir.Value, ir.Value]]:
    """Yield the values that ops of a branch write to a result of the whole, and that result."""
    if not isinstance(op, tri.If):
        return
    calls = {value for each in direct_ops(block) if _writes(each, loaded) for value in each.results}
    seen: set[ir.Value] = set()
    for value, result in zip(yielded(block), op.outputs, strict=False):
        maker = view(value.owner) if isinstance(value, ir.OpResult) else None
        while isinstance(maker, viewed):
            value = maker.operation.operands[0]
            maker = view(value.owner) if isinstance(value, ir.OpResult) else None
        if value in calls and value not in seen:
            seen.add(value)
            yield value, result


def _writes(op: Op, loaded: set[Op]) -> bool:
    return isinstance(op, (tri.Group, tri.Copy, tri.If)) and op not in loaded
