"""Group ops on tensors into segments; each becomes one program of an accelerator."""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence

from ....dialects import tri
from ....dialects.core.location import fuse_locations, node_location, node_names, value_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, functions, operations
from ....dialects.core.op import Op, view
from ....dialects.dla.dialect import TensorOp
from ....passes.core import Pass
from ....passes.fuse.grouping import copy_into, replace_by
from ....passes.rewriting import users
from ..core.description import Description
from ..registry import VANILLA, Configuration
from .limits import tensor_refusal


class SegmentDla(Pass):
    """Put ops of `dla` on tensors into as few groups as possible without cycles.

    Operands from outside, constants included, become inputs of the group. Ops that the accelerator
    refuses remain ungrouped. Operations between the members of a group move before or after it.

        %a = dla.conv %x …; %b = tri.softmax %a; %c = dla.copy %a …; %d = dla.eltwise %c, %b
            =>   %a, %c = tri.group %x { dla.conv; dla.copy }
                 %b = tri.softmax %a
                 %d = tri.group %c, %b { dla.eltwise }
    """

    target: Configuration = VANILLA

    def run(self, module: Module) -> None:
        segment(module, accepts(self.target.description))


Accepts = Callable[[ir.Operation], TensorOp | None]
"""Returns an op on tensors that an accelerator accepts, and None for any other one."""


def segment(module: Module, accepted: Accepts) -> None:
    """Put the ops that an accelerator accepts into as few groups as possible without cycles."""
    with module.operation.context:
        for function in functions(module.operation):
            _segment(function.regions[0].blocks[0], accepted)


def _segment(block: ir.Block, accepted: Accepts) -> None:
    graph = _Graph(block)
    taken = [accepted(operation) is not None for operation in graph.operations]
    segments = list(_segments(_levels(graph, taken), taken))
    if not segments:
        return
    graph.reorder(segments)
    for members in segments:
        found = (view(graph.operations[number]) for number in members)
        _enclose([op for op in found if op is not None])


def accepts(description: Description) -> Accepts:
    """Return what accepts the ops of `dla` on tensors that fit an accelerator's packets."""

    def accepted(operation: ir.Operation) -> TensorOp | None:
        op = view(operation)
        if not isinstance(op, TensorOp) or tensor_refusal(op, description) is not None:
            return None
        return op

    return accepted


class _Graph:
    """The operations of a block without its terminator, and the producers that each one reads."""

    def __init__(self, block: ir.Block) -> None:
        self.operations = [operation.operation for operation in block.operations][:-1]
        self.last = block.operations[len(block.operations) - 1].operation
        makers: dict[ir.Value, int] = {}
        for number, each in enumerate(self.operations):
            makers.update(dict.fromkeys(each.results, number))
        self.reads = [
            sorted({makers[value] for value in _used(each) if value in makers})
            for each in self.operations
        ]

    def reorder(self, segments: Sequence[Sequence[int]]) -> None:
        """Make the operations of each segment adjacent, and keep the order of all others."""
        unit = list(range(len(self.operations)))
        for members in segments:
            for number in members:
                unit[number] = members[-1]
        parts: dict[int, list[int]] = {}
        for number, owner in enumerate(unit):
            parts.setdefault(owner, []).append(number)
        before = {
            owner: {unit[read] for number in members for read in self.reads[number]} - {owner}
            for owner, members in parts.items()
        }
        for owner in _in_order(before):
            for number in parts[owner]:
                self.operations[number].move_before(self.last)


def _used(operation: ir.Operation) -> Iterator[ir.Value]:
    """Yield the operands of an operation and of all operations nested in it."""
    yield from operation.operands
    for inner in operations(operation):
        yield from inner.operands


def _levels(graph: _Graph, taken: Sequence[bool]) -> list[int]:
    """Return how often paths to each operation switch between the accelerator and the rest.

    Levels of the accelerator's ops are odd, all others even. Ops of one level do not depend on one
    another through other levels, and a path with the most switches shows that no fewer segments are
    possible.
    """
    levels: list[int] = []
    for reads, here in zip(graph.reads, taken, strict=True):
        own = [levels[read] + (taken[read] != here) for read in reads]
        levels.append(max([int(here), *own]))
    return levels


def _segments(levels: Sequence[int], taken: Sequence[bool]) -> Iterator[list[int]]:
    for level in sorted({n for n, here in zip(levels, taken, strict=True) if here}):
        yield [number for number, each in enumerate(levels) if each == level]


def _in_order(before: dict[int, set[int]]) -> Iterator[int]:
    """Yield numbers in topological order, ascending where the order is free."""
    waiting = {number: len(others) for number, others in before.items()}
    after: dict[int, list[int]] = {number: [] for number in before}
    for number, others in before.items():
        for other in others:
            after[other].append(number)
    ready = [number for number, count in waiting.items() if not count]
    heapq.heapify(ready)
    while ready:
        number = heapq.heappop(ready)
        yield number
        for other in after[number]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, other)


def _enclose(members: Sequence[Op]) -> None:
    """Move adjacent ops into a group in the place of the last one."""
    inner = {value: None for op in members for value in op.results}
    outer = [value for op in members for value in op.operation.operands]
    inputs = [value for value in dict.fromkeys(outer) if value not in inner]
    outputs = [value for value in inner if any(_is_outside(user, inner) for user in users(value))]
    if not outputs:
        return
    location = _location(members, outputs)
    with ir.InsertionPoint(members[-1].operation):
        types = [value.type for value in outputs]
        group = tri.Group.create([inputs], types, {"target": ""}, loc=location)
    copy_into(group, inputs, members, outputs)
    replace_by(group, outputs, members)


def _is_outside(user: ir.Operation, inner: Mapping[ir.Value, None]) -> bool:
    return not any(value in inner for value in user.results)


def _location(members: Sequence[Op], outputs: Sequence[ir.Value]) -> ir.Location:
    """Return the location of a group, which names each of its results."""
    location = fuse_locations([op.location for op in members])
    nodes = node_names(location)
    if not nodes:
        return location
    makers = {value: op.location for op in members for value in op.results}
    names = [(*value_names(makers[value]), "")[0] for value in outputs]
    last = [node for value in outputs for node in node_names(makers[value])] or nodes
    return fuse_locations([location, node_location(last[-1], names if any(names) else [])])
