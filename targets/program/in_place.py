"""Find the states of a model that a kernel can update in place: the rest of them stays as it is.

The new value is stored where the old one is. So nothing may read the old one any more when the
kernel runs.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.attributes import order_of, tensor_of
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.interface import returned
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op, view
from ...dialects.core.states.declared import State, states_of
from ..memory.values import VIEWS, viewed
from .calls import Call


def find_scatter(state: State) -> tuple[tri.Group, tri.TensorScatter] | str:
    """Return what writes rows into the old value of a state, and may do so in place.

    Otherwise return why the state is copied instead, to complete a message.
    """
    made = viewed(state.value)
    group = view(made.owner) if isinstance(made, ir.OpResult) else None
    if not isinstance(group, tri.Group):
        return f"'{state.output}' is not computed by a kernel"
    *_, op = group.members
    if not isinstance(op, tri.TensorScatter) or list(group.end.operands) != [op.y]:
        return f"'{state.output}' is computed by {op.op_name}, not by tri.tensor_scatter alone"
    operands: dict[ir.Value, ir.Value] = dict(zip(group.block.arguments, group.inputs, strict=True))
    if op.x not in operands or viewed(operands[op.x]) != state.argument:
        return f"'{state.output}' is not made of '{state.input}' by writing rows"
    if not all(_is_row_major(value) for value in (made, operands[op.x], state.argument)):
        return f"'{state.output}' is stored in another order of axes than '{state.input}'"
    if fault := _reader(state.argument, group, operands[op.x]):
        return f"'{state.input}' is read by {fault} when its rows are written"
    return group, op


def _is_row_major(value: ir.Value) -> bool:
    return order_of(value.type) == tuple(range(tensor_of(value.type).rank))


def _reader(argument: ir.Value, group: tri.Group, taken: ir.Value) -> str:
    """Return what reads a value behind an op, or in it beside the operand `taken`; or nothing."""
    earlier = True
    views = {argument}
    for operation in group.operation.block.operations:
        here = view(operation.operation)
        operands = list(operation.operation.operands)
        if isinstance(here, VIEWS) and operands[0] in views:
            views.add(here.y)
            continue
        if here == group:
            earlier = False
            operands.remove(taken)
        if not earlier and views.intersection(operands):
            return f"a later '{operation.operation.name}' op" if here != group else group.op_name
    return ""


@dataclass(frozen=True)
class Update:
    """Name an operand of a kernel that an op updates in place, and the result stored there."""

    op: Op
    operand: ir.Value
    result: ir.Value


def updates_in(op: Op) -> Iterator[Update]:
    """Yield what a kernel updates in place."""
    if not isinstance(op, tri.Group):
        return
    operands: dict[ir.Value, ir.Value] = dict(zip(op.block.arguments, op.inputs, strict=True))
    results: dict[ir.Value, ir.Value] = dict(zip(op.end.operands, op.results, strict=True))
    for each in op.members:
        if each.updated:
            updated: ir.Value = getattr(each, each.updated)
            yield Update(each, operands[updated], results[each.results[0]])


def updated_states(module: Module, calls: Sequence[Call]) -> dict[ir.Value, ir.Value]:
    """Return the inputs in whose places calls of a model store new values, by these values.

    Those are new values of states. Raises CompileError for an input that is read later.
    """
    states = {viewed(state.value): state.argument for state in states_of(module)}
    found: dict[ir.Value, ir.Value] = {}
    for number, call in enumerate(calls):
        for update in updates_in(call.op):
            argument = viewed(update.operand)
            # The bindings refuse to compare a value with None.
            if update.result not in states or states[update.result] != argument:
                continue
            others = list(map(viewed, call.operands))
            others.remove(argument)
            later = (value for each in calls[number + 1 :] for value in each.operands)
            if argument in (*others, *map(viewed, (*later, *returned(module.main)))):
                message = f"'{update.op.op_name}' op updates an input in place that is read later"
                raise CompileError([Diagnostic(describe(call.op.location), message)])
            found[update.result] = argument
    return found


def copied_states(module: Module, updated: Collection[ir.Value]) -> dict[str, str]:
    """Return why outputs that are new values of inputs are not stored in their places, by name.

    `updated` are the inputs of which the new values are.
    """
    why: dict[str, str] = {}
    for state in states_of(module):
        if state.argument in updated:
            continue
        found = find_scatter(state)
        if not isinstance(found, str):
            group, scatter = found
            found = f"'{group.target}' does not compile {scatter.op_name} in place here"
        why[state.output] = found
    return why
