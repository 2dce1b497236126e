"""Branches that a run chooses: ops of `tri` with bodies."""

from collections.abc import Collection, Sequence

import onnx

from .....dialects import tri
from .....dialects.core.attributes import type_of
from .....dialects.core.errors import InvalidNode, Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.checks import Check
from .....dialects.core.tensor import Tensor
from ...core.bodies import Bodies
from ...core.branch_checks import guard_branches
from ...core.sizes.joined_shapes import joined_shape
from ...core.values import tensor
from ..items import Item, kind_of, regrouped, spell_item, tensors_of
from ..registry import Node
from .joined_forms import form_of, in_form
from .optional_forms import Made, in_one_form, in_optionals
from .sinking import BranchesDiffer


def branch(
    node: Node, condition: ir.Value, branches: Sequence[tuple[onnx.GraphProto, str]]
) -> tuple[Item, ...]:
    """Import the first of two branches for a condition that is true, and the second."""
    bodies = Bodies(node.graphs.main, tri.If.op_name, 2)
    try:
        return _branch(node, condition, branches, bodies)
    except BranchesDiffer:
        bodies.drop()
        raise


def _branch(
    node: Node,
    condition: ir.Value,
    branches: Sequence[tuple[onnx.GraphProto, str]],
    bodies: Bodies,
) -> tuple[Item, ...]:
    outside = {*node.graphs.main.symbols}
    made: list[tuple[Item, ...] | InvalidNode] = []
    checks: list[Sequence[Check]] = []
    for graph, label in branches:
        before = node.graphs.main.mark()
        with bodies.body(()):
            made.append(_imported(node, graph, label))
        checks.append(node.graphs.main.take_checks(before, outside))
    made = _of_one_form(bodies.blocks, made, outside)
    able = [each for each in made if not isinstance(each, InvalidNode)]
    if not able:
        raise next(each for each in made if isinstance(each, InvalidNode))
    types, found = _agreed(node, condition, able, outside)
    guard_branches(node.graphs.main, condition, checks)
    for block, each in zip(bodies.blocks, made, strict=True):
        with ir.InsertionPoint(block):
            if isinstance(each, InvalidNode):
                tri.Fail.build(message=str(each.diagnostics[0]))
            else:
                tri.Yield.build([value for item in each for value in tensors_of(item)])
    captured = bodies.close()
    op = tri.If.create([condition, captured], list(map(type_of, types)), {"result_sizes": found})
    bodies.move_to(op)
    rest = iter(op.results)
    return tuple(regrouped(item, rest) for item in able[0])


def _imported(node: Node, graph: onnx.GraphProto, label: str) -> tuple[Item, ...] | InvalidNode:
    """Import a branch; return the fault of one that cannot run with the sizes that the model has.

    Exporters write branches for sizes that are not those of the model.
    """
    with node.graphs.draft() as draft:
        try:
            return node.graphs.inline(graph, (), label, region=True, branch=True)
        except InvalidNode as fault:
            draft.undo()
            return fault


def _of_one_form(
    blocks: Sequence[ir.Block],
    made: Sequence[Made],
    outside: Collection[str],
) -> list[Made]:
    """Join sequences that differ in how many tensors they have, each in the block it is made in.

    Where one branch returns nothing, and another one something, both return optionals.
    """
    return in_one_form(
        blocks,
        in_optionals(blocks, made, outside),
        lambda items: form_of(items, outside),
        lambda item, form: in_form(item, form, outside),
    )


def _agreed(
    node: Node,
    condition: ir.Value,
    able: Sequence[tuple[Item, ...]],
    outside: Collection[str],
) -> tuple[list[Tensor], tuple[Size, ...]]:
    """Return the types of what the branches that can run return, and the sizes that are found.

    Tensors may differ in sizes.
    """
    items = list(zip(*able, strict=True))
    if differing := [number for number, each in enumerate(items) if not _alike(each)]:
        raise BranchesDiffer(differing, _fault(node, condition, able))
    listed = [[tensor(value) for item in each for value in tensors_of(item)] for each in able]
    types: list[Tensor] = []
    found: tuple[Size, ...] = ()
    for each in zip(*listed, strict=True):
        shape, new = joined_shape(each, node.found, outside)
        types.append(Tensor(shape, each[0].dtype))
        found = (*found, *new)
    return types, found


def _alike(items: Sequence[Item]) -> bool:
    """Return whether items are of one kind, and their tensors of one rank and element type."""
    ranks = {tuple((t.dtype, t.rank) for t in map(tensor, tensors_of(item))) for item in items}
    return len(ranks) == len({kind_of(item) for item in items}) == 1


def _fault(node: Node, condition: ir.Value, able: Sequence[tuple[Item, ...]]) -> Unsupported:
    """Return the error for branches that differ: the condition must be known."""
    spelt = " and ".join(", ".join(map(spell_item, each)) for each in able)
    try:
        node.graphs.known(condition, f"input 'cond', as branches return {spelt},")
    except Unsupported as fault:
        return fault
    return Unsupported(f"has branches that return {spelt}")
