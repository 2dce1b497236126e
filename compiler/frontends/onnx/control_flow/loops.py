"""Loops whose iterations a run decides, or that are many: ops of `tri` with bodies."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import type_of
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.limits import at_least
from .....dialects.core.tensor import Tensor
from .....dialects.tri.control_flow import UNKNOWN
from ...core.bodies import Bodies
from ...core.values import constant, single, tensor
from ..items import (
    Item,
    JoinedSequence,
    RaggedSequence,
    kind_of,
    regrouped,
    spell_item,
    tensors_of,
)
from ..registry import Node
from .carried_types import CarriedTypes
from .joined_forms import AnyShapes, Forms, form_of, in_form
from .loop_plan import LoopPlan
from .unrolling import ENDLESS, Body

NUMBER = Tensor((), "i64")


def scalar(value: ir.Value) -> ir.Value:
    """Return the only element of a tensor as a scalar; raise Invalid where it has several."""
    if tensor(value).size != 1:
        raise Invalid(f"takes {tensor(value)}, must have one element")
    return value if not tensor(value).rank else tri.Reshape.build(value, shape=()).y


def need_iterations(
    body: Body, count: ir.Value | None, going: ir.Value | None, reason: str
) -> None:
    """Raise NeedsValue unless the trip count and the first condition of a loop are known."""
    for value, what in ((count, "input 'M'"), (going, "input 'cond'")):
        if value is not None:
            body.node.graphs.known(value, f"{what}, {reason},")


def loop_op(
    body: Body,
    trips: int | None,
    count: ir.Value | None,
    going: ir.Value | None,
    items: Sequence[Item],
) -> tuple[Item, ...]:
    """Import the body of a `Loop`, whose iterations are decided at run time or are many.

    `trips` is the count where it is known, and `going` its condition.
    """
    node = body.node
    initial = [value for item in items for value in tensors_of(item)]
    carried = CarriedTypes(node, list(map(tensor, initial)))
    outside = {*node.graphs.main.symbols}
    bodies, made = carried.build_body(lambda bodies, types: _loop_body(body, bodies, types, items))
    condition, *rest = made.values
    begins = True if going is None else _truth(node, going)
    ends = not (begins and made.goes_on)
    iterations = UNKNOWN if ends else _iterations(node, count, trips)
    operands = _ends(count, going, ends, iterations != UNKNOWN)
    plan = LoopPlan(node, bodies, carried, outside, initial, rest)
    most = None if trips in (None, ENDLESS) else trips
    results = iter(plan.build(operands, [condition] * ends, iterations, most=most))
    return (*(regrouped(item, results) for item in items), *results)


def carried_items(body: Body, given: Sequence[Item]) -> list[Item]:
    """Return what a loop carries: sequences as what they are when they are joined.

    How that is, an iteration tells, which is imported for it: one that takes tensors of the types
    that they have in all iterations, as far as these do not depend on the sequences. It is imported
    again for the joined sequences, as what it puts into one may depend on another.
    """
    if all(isinstance(item, ir.Value) for item in given):
        return list(given)
    outside = {*body.node.graphs.main.symbols}
    others = [value for item in given if _is_carried(item) for value in tensors_of(item)]
    carried = CarriedTypes(body.node, list(map(tensor, others)))

    def build(bodies: Bodies, types: Sequence[Tensor]) -> tuple[list[ir.Value], list[Forms]]:
        with bodies.body([type_of(each) for each in (NUMBER, *types)]) as block:
            number, *values = block.arguments
            arguments = iter(values)
            taken = [regrouped(x, arguments) if _is_carried(x) else x for x in given]
            after = body.import_once(number, (number, constant(np.array(True)), *taken))[1:]
            pairs = list(zip(taken, after, strict=False))
            forms = [_carried_form(*pair, outside) for pair in pairs]
            kept = [
                (before, before if isinstance(form, AnyShapes) else next_)
                for (before, next_), form in zip(pairs, forms, strict=True)
                if _is_carried(before)
            ]
            made = [v for pair in kept for v in _carried_on(*pair)]
        return made, forms

    with body.node.graphs.draft() as draft:
        bodies, forms = carried.build_body(build)
        bodies.drop()
        draft.undo()
    items = [in_form(item, form, outside) for item, form in zip(given, forms, strict=True)]
    same = list(map(kind_of, given)) == list(map(kind_of, items))
    return items if same else carried_items(body, items)


def _is_carried(item: Item) -> bool:
    """Return whether a loop carries an item as it is: lists of tensors it joins."""
    return isinstance(item, ir.Value | JoinedSequence | RaggedSequence)


def _carried_form(given: Item, after: Item, outside: Collection[str]) -> Forms:
    """Return how a loop joins a sequence: as after its body, or by the tensors in it then."""
    form = form_of([given, after], outside)
    return [*map(tensor, tensors_of(after))] if form is None else form


@dataclass(frozen=True)
class LoopBody:
    """Hold what the body of a `Loop` returns, its condition first, and that where it is known."""

    values: list[ir.Value]
    goes_on: bool | None


def _loop_body(
    body: Body, bodies: Bodies, types: Sequence[Tensor], items: Sequence[Item]
) -> tuple[list[ir.Value], LoopBody]:
    """Import the body of a `Loop` that carries values of some types, which `items` are of."""
    with bodies.body([type_of(each) for each in (NUMBER, *types)]) as block:
        number, *values = block.arguments
        arguments = iter(values)
        taken = [regrouped(item, arguments) for item in items]
        condition, *made = body.import_once(number, (number, constant(np.array(True)), *taken))
        going = scalar(_only_tensor(condition))
        carried = [v for pair in zip(items, made, strict=False) for v in _carried_on(*pair)]
        outputs = [_only_tensor(item) for item in made[len(items) :]]
        goes_on = _truth(body.node, going)
    return carried, LoopBody([going, *carried, *outputs], goes_on)


def _carried_on(taken: Item, made: Item) -> Sequence[ir.Value]:
    """Return the tensors of what a body carries on, which must be of the kind that it took."""
    if kind_of(taken) != kind_of(made):
        raise Unsupported(
            f"carries {spell_item(taken)} into an iteration and {spell_item(made)} into the next, "
            "must be of one kind where iterations are decided at run time"
        )
    return tensors_of(made)


def _truth(node: Node, condition: ir.Value) -> bool | None:
    """Return a condition where it is known."""
    known = node.evaluate(condition)
    return None if known is None else bool(single(known))


def _iterations(node: Node, count: ir.Value | None, trips: int | None) -> Size:
    """Return how often a loop runs that nothing but its trip count ends, if a size says so."""
    if trips is not None or count is None:
        return UNKNOWN if trips in (None, ENDLESS) else trips
    (size,) = node.found.known(scalar(count))
    return size if size is not None and at_least(size, 0) else UNKNOWN


def scan_op(
    body: Body, length: int, states: Sequence[ir.Value], scanned: Sequence[ir.Value]
) -> list[ir.Value]:
    """Import the body of a `Scan` along the first axes of tensors; return states and outputs."""
    elements = [Tensor(tensor(x).shape[1:], tensor(x).dtype) for x in scanned]

    def build(bodies: Bodies, types: Sequence[Tensor]) -> tuple[list[ir.Value], list[ir.Value]]:
        with bodies.body([type_of(each) for each in (NUMBER, *types, *elements)]) as block:
            number, *taken = block.arguments
            made = [_only_tensor(item) for item in body.import_once(number, taken)]
        return made[: body.carried], made

    carried = CarriedTypes(body.node, list(map(tensor, states)))
    outside = {*body.node.graphs.main.symbols}
    bodies, made = carried.build_body(build)
    plan = LoopPlan(body.node, bodies, carried, outside, states, made)
    return plan.build([None, None], [], length, scanned)


def _ends(
    count: ir.Value | None, going: ir.Value | None, ends: bool, known: bool
) -> list[ir.Value | None]:
    """Return the trip count and the condition of a loop, each if it needs one."""
    if known:
        return [None, None]
    first = constant(np.array(True)) if going is None else scalar(going)
    return [None if count is None else scalar(count), first if ends else None]


def _only_tensor(item: Item) -> ir.Value:
    if not isinstance(item, ir.Value):
        raise Unsupported("returns a sequence or an optional from a body that runs as a loop")
    return item
