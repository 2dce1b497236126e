"""Operators of torch with graphs as arguments: branches, loops and scans, as ops with bodies.

Source: `torch/_higher_order_ops` of torch 2.13. torch has checked that branches return tensors of
one type, and that loops return what they take.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from ....dialects import tri
from ....dialects.core.attributes import type_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.checks import Check, need_same
from ....dialects.core.tensor import Tensor
from ....dialects.tri.control_flow import UNKNOWN
from ..core.bodies import Bodies
from ..core.branch_checks import guard_branches
from ..core.main_function import MainFunction
from ..core.sizes.found_sizes import FoundSizes
from ..core.sizes.joined_shapes import joined_shape
from ..core.values import number, single, tensor
from .graph import Graph
from .size_operators import SizeComparison

RELATIONS: dict[str, type[Op]] = {
    "eq": tri.Equal,
    "ge": tri.GreaterEqual,
    "gt": tri.Greater,
    "le": tri.LessEqual,
    "lt": tri.Less,
}

NUMBER = Tensor((), "i64")
"""The type of the number of an iteration."""


class Graphs(Protocol):
    """Import the graphs that an operator has as arguments."""

    main: MainFunction

    def graph(
        self, graph: Graph, inputs: Sequence[Any], step: ir.Value | None = None
    ) -> list[ir.Value]: ...

    def operands(self, given: Any) -> list[Any]: ...


def branch(
    graphs: Graphs, condition: Any, on_true: Graph, on_false: Graph, operands: Any = ()
) -> Sequence[ir.Value]:
    """Return what the first graph computes where a condition is true, else the second.

    A condition that is known chooses at compile time.
    """
    inputs = graphs.operands(list(operands))
    (condition,) = graphs.operands(condition)
    if isinstance(condition, bool):
        return graphs.graph(on_true if condition else on_false, inputs)
    if isinstance(condition, SizeComparison):
        condition = _compare(condition)
    if not isinstance(condition, ir.Value):
        raise Unsupported(f"has condition {condition}, must be a tensor or a comparison of sizes")
    known = graphs.main.evaluate(condition)
    if known is not None:
        return graphs.graph(on_true if single(known) else on_false, inputs)
    return _branch(graphs, _scalar(condition), (on_true, on_false), inputs)


def _compare(sizes: SizeComparison) -> ir.Value:
    """Compare sizes when the model runs."""
    left, right = number(sizes.left), number(sizes.right)
    if sizes.relation == "ne":
        return tri.Not.build(tri.Equal.build(left, right).y).y
    return RELATIONS[sizes.relation].build(left, right).results[0]


def _branch(
    graphs: Graphs, condition: ir.Value, branches: Sequence[Graph], inputs: Sequence[Any]
) -> Sequence[ir.Value]:
    main = graphs.main
    bodies, outside = Bodies(main, tri.If.op_name, len(branches)), {*main.symbols}
    made: list[list[ir.Value]] = []
    checks: list[Sequence[Check]] = []
    for graph in branches:
        before = main.mark()
        with bodies.body(()):
            made.append(graphs.graph(graph, inputs))
            tri.Yield.build(made[-1])
        checks.append(main.take_checks(before, outside))
    types, found = _joined(main, made, outside)
    guard_branches(main, condition, checks)
    captured = bodies.close()
    op = tri.If.create([condition, captured], list(map(type_of, types)), {"result_sizes": found})
    bodies.move_to(op)
    return list(op.results)


def _joined(
    main: MainFunction, made: Sequence[Sequence[ir.Value]], outside: Collection[str]
) -> tuple[list[Tensor], tuple[Size, ...]]:
    """Return the types of what branches return, and the sizes in which they differ."""
    if len({len(values) for values in made}) > 1:
        raise Unsupported("has branches that return different numbers of tensors")
    types: list[Tensor] = []
    found: tuple[Size, ...] = ()
    for each in zip(*([tensor(value) for value in values] for values in made), strict=True):
        if len({(type_.dtype, type_.rank) for type_ in each}) > 1:
            raise Unsupported(f"has branches that return {' and '.join(map(str, each))}")
        shape, new = joined_shape(each, FoundSizes(main), outside)
        types.append(Tensor(shape, each[0].dtype))
        found = (*found, *new)
    return types, found


def while_loop(
    graphs: Graphs, condition: Graph, body: Graph, carried: Any, others: Any = ()
) -> Sequence[ir.Value]:
    """Compute values from values again and again while a condition on them is true."""
    initial, rest = graphs.operands(list(carried)), graphs.operands(list(others))
    _need_tensors(initial)
    (going,) = graphs.graph(condition, [*initial, *rest])
    bodies = Bodies(graphs.main, tri.Loop.op_name, 1)
    with bodies.body([type_of(each) for each in (NUMBER, *map(tensor, initial))]) as block:
        step, *taken = block.arguments
        made = graphs.graph(body, [*taken, *rest], step)
        (again,) = graphs.graph(condition, [*made, *rest], step)
        _need_alike(initial, made)
        tri.Yield.build([_scalar(again), *made])
    ends = [None, _scalar(going)]
    return _loop(bodies, ends, initial, [], list(map(tensor, initial)), UNKNOWN)


def scan(
    graphs: Graphs, body: Graph, carried: Any, scanned: Any, others: Any = ()
) -> Sequence[ir.Value]:
    """Carry values along the first axes of tensors; return them, and the outputs of all steps."""
    initial, xs = graphs.operands(list(carried)), graphs.operands(list(scanned))
    rest = graphs.operands(list(others))
    _need_tensors([*initial, *xs])
    length = _length(xs)
    elements = [Tensor(tensor(x).shape[1:], tensor(x).dtype) for x in xs]
    bodies = Bodies(graphs.main, tri.Loop.op_name, 1)
    taken = (NUMBER, *map(tensor, initial), *elements)
    with bodies.body([type_of(each) for each in taken]) as block:
        step, *values = block.arguments
        made = graphs.graph(body, [*values, *rest], step)
        _need_alike(initial, made)
        tri.Yield.build(made)
    outputs = [tensor(value) for value in made[len(initial) :]]
    stacked = [Tensor((length, *each.shape), each.dtype) for each in outputs]
    types = [*map(tensor, initial), *stacked]
    return _loop(bodies, [None, None], initial, xs, types, length)


def map_elements(graphs: Graphs, body: Graph, scanned: Any, others: Any = ()) -> Sequence[ir.Value]:
    """Compute values from each element along the first axes of tensors, and stack them."""
    return scan(graphs, body, [], scanned, others)


def _loop(
    bodies: Bodies,
    ends: Sequence[ir.Value | None],
    initial: Sequence[ir.Value],
    scanned: Sequence[ir.Value],
    types: Sequence[Tensor],
    iterations: Size,
) -> Sequence[ir.Value]:
    captured = bodies.close()
    op = tri.Loop.create(
        [*ends, initial, scanned, captured],
        list(map(type_of, types)),
        {"iterations": iterations, "carried_sizes": (), "joined": 0, "result_sizes": ()},
    )
    bodies.move_to(op)
    return list(op.results)


def _length(xs: Sequence[ir.Value]) -> Size:
    """Return the size of the first axes, which must be one."""
    if not xs:
        raise Unsupported("scans nothing, must scan a tensor")
    first, *others = (tensor(x).shape[0] for x in xs)
    for size in others:
        need_same(first, size, f"scans along axes of sizes {first}, {size}, must be of one size")
    return first


def _need_tensors(values: Sequence[Any]) -> None:
    if found := [each for each in values if not isinstance(each, ir.Value)]:
        raise Unsupported(f"carries or scans {found[0]}, must be a real tensor")


def _need_alike(initial: Sequence[ir.Value], made: Sequence[ir.Value]) -> None:
    """Raise Unsupported unless a body returns values of the types that it takes."""
    for one, other in zip(map(tensor, initial), map(tensor, made), strict=False):
        if one != other:
            raise Unsupported(f"carries {one} into an iteration and {other} into the next one")


def _scalar(condition: ir.Value) -> ir.Value:
    rank = tensor(condition).rank
    return tri.Reshape.build(condition, shape=()).y if rank else condition


CONTROL_FLOW: dict[str, Callable[..., Sequence[ir.Value]]] = {
    "higher_order::cond": branch,
    "higher_order::while_loop": while_loop,
    "higher_order::scan": scan,
    "higher_order::map_impl": map_elements,
}
"""What imports the operators with graphs, by their names."""
