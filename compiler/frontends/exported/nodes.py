"""Translate the nodes of a program, and of the graphs in them, by the rules of torch."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, cast

from ....dialects.core.errors import CompileError, Invalid, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.checks import need_same
from ....dialects.core.tensor import is_integer
from ..core.main_function import MainFunction
from ..core.results import fault_diagnostic, flat_results, name_results
from ..core.sizes.found_sizes import FoundSizes
from ..core.values import tensor
from ..torch.aten import aten_rule
from ..torch.element_types import parts_type, torch_type
from ..torch.node import Weight
from ..torch.operands import Converter
from ..torch.registry import Complex
from ..torch.views import parts, shape_of
from .bind import bind, resolved
from .control_flow import CONTROL_FLOW
from .graph import Graph, ProgramNode, Reference, SizeFormula, TensorType
from .numbers import computed_number, names_of_sizes
from .size_formulas import UnknownSize, evaluate
from .size_operators import SIZE_OPERATORS, computed

IGNORED_NODES = (
    "aten::_assert_async.msg",
    "aten::_assert_scalar",
    "aten::_assert_tensor_metadata",
    "aten::_linalg_check_errors",
    "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size",
)
"""What torch asserts of its own run.

Sizes are checked against their ranges by each run. Of a matrix without an inverse, results are NaN.
"""


RECURRENT = ("aten::gru", "aten::lstm", "aten::rnn_relu", "aten::rnn_tanh")
"""Operators whose states have an axis too many where torch before 2.13 has decomposed a program."""


@dataclass(frozen=True)
class Scope:
    """The values of one graph by name, the types that torch has for them, and which are sizes."""

    values: dict[str, Any]
    types: Mapping[str, TensorType]
    sizes: frozenset[str] = frozenset()


class NodeImporter:
    """Import nodes in their order; `sizes` has what the symbols of torch are."""

    def __init__(self, main: MainFunction) -> None:
        self.main = main
        self.convert = Converter(main)
        self.sizes: dict[str, Size] = {}
        self._used: dict[str, int] = {}

    def nodes(self, nodes: Sequence[ProgramNode], scope: Scope) -> None:
        """Import nodes at the insertion point; their results are in the scope then.

        Raises CompileError, with the path of the module and its line, for a node that is invalid or
        not supported.
        """
        scope = replace(scope, sizes=names_of_sizes(nodes, IGNORED_NODES))
        for node in nodes:
            if node.type not in IGNORED_NODES:
                self._node(node, scope)

    def graph(
        self, graph: Graph, inputs: Sequence[Any], step: ir.Value | None = None
    ) -> list[ir.Value]:
        """Import a graph at the insertion point for some inputs; return its outputs.

        `step` is the number of the iteration in the body of a loop.
        Raises Unsupported where it returns anything but real tensors.
        """
        names = [each.name for each in graph.inputs if isinstance(each, Reference)]
        if len(names) != len(inputs) or len(names) != len(graph.inputs):
            raise Invalid(f"has a graph of {len(graph.inputs)} inputs, must have {len(inputs)}")
        scope = Scope(dict(zip(names, inputs, strict=True)), graph.types)
        with nullcontext() if step is None else self.convert.iteration(step):
            self.nodes(graph.nodes, scope)
        made = [self._outer(resolved(each, scope.values)) for each in graph.outputs]
        if found := [each for each in made if not isinstance(each, ir.Value)]:
            raise Unsupported(f"returns {found[0]} from a graph, must return real tensors")
        return cast("list[ir.Value]", made)

    def operands(self, given: Any) -> list[Any]:
        """List the operands of a graph: weights are constants around it."""
        listed = cast("list[Any]", given if isinstance(given, list) else [given])
        return [self._outer(each) for each in listed]

    def _outer(self, given: Any) -> Any:
        return self.convert.value(given, "weight") if isinstance(given, Weight) else given

    def _node(self, node: ProgramNode, scope: Scope) -> None:
        place = self._place(node)
        what = f"'{node.type}' operator"
        with self._faults(node, place), self.main.checks_of(place, what):
            if node.type in SIZE_OPERATORS:
                (result,) = node.results
                scope.values[result.names[0]] = self._computed_size(node, scope)
            else:
                self._apply(node, place, scope)

    def _place(self, node: ProgramNode) -> str:
        """Return the path of the module and the operator, with a number where that repeats."""
        operator = node.type.partition("::")[2].partition(".")[0]
        base = f"{node.path}.{operator}" if node.path else node.name
        self._used[base] = count = self._used.get(base, -1) + 1
        return f"{base}_{count}" if count else base

    @contextmanager
    def _faults(self, node: ProgramNode, place: str) -> Generator[None]:
        """Convert exceptions to a CompileError that names the module and its line."""
        try:
            yield
        except (Invalid, Unsupported, MemoryError) as error:
            found = fault_diagnostic(place, f"'{node.type}' operator '{node.name}'", error)
            notes = (*found.notes, *([node.source] if node.source else []))
            raise CompileError([replace(found, notes=notes)]) from None

    def _computed_size(self, node: ProgramNode, scope: Scope) -> Any:
        given = [resolved(each, scope.values) for each in node.arguments.values()]
        if not node.type.startswith("aten::") and any(isinstance(x, ir.Value) for x in given):
            return computed_number(node.type, given)
        return computed(node.type, [self._shaped(each) for each in given])

    def _shaped(self, given: Any) -> Any:
        """Return the shape of a tensor; sizes as they are."""
        value = self.convert.value(given, "size") if isinstance(given, Weight) else given
        return shape_of(value) if isinstance(value, (ir.Value, Complex)) else value

    def _apply(self, node: ProgramNode, place: str, scope: Scope) -> None:
        with ir.Location.name(place):
            made = self._results(node, scope)
        names = [name for result in node.results for name in result.names]
        if len(made) < len(names):
            raise Unsupported(f"has {len(names)} results, {len(made)} can be computed")
        pairs = zip(made, names, strict=False)
        made = [self.convert.materialized(each, name, place) for each, name in pairs]
        made = [self._size(each, name, scope) for each, name in zip(made, names, strict=True)]
        values = [each.parts if isinstance(each, Complex) else each for each in made]
        name_results(place, names, [v if isinstance(v, ir.Value) else None for v in values])
        for name, each in zip(names, made, strict=True):
            self._check_type(_declared(node, scope.types.get(name), each), each)
            scope.values[name] = each
        for result in node.results:
            # Programs of torch before 2.12 name a node as its first result.
            if result.is_list and node.name not in names:
                scope.values[node.name] = [scope.values[name] for name in result.names]

    def _size(self, made: Any, name: str, scope: Scope) -> Any:
        """Make a size of a number of Python that is used as one; return others as they are."""
        is_number = isinstance(made, ir.Value) and name not in scope.types
        if not is_number or name not in scope.sizes or not is_integer(tensor(made).dtype):
            return made
        (size,) = FoundSizes(self.main).compute(made)
        return size

    def _results(self, node: ProgramNode, scope: Scope) -> list[Any]:
        """Build what a node computes."""
        if node.type in CONTROL_FLOW:
            given = [resolved(each, scope.values) for each in node.arguments.values()]
            function = CONTROL_FLOW[node.type]
            try:
                signature(function).bind(self, *given)
            except TypeError as error:
                raise Invalid(f"has other arguments than its schema: {error}") from None
            return list(function(self, *given))
        rule = aten_rule(node.type)
        assert rule is not None
        arguments = bind(node, rule, scope.values, self.convert)
        return _flat(flat_results(rule.function(*arguments.positional, **arguments.named)))

    def _check_type(self, type_: TensorType | None, made: Any) -> None:
        """Raise Invalid when the type of a result differs from that in the program."""
        if type_ is None or not isinstance(made, (ir.Value, Complex)):
            return
        have, dtype = shape_of(made), tensor(parts(made)).dtype
        complex_type = type_.dtype.startswith("torch.complex")
        wanted = parts_type(type_.dtype) if complex_type else torch_type(type_.dtype)
        fault = f"makes {list(map(str, have))} of {dtype}, torch {_spell(type_)}"
        if len(have) != len(type_.sizes) or dtype != wanted:
            raise Invalid(fault)
        for size, declared in zip(have, type_.sizes, strict=True):
            expected = self._expected(declared)
            if expected is not None:
                need_same(size, expected, fault)

    def _expected(self, declared: int | SizeFormula) -> Size | None:
        if isinstance(declared, int):
            return declared
        try:
            return evaluate(declared.text, self.sizes)
        except UnknownSize:
            return None


def _declared(node: ProgramNode, type_: TensorType | None, made: Any) -> TensorType | None:
    """Return the type that a program has for a result, unless it is known to be wrong."""
    if type_ is None or node.type.partition(".")[0] not in RECURRENT:
        return type_
    return type_ if len(type_.sizes) == len(shape_of(made)) else None


def _flat(made: list[Any]) -> list[Any]:
    """List results, those in lists by themselves."""
    flat: list[Any] = []
    for each in made:
        flat += cast("list[Any]", each) if isinstance(each, list) else [each]
    return flat


def _spell(type_: TensorType) -> str:
    sizes = [str(s) if isinstance(s, int) else s.text for s in type_.sizes]
    return f"{sizes} of {type_.dtype}"
