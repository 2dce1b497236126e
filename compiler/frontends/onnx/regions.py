"""Control flow that is decided at run time: ops of `tri` with subgraphs as their bodies."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import onnx

from ....dialects import tri
from ....dialects.core.attributes import type_of
from ....dialects.core.errors import Invalid, InvalidNode, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Shape, Tensor
from ....dialects.tri.control_flow import UNKNOWN
from ..core.bodies import Bodies
from ..core.found_sizes import FoundSizes
from ..core.values import constant, single, tensor
from .items import EmptyOptional, Item, TensorList
from .joined_sizes import common_shape, cut, padded
from .loops import ENDLESS, Body
from .registry import Node

NUMBER = Tensor((), "i64")


def scalar(value: ir.Value) -> ir.Value:
    """Return the only element of a tensor as a scalar; raise Invalid where it has several."""
    if tensor(value).size != 1:
        raise Invalid(f"takes {tensor(value)}, must have one element")
    return value if not tensor(value).rank else tri.Reshape.build(value, shape=()).y


# -- branches -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Joined:
    """Hold, for the outputs in which branches differ, by number, a shape in which both have room.

    `returned_shapes` are those that the branches return.
    """

    shapes: Mapping[int, Shape]
    returned_shapes: Mapping[int, Sequence[Shape]]

    def returned(self, index: int, item: Item) -> Sequence[ir.Value]:
        """Return what a branch returns for one of its items."""
        if index in self.shapes and isinstance(item, ir.Value):
            return padded(item, self.shapes[index])
        return _tensors(item)

    def items(
        self, like: Sequence[Item], values: Sequence[ir.Value], found: FoundSizes
    ) -> tuple[Item, ...]:
        """Return the items that values are, of the same kinds as others."""
        rest = iter(values)
        return tuple(
            cut(next(rest), next(rest), self.returned_shapes[index], found)
            if index in self.shapes
            else _regrouped(item, rest)
            for index, item in enumerate(like)
        )


def branch(
    node: Node, condition: ir.Value, branches: Sequence[tuple[onnx.GraphProto, str]]
) -> tuple[Item, ...]:
    """Import the first of two branches for a condition that is true, and the second."""
    bodies = Bodies(node.graphs.main, tri.If.op_name, 2)
    outside = {*node.graphs.main.symbols}
    made: list[tuple[Item, ...] | InvalidNode] = []
    for graph, label in branches:
        with bodies.body(()):
            made.append(_imported(node, graph, label))
    items, joined = _agreed(node, condition, made, outside)
    ends: list[list[ir.Value]] = []
    for block, each in zip(bodies.blocks, made, strict=True):
        with ir.InsertionPoint(block):
            if isinstance(each, InvalidNode):
                tri.Fail.build(message=str(each.diagnostics[0]))
            else:
                ends.append(
                    [value for i, item in enumerate(each) for value in joined.returned(i, item)]
                )
                tri.Yield.build(ends[-1])
    captured = bodies.close()
    op = tri.If.create([condition, captured], [value.type for value in ends[0]], {})
    bodies.move_to(op)
    return joined.items(items, op.results, node.found)


def _imported(node: Node, graph: onnx.GraphProto, label: str) -> tuple[Item, ...] | InvalidNode:
    """Import a branch; return the fault of one that cannot run with the sizes that the model has.

    Exporters write branches for sizes that are not those of the model.
    """
    with node.graphs.draft() as draft:
        try:
            return node.graphs.inline(graph, (), label, region=True)
        except InvalidNode as fault:
            draft.undo()
            return fault


def _agreed(
    node: Node,
    condition: ir.Value,
    made: Sequence[tuple[Item, ...] | InvalidNode],
    outside: Collection[str],
) -> tuple[tuple[Item, ...], Joined]:
    """Return what the first branch that can run returns; the other one must return the same.

    Tensors may differ in sizes: these have a shape in which both have room.
    """
    able = [each for each in made if not isinstance(each, InvalidNode)]
    if not able:
        raise next(each for each in made if isinstance(each, InvalidNode))
    shapes: dict[int, Shape] = {}
    returned: dict[int, Sequence[Shape]] = {}
    for index, (one, other) in enumerate(zip(able[0], able[-1], strict=True)):
        if _kind(one) == _kind(other):
            continue
        tensors = [item for item in (one, other) if isinstance(item, ir.Value)]
        shape = common_shape(*tensors, outside=outside) if len(tensors) == 2 else None
        if shape is None:
            spelt = " and ".join(", ".join(map(_kind, each)) for each in able)
            node.graphs.known(condition, f"input 'cond', as branches return {spelt},")
            raise Unsupported(f"has branches that return {spelt}")
        shapes[index] = shape
        returned[index] = [tensor(each).shape for each in tensors]
    return able[0], Joined(shapes, returned)


def _kind(item: Item) -> str:
    """Spell what an item is: the same text for two items that one op can return."""
    if isinstance(item, EmptyOptional):
        return "nothing"
    listed = ", ".join(str(tensor(value)) for value in _tensors(item))
    return f"a sequence of {listed}" if isinstance(item, TensorList) else listed


def _tensors(item: Item) -> Sequence[ir.Value]:
    if isinstance(item, TensorList):
        return item.tensors
    return [] if isinstance(item, EmptyOptional) else [item]


def _regrouped(like: Item, values: Iterator[ir.Value]) -> Item:
    """Return an item of the same kind as another one, of the next tensors."""
    if isinstance(like, TensorList):
        return TensorList(tuple(islice(values, len(like.tensors))), like.dtype)
    return like if isinstance(like, EmptyOptional) else next(values)


def _end(block: ir.Block, values: Sequence[ir.Value]) -> None:
    with ir.InsertionPoint(block):
        tri.Yield.build(values)


# -- loops ----------------------------------------------------------------------------------------


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
    initial: Sequence[ir.Value],
) -> tuple[Item, ...]:
    """Import the body of a `Loop`, whose iterations are decided at run time or are many.

    `trips` is the count where it is known, and `going` its condition.
    """
    node = body.node
    types = [type_of(NUMBER), *(value.type for value in initial)]
    bodies = Bodies(node.graphs.main, tri.Loop.op_name, 1)
    with bodies.body(types) as block:
        number, *carried = block.arguments
        inputs = (number, constant(np.array(True)), *carried)
        made = [_only_tensor(item) for item in body.import_once(inputs)]
        condition = scalar(made[0])
        goes_on = node.evaluate(condition)
    ends = going is not None or goes_on is None or not single(goes_on)
    known = trips is not None and trips != ENDLESS and not ends
    outputs = made[1 + body.carried :]
    if outputs and not known:
        raise Unsupported("has as many outputs as iterations, and decides them at run time")
    _check_carried(initial, made[1 : 1 + body.carried])
    _end(block, made[1:] if not ends else [condition, *made[1:]])
    operands = _ends(count, going, ends, known)
    captured = bodies.close()
    iterations = trips if known and trips is not None else UNKNOWN
    stacked = [_stacked(value, iterations) for value in outputs]
    op = tri.Loop.create(
        [*operands, initial, [], captured],
        [*(value.type for value in initial), *stacked],
        {"iterations": iterations},
    )
    bodies.move_to(op)
    return tuple(op.results)


def scan_op(
    body: Body, length: int, states: Sequence[ir.Value], scanned: Sequence[ir.Value]
) -> list[ir.Value]:
    """Import the body of a `Scan` along the first axes of tensors; return states and outputs."""
    elements = [type_of(Tensor(tensor(x).shape[1:], tensor(x).dtype)) for x in scanned]
    types = [type_of(NUMBER), *(value.type for value in states), *elements]
    bodies = Bodies(body.node.graphs.main, tri.Loop.op_name, 1)
    with bodies.body(types) as block:
        made = [_only_tensor(item) for item in body.import_once(list(block.arguments)[1:])]
    _check_carried(states, made[: body.carried])
    _end(block, made)
    captured = bodies.close()
    stacked = [_stacked(value, length) for value in made[body.carried :]]
    op = tri.Loop.create(
        [None, None, states, scanned, captured],
        [*(value.type for value in states), *stacked],
        {"iterations": length},
    )
    bodies.move_to(op)
    return list(op.results)


def _ends(
    count: ir.Value | None, going: ir.Value | None, ends: bool, known: bool
) -> list[ir.Value | None]:
    """Return the trip count and the condition of a loop, each if it needs one."""
    if known:
        return [None, None]
    first = constant(np.array(True)) if going is None else scalar(going)
    return [None if count is None else scalar(count), first if ends else None]


def _check_carried(before: Sequence[ir.Value], after: Sequence[ir.Value]) -> None:
    for index, (first, next_) in enumerate(zip(before, after, strict=True)):
        if first.type != next_.type:
            raise Unsupported(
                f"carries {tensor(first)} into its first iteration and {tensor(next_)} into the "
                f"next one (value {index}), must be of one type where iterations are decided at "
                "run time"
            )


def _only_tensor(item: Item) -> ir.Value:
    if not isinstance(item, ir.Value):
        raise Unsupported("returns a sequence or an optional from a body that runs as a loop")
    return item


def _stacked(value: ir.Value, iterations: int) -> ir.Type:
    return type_of(Tensor((iterations, *tensor(value).shape), tensor(value).dtype))
