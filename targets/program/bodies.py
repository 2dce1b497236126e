"""The memory of branches and loops: what runs in a body has one interval in the arena around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
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
    that need it until then. `block` is None for that of the function.
    """

    calls: tuple[NumberedCall, ...]
    block: ir.Block | None = None
    lasting: tuple[ir.Value, ...] = ()
    ends: tuple[ir.Value, ...] = ()

    @property
    def times(self) -> dict[int, int]:
        """Return when each call is made, by its position: concurrent ones at the same time."""
        begun: dict[int, int] = {}
        return {
            step: begun.setdefault(call.concurrent, step) if call.concurrent else step
            for step, call in self.calls
        }


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
            self.scopes[body.block] = Scope(numbered, body.block, lasting, ends)
            for each in run:
                self._enter(each)


def all_calls(calls: Sequence[Call]) -> Iterator[Call]:
    """Yield calls, each before those of its bodies."""
    for call in calls:
        yield call
        for body in call.bodies:
            yield from all_calls(body.calls)


def lasting_values(op: Op, block: ir.Block) -> tuple[ir.Value, ...]:
    """Return the arguments of a body that are written anew for each iteration.

    So is what is carried with sizes that change.
    """
    if not isinstance(op, tri.Loop):
        return ()
    first = 1 + len(op.carried)
    scanned = range(first, first + len(op.scanned))
    arguments = list(block.arguments)
    return (*(arguments[i] for i in (0, *scanned)), *changing_arguments(op))


def changing_arguments(op: tri.Loop) -> list[ir.Value]:
    """Return the arguments for what a loop carries with sizes that change."""
    return [
        argument
        for argument, result in zip(op.carried_arguments, op.outputs, strict=False)
        if has_found_sizes(op, result)
    ]


def changing_ends(op: tri.Loop) -> Iterator[tuple[ir.Value, ir.Value]]:
    """Yield each of the `changing_arguments`, and what a body returns for it."""
    made = list(yielded(op.bodies[0]))[op.condition is not None :]
    pairs = zip(op.carried_arguments, made, op.outputs, strict=False)
    yield from ((taken, end) for taken, end, result in pairs if has_found_sizes(op, result))


def has_found_sizes(op: tri.ControlOp, result: ir.Value) -> bool:
    """Return whether a branch or a loop finds sizes of a result."""
    return any(size in op.result_sizes for size in tensor_of(result.type).shape)


def argument_roots(op: tri.ControlOp, block: ir.Block) -> Iterator[tuple[ir.Value, ir.Value]]:
    """Yield the arguments of a body that are in the place of a value around it, and that value.

    What a loop carries is in the places of its results: there it is at the end.
    """
    lasting = lasting_values(op, block)
    free = [value for value in block.arguments if value not in lasting]
    if isinstance(op, tri.Loop):
        carried = list(op.outputs)[: len(op.carried)]
        kept = [value for value in carried if not has_found_sizes(op, value)]
        yield from zip(free, [*kept, *op.inputs], strict=True)
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
        if value in calls and value not in seen and not has_found_sizes(op, result):
            seen.add(value)
            yield value, result


def _writes(op: Op, loaded: set[Op]) -> bool:
    return isinstance(op, (tri.Group, tri.Copy, tri.If)) and op not in loaded
