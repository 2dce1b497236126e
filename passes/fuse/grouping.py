"""Put ops into the body of a `tri.group`, which a target compiles as one kernel, and back."""

from collections.abc import Callable, Container, Sequence

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.location import fuse_locations, inner_location
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, direct_ops, functions
from ...dialects.core.op import Op, view
from ..rewriting import users

OUTSIDE = -1
"""Stands for every op that cannot be in a group, such as the function's return."""


class Graph:
    """Know the ops of a function's own block that could be in a group, by their numbers.

    Numbers are in the order of the block; `users` and `shapes` are those of the op's one result.
    With `among`, only the ops of these results count.
    """

    def __init__(self, function: ir.Operation, among: Container[ir.Value] | None = None) -> None:
        found = direct_ops(function.regions[0].blocks[0])
        self.ops = [op for op in found if len(op.results) == 1]
        if among is not None:
            self.ops = [op for op in self.ops if op.results[0] in among]
        self.shapes = [tensor_of(op.results[0].type).shape for op in self.ops]
        values = {op.results[0]: number for number, op in enumerate(self.ops)}
        self.users: list[set[int]] = [set() for _ in self.ops]
        self.producers: list[list[int]] = [[] for _ in self.ops]
        for number, op in enumerate(self.ops):
            for user in users(op.results[0]):
                result = user.results[0] if len(user.results) == 1 else None
                self.users[number].add(OUTSIDE if result is None else values.get(result, OUTSIDE))
            operands = [values[v] for v in op.operation.operands if v in values]
            self.producers[number] = operands

    def ordered(self, members: set[int]) -> list[int]:
        """Return a set of ops as they come in a group: what makes it a kernel, then the others."""
        return sorted(members, key=lambda number: (not self.ops[number].anchor, number))


Choice = Callable[[Graph], Sequence[set[int]]]


def fuse(module: Module, choose: Choice, among: Container[ir.Value] | None = None) -> None:
    """Make groups of the sets of ops that `choose` picks, by number, in each function.

    With `among`, only the ops of these results are put into groups.
    No two sets share an op, and the last op of a set must be the only one with users outside of
    it: then the group can stand in its place, and no value that goes into the group can depend
    on the one that comes out of it. Sets of one op stay as they are.
    """
    with module.operation.context:
        for function in functions(module.operation):
            graph = Graph(function, among)
            for members in choose(graph):
                if len(members) > 1:
                    build_group([graph.ops[number] for number in graph.ordered(members)])


def build_group(members: Sequence[Op]) -> tri.Group:
    """Move ops into a new group that stands where the last of them does.

    Constants of one element are copied into the body; all other operands become its inputs.
    """
    last = members[-1]
    inside = {hash(op) for op in members}
    outer = [value for op in members for value in op.operation.operands]
    inputs = [v for v in dict.fromkeys(outer) if hash(v) not in inside and not is_number(v)]
    location = fuse_locations([op.location for op in members])
    with ir.InsertionPoint(last.operation), location:
        types = [value.type for value in last.results]
        group = tri.Group.create([inputs], types, {"target": ""})
    copy_into(group, inputs, members, [last.results[0]])
    replace_by(group, [last.results[0]], members)
    return group


def copy_into(
    group: tri.Group, inputs: Sequence[ir.Value], members: Sequence[Op], outputs: Sequence[ir.Value]
) -> None:
    """Write the body of a new group: copies of ops that read `inputs` and yield `outputs`.

    Operands that are neither are constants of one element, and are copied too.
    """
    block = ir.Block.create_at_start(
        group.body, [v.type for v in inputs], [v.location for v in inputs]
    )
    values: dict[ir.Value, ir.Value] = dict(zip(inputs, block.arguments, strict=True))
    with ir.InsertionPoint(block), group.location:
        for op in members:
            _copy(op.operation, values)
        tri.Yield.build([values[value] for value in outputs])


def replace_by(group: tri.Group, outputs: Sequence[ir.Value], members: Sequence[Op]) -> None:
    """Let the results of a group take the place of what its members made, which are erased."""
    for old, new in zip(outputs, group.results, strict=True):
        old.replace_all_uses_with(new)
    for op in reversed(members):
        op.operation.erase()


def inline(op: tri.RegionOp) -> list[Op]:
    """Move the ops of a region in front of the op, which is erased, and return them in order."""
    for argument, value in zip(op.block.arguments, op.operation.operands, strict=True):
        argument.replace_all_uses_with(value)
    *body, last = [operation.operation for operation in op.block.operations]
    for operation in body:
        operation.move_before(op.operation)
    for result, value in zip(op.results, list(last.operands), strict=True):
        result.replace_all_uses_with(value)
    op.operation.erase()
    return [member for operation in body if (member := view(operation)) is not None]


def _copy(operation: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Clone an op at the insertion point, with operands and results mapped by `values`."""
    for operand in operation.operands:
        if operand not in values:
            number = operand.owner.operation.clone()
            number.location = inner_location(number.location)  # the name stays with the original
            values[operand] = number.results[0]
    copy = operation.clone()
    for index, operand in enumerate(operation.operands):
        copy.operands[index] = values[operand]
    values |= zip(operation.results, copy.results, strict=True)


def is_number(value: ir.Value) -> bool:
    """Return whether a value is a constant of one element that is written in the IR."""
    if not isinstance(value, ir.OpResult) or tensor_of(value.type).size != 1:
        return False
    return isinstance(view(value.owner), tri.Constant)
