"""Loops whose iterations are known at import: their bodies, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.tensor import Array, numpy_dtype
from ...core.values import constant, single, tensor
from ..items import Item
from ..registry import Node
from ..subgraphs import count_nodes

MOST_NODES, MOST_TRIPS = 1024, 128
"""How large a loop may be after it is unrolled, and how often its body may be repeated."""

ENDLESS = np.iinfo(np.int64).max
"""The number of iterations of a loop that only its condition ends."""


@dataclass(frozen=True)
class Body:
    """Hold the body of a loop: `carried` of its inputs are what the iteration before returned."""

    node: Node
    graph: onnx.GraphProto
    carried: int

    def run(self, number: int, inputs: Sequence[Item], label: str = "") -> tuple[Item, ...]:
        """Import one iteration, after the others."""
        return self.node.graphs.inline(self.graph, inputs, f"{label}[{number}]")

    def import_once(self, number: ir.Value, inputs: Sequence[Item]) -> tuple[Item, ...]:
        """Import the body into the region of a loop that runs it, with the number of iterations."""
        return self.node.graphs.inline(self.graph, inputs, "/body", iteration=number)

    def fits(self, trips: Size) -> bool:
        """Return whether the loop may be unrolled: its iterations are known, and not many."""
        if is_symbolic(trips):
            return False
        return trips <= MOST_TRIPS and trips * count_nodes(self.graph) <= MOST_NODES


def trip_count(node: Node, count: ir.Value | None) -> int | None:
    """Return how many iterations a loop has at most; None where that is decided at run time."""
    if count is None:
        return ENDLESS
    known = node.evaluate(count)
    return None if known is None else max(int(single(known)), 0)


def unroll(
    body: Body, trips: int, condition: ir.Value | None, initial: Sequence[Item]
) -> tuple[Item | Array, ...] | None:
    """Import all iterations of a `Loop`; return None, and nothing, where it is decided at run time.

    That is so when the condition depends on inputs of the model, and when there is too much.
    """
    evaluate = body.node.evaluate
    with body.node.graphs.draft() as draft:
        number, carried = 0, tuple(initial)
        going = constant(np.array(True)) if condition is None else condition
        outputs: list[list[ir.Value]] = [[] for _ in body.graph.output[1 + body.carried :]]
        while number < trips:
            known = evaluate(going)
            if known is None or not body.fits(number + 1):
                draft.undo()
                return None
            if not single(known):
                break
            given = (constant(np.array(number, np.int64)), going, *carried)
            going, carried = _split(body, body.run(number, given), outputs)
            number += 1
        if not number:
            return *carried, *_no_outputs(body, going, carried)
        return *carried, *(tri.Stack.build(each, axis=0).y for each in outputs)


def _split(
    body: Body, made: Sequence[Item], outputs: Sequence[list[ir.Value]]
) -> tuple[ir.Value, tuple[Item, ...]]:
    """Return condition and carried items of an iteration; add to what it puts out."""
    going, *rest = made
    if not isinstance(going, ir.Value):
        raise Invalid("has a body whose first output is no tensor, must be the condition")
    for listed, item in zip(outputs, rest[body.carried :], strict=True):
        listed.append(_output(item))
    return going, tuple(rest[: body.carried])


def _output(item: Item) -> ir.Value:
    if not isinstance(item, ir.Value):
        raise Invalid("puts out a sequence or an optional in each iteration, must be a tensor")
    return item


def _no_outputs(body: Body, going: ir.Value, carried: Sequence[Item]) -> list[Array]:
    """Return what a loop without iterations puts out: an iteration says of which types."""
    with body.node.graphs.draft() as draft:
        made = body.run(0, (constant(np.array(0, np.int64)), going, *carried))
        types = [tensor(_output(item)) for item in made[1 + body.carried :]]
        draft.undo()
    return [np.zeros((0, *each.shape), numpy_dtype(each.dtype)) for each in types]
