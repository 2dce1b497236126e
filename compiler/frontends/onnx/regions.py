"""Control flow that is decided at run time: ops of `tri` with subgraphs as their bodies."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import onnx

from ....dialects import tri
from ....dialects.core.attributes import type_of
from ....dialects.core.errors import Invalid, InvalidNode, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Tensor
from ....dialects.tri.control_flow import UNKNOWN
from ..core.bodies import Bodies
from ..core.values import constant, single, tensor
from .carried_types import CarriedTypes
from .items import EmptyOptional, Item, JoinedSequence, TensorList
from .joined_sequences import begin_carried
from .joined_sizes import joined_shape
from .loops import ENDLESS, Body
from .registry import Node

NUMBER = Tensor((), "i64")


def scalar(value: ir.Value) -> ir.Value:
    """Return the only element of a tensor as a scalar; raise Invalid where it has several."""
    if tensor(value).size != 1:
        raise Invalid(f"takes {tensor(value)}, must have one element")
    return value if not tensor(value).rank else tri.Reshape.build(value, shape=()).y


# -- branches -------------------------------------------------------------------------------------


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
    able = [each for each in made if not isinstance(each, InvalidNode)]
    if not able:
        raise next(each for each in made if isinstance(each, InvalidNode))
    types, found = _agreed(node, condition, able, outside)
    for block, each in zip(bodies.blocks, made, strict=True):
        with ir.InsertionPoint(block):
            if isinstance(each, InvalidNode):
                tri.Fail.build(message=str(each.diagnostics[0]))
            else:
                tri.Yield.build([value for item in each for value in _tensors(item)])
    captured = bodies.close()
    op = tri.If.create([condition, captured], list(map(type_of, types)), {"result_sizes": found})
    bodies.move_to(op)
    rest = iter(op.results)
    return tuple(_regrouped(item, rest) for item in able[0])


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
    able: Sequence[tuple[Item, ...]],
    outside: Collection[str],
) -> tuple[list[Tensor], tuple[Size, ...]]:
    """Return the types of what the branches that can run return, and the sizes that are found.

    Tensors may differ in sizes.
    """
    listed = [[tensor(value) for item in each for value in _tensors(item)] for each in able]
    alike = len({tuple(map(_kind, each)) for each in able}) == 1
    pairs = list(zip(*listed, strict=True)) if alike else []
    if not alike or any(len({(t.dtype, t.rank) for t in each}) > 1 for each in pairs):
        spelt = " and ".join(", ".join(map(_spelt, each)) for each in able)
        node.graphs.known(condition, f"input 'cond', as branches return {spelt},")
        raise Unsupported(f"has branches that return {spelt}")
    types: list[Tensor] = []
    found: tuple[Size, ...] = ()
    for each in pairs:
        shape, new = joined_shape(each, node.found, outside)
        types.append(Tensor(shape, each[0].dtype))
        found = (*found, *new)
    return types, found


def _kind(item: Item) -> tuple[type, int, int]:
    """Return what an item is, how many tensors it has, and along which axis they are joined."""
    kind = ir.Value if isinstance(item, ir.Value) else type(item)
    return kind, len(_tensors(item)), item.axis if isinstance(item, JoinedSequence) else 0


def _spelt(item: Item) -> str:
    if isinstance(item, EmptyOptional):
        return "nothing"
    listed = ", ".join(str(tensor(value)) for value in _tensors(item))
    if isinstance(item, JoinedSequence):
        return f"a sequence that is {listed} when joined along axis {item.axis}"
    return f"a sequence of {listed}" if isinstance(item, TensorList) else listed


def _tensors(item: Item) -> Sequence[ir.Value]:
    if isinstance(item, TensorList):
        return item.tensors
    if isinstance(item, JoinedSequence):
        return [item.joined] if item.lengths is None else [item.joined, item.lengths]
    return [] if isinstance(item, EmptyOptional) else [item]


def _regrouped(like: Item, values: Iterator[ir.Value]) -> Item:
    """Return an item of the same kind as another one, of the next tensors."""
    if isinstance(like, TensorList):
        return TensorList(tuple(islice(values, len(like.tensors))), like.dtype)
    if isinstance(like, JoinedSequence):
        return JoinedSequence(
            next(values), like.axis, None if like.lengths is None else next(values)
        )
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
    items: Sequence[Item],
) -> tuple[Item, ...]:
    """Import the body of a `Loop`, whose iterations are decided at run time or are many.

    `trips` is the count where it is known, and `going` its condition.
    """
    node = body.node
    initial = [value for item in items for value in _tensors(item)]
    carried = CarriedTypes(node, list(map(tensor, initial)))
    outside = {*node.graphs.main.symbols}
    bodies, made = carried.build_body(lambda bodies, types: _loop_body(body, bodies, types, items))
    condition, *rest = made.values
    begins = True if going is None else _truth(node, going)
    ends = not (begins and made.goes_on)
    iterations = UNKNOWN if ends else _iterations(node, count, trips)
    _end(bodies.blocks[0], rest if not ends else [condition, *rest])
    operands = _ends(count, going, ends, iterations != UNKNOWN)
    captured = bodies.close()
    types, found = carried.results()
    outputs = [tensor(value) for value in rest[len(initial) :]]
    number = iterations
    if outputs and iterations == UNKNOWN:
        number = node.found.new(None if trips in (None, ENDLESS) else trips)
        found = (number, *found)
    for output in outputs:
        shape, new = joined_shape([output], node.found, outside)
        types.append(Tensor((number, *shape), output.dtype))
        found = (*found, *new)
    op = tri.Loop.create(
        [*operands, initial, [], captured],
        list(map(type_of, types)),
        {"iterations": iterations, "carried_sizes": carried.sizes, "result_sizes": found},
    )
    bodies.move_to(op)
    results = iter(op.results)
    return (*(_regrouped(item, results) for item in items), *results)


def carried_items(body: Body, given: Sequence[Item]) -> list[Item]:
    """Return what a loop carries: sequences as what they are when they are joined.

    How that is, the first iteration tells, which is imported for it.
    """
    if all(isinstance(item, ir.Value) for item in given):
        return list(given)
    outside = {*body.node.graphs.main.symbols}
    bodies = Bodies(body.node.graphs.main, tri.Loop.op_name, 1)
    after: list[Item] = []
    with body.node.graphs.draft() as draft:
        with bodies.body([type_of(NUMBER)]) as block:
            after += body.import_once((block.arguments[0], constant(np.array(True)), *given))[1:]
            shapes = [list(map(tensor, _tensors(item))) for item in after[: len(given)]]
        bodies.drop()
        draft.undo()
    return [
        begin_carried(item, types, outside) if isinstance(item, TensorList) else item
        for item, types in zip(given, shapes, strict=True)
    ]


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
        taken = [_regrouped(item, arguments) for item in items]
        condition, *made = body.import_once((number, constant(np.array(True)), *taken))
        going = scalar(_only_tensor(condition))
        carried = [v for pair in zip(items, made, strict=False) for v in _carried_on(*pair)]
        outputs = [_only_tensor(item) for item in made[len(items) :]]
        goes_on = _truth(body.node, going)
    return carried, LoopBody([going, *carried, *outputs], goes_on)


def _carried_on(taken: Item, made: Item) -> Sequence[ir.Value]:
    """Return the tensors of what a body carries on, which must be of the kind that it took."""
    if _kind(taken) != _kind(made):
        raise Unsupported(
            f"carries {_spelt(taken)} into an iteration and {_spelt(made)} into the next one, must "
            "be of one kind where iterations are decided at run time"
        )
    return _tensors(made)


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
            made = [_only_tensor(item) for item in body.import_once(list(block.arguments)[1:])]
        return made[: body.carried], made

    carried = CarriedTypes(body.node, list(map(tensor, states)))
    outside = {*body.node.graphs.main.symbols}
    bodies, made = carried.build_body(build)
    _end(bodies.blocks[0], made)
    captured = bodies.close()
    types, found = carried.results()
    for output in map(tensor, made[body.carried :]):
        shape, new = joined_shape([output], body.node.found, outside)
        types.append(Tensor((length, *shape), output.dtype))
        found = (*found, *new)
    op = tri.Loop.create(
        [None, None, states, scanned, captured],
        list(map(type_of, types)),
        {"iterations": length, "carried_sizes": carried.sizes, "result_sizes": found},
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


def _only_tensor(item: Item) -> ir.Value:
    if not isinstance(item, ir.Value):
        raise Unsupported("returns a sequence or an optional from a body that runs as a loop")
    return item
