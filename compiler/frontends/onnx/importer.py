"""Translate an ONNX graph into a `tri` module, node by node, by the rules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from ....dialects.core.errors import CompileError, Invalid, InvalidNode, Unsupported
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import view
from ....dialects.core.states.carried import named_states
from ....dialects.core.tensor import Array, Bindings
from ..core.bindings import input_types
from ..core.main_function import MainFunction
from ..core.random_numbers import Draws, RandomNumbers
from ..core.results import fault_diagnostic, flat_results, name_results
from ..core.sizes.found_sizes import FoundSizes
from ..core.values import only
from .check import check_nodes, operator_sets
from .control_flow.sinking import BranchesDiffer, returned_outputs, sink
from .control_flow.squeezing import RankUndecided, squeezed_in_branches
from .functions import expand_function
from .graph import Named, check_graph, named_nodes, operator_domain, ordered_nodes
from .inputs import declared_input, model_inputs
from .items import Item, type_proto
from .model import UNNAMED, Source, Values, attribute_value, open_model
from .outputs import check_outputs
from .ports import grouped_inputs, output_ports, split_nothing, tensor_inputs
from .registry import ComputedSizes, Node, Rule, Size, Sizes, UseFunctionBody, find_rule
from .scopes import Scope
from .subgraphs import Subgraphs
from .support import check_supported

ImportNode = Callable[[Named, Scope], None]
"""Imports one node into a scope; raises BranchesDiffer, or RankUndecided, for some."""


def import_onnx(
    source: Source,
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
    states: Mapping[str, str] | None = None,
) -> Module:
    """Translate an ONNX model to a `tri` module in the current context.

    `shapes` binds symbolic dimensions by name, or whole inputs; `constants` turns inputs into
    constants: the model is specialised on their values. `states` has the inputs that outputs
    become: they have the same sizes. Raises CompileError with everything
    that is unsupported, all at once, or with the first node that is invalid.
    """
    with open_model(source) as (model, values):
        return import_opened(model, values, shapes=shapes, constants=constants, states=states)


def import_opened(
    model: onnx.ModelProto,
    values: Values,
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
    states: Mapping[str, str] | None = None,
) -> Module:
    """Translate a model that is open: `values` returns those of its initializers."""
    with ir.Location.unknown():
        opsets = operator_sets(model, UNNAMED)
        check_graph(model.graph)
        nodes = ordered_nodes(model.graph)
        check_supported(nodes, opsets)
        check_nodes(nodes, model.ir_version, opsets)
        importer = _Importer(opsets, values)
        importer.states = named_states(states or {}, [each.name for each in model.graph.output])
        return importer.run(model.graph, nodes, shapes or {}, constants or {})


class _Importer:
    def __init__(self, opsets: Mapping[str, int], initial_value: Values) -> None:
        self.opsets = opsets
        self.initial_value = initial_value
        self.main = MainFunction()
        self.draws = Draws(self.main)
        self.states: Mapping[str, str] = {}

    def run(
        self,
        graph: onnx.GraphProto,
        nodes: Sequence[Named],
        shapes: Bindings,
        constants: Mapping[str, Array],
    ) -> Module:
        returned = tuple(value.name for value in graph.output)
        initializers = {t.name: t for t in graph.initializer}
        scope = Scope({"": None}, initializers, returned=returned)
        given, constants, nothing = split_nothing(model_inputs(graph), constants)
        scope.values |= nothing
        inputs, shapes = tensor_inputs(given, shapes)
        declared = [declared_input(value) for value in inputs]
        found = input_types(declared, shapes, constants)
        self.main.declare_symbols(found.ranges)
        for name, type_ in found.types.items():
            if name not in constants:
                scope.values[name] = self.main.add_input(name, type_, node_location(name, [name]))
        with self.main.body():
            for name, array in constants.items():
                scope.values[name] = self.main.constant(name, array)
            scope.values |= grouped_inputs(given, scope.values, self.main)
            self._nodes(nodes, scope)
            results = [(o.name, self._value(scope, o.name)) for o in graph.output]
            ports = [port for result in results for port in output_ports(*result)]
        check_outputs(graph.output, dict(results))
        return self.main.finish(ports)

    # -- nodes --------------------------------------------------------------------------------

    def _nodes(self, nodes: Sequence[Named], scope: Scope) -> None:
        self._each(nodes, scope, self._checked_node)

    def _each(self, nodes: Sequence[Named], scope: Scope, import_node: ImportNode) -> None:
        """Import nodes in order; those that use what is of several ranks, in branches."""
        rest = list(nodes)[::-1]
        undecided: dict[str, CompileError] = {}
        while rest:
            named = rest.pop()
            try:
                import_node(named, scope)
            except RankUndecided as error:
                undecided[named.name] = self._fault(named, error)
                rest += squeezed_in_branches(named, error, self.opsets.get("", 1))[::-1]
            except BranchesDiffer as error:
                fault = undecided.get(named.name, error.fault)
                rest = self._sunk(named, BranchesDiffer(error.outputs, fault), rest, scope)

    def _checked_node(self, named: Named, scope: Scope) -> None:
        try:
            with self.main.checks_of(named.name, f"'{named.proto.op_type}' node"):
                self._node(named.proto, named.name, scope)
        except (BranchesDiffer, RankUndecided):
            raise
        except (Invalid, Unsupported, MemoryError) as error:
            raise self._fault(named, error) from None

    def _sunk(
        self, named: Named, differ: BranchesDiffer, rest: Sequence[Named], scope: Scope
    ) -> list[Named]:
        """Move nodes of the rest, the first at its end, into branches that differ.

        What a branch returns differs in the node around it, too.
        """
        returned = returned_outputs(named, differ.outputs, scope.returned)
        if not returned:
            return sink(named, differ.outputs, rest[::-1], scope.returned)[::-1]
        fault = differ.fault
        if not isinstance(fault, CompileError):
            fault = self._fault(named, fault)
        if scope.is_branch:
            raise BranchesDiffer(returned, fault)
        raise fault from None

    def _fault(self, named: Named, error: Invalid | Unsupported | MemoryError) -> CompileError:
        kind = InvalidNode if isinstance(error, Invalid) else CompileError
        what = f"'{named.proto.op_type}' node"
        found_of = self.main.sources_of_found_sizes()
        return kind([fault_diagnostic(named.name, what, error, found_of)])

    def _subgraph_nodes(self, nodes: Sequence[Named], scope: Scope) -> None:
        check_supported(nodes, self.opsets)
        self._nodes(nodes, scope)

    def _node(self, proto: onnx.NodeProto, name: str, scope: Scope) -> None:
        domain = operator_domain(proto)
        opset = self.opsets.get(domain, 1)
        rule = find_rule(domain, proto.op_type, opset)
        if rule is None:
            self._function_body(proto, name, opset, scope)
            return
        outputs = tuple(map(scope.value_name, proto.output))
        subgraphs = (self.main, self._subgraph_nodes, self._initializer, scope, name, outputs)
        known, graphs = (self.main.evaluate, self.main.sizes), Subgraphs(*subgraphs)
        drawn = FoundSizes(self.main), RandomNumbers(self.draws, scope.iterations)
        states = {o: scope.values.get(self.states[o]) for o in outputs if o in self.states}
        node = Node(name, proto.op_type, domain, outputs, opset, *known, graphs, *drawn, states)
        operands = self._operands(rule, proto, scope)
        attributes = _attributes(rule, proto)
        if rule.node_parameter:
            attributes[rule.node_parameter] = node
        try:
            with ir.Location.name(name):
                made = flat_results(rule.function(*operands, **attributes))
                results = [self._materialize(result, node, i) for i, result in enumerate(made)]
        except UseFunctionBody:
            self._function_body(proto, name, opset, scope)
            return
        name_results(node.name, node.outputs, results)
        for output, value in zip(proto.output, results, strict=False):
            scope.values[output] = value
        if len(results) < len([o for o in proto.output if o]):
            raise Unsupported(f"has {len(proto.output)} outputs, {len(results)} can be computed")

    def _function_body(self, proto: onnx.NodeProto, name: str, opset: int, scope: Scope) -> None:
        """Import a node that has no rule by the function body in ONNX's definition of it."""
        inputs = [self._value(scope, i) if i else None for i in proto.input]
        types = [None if v is None else type_proto(v) for v in inputs]
        function = expand_function(proto, types, opset)
        if function is None:
            raise Unsupported("has no rule and no function body for these input types")
        values: dict[str, Item | None] = dict.fromkeys(function.inputs)
        values.update(zip(function.inputs, inputs, strict=False))
        kept = scope.region, scope.prefix, scope.iterations
        inner = Scope({"": None} | values, {}, None, *kept, function.outputs)
        opsets = self.opsets
        self.opsets = {**opsets, **function.opsets}
        try:
            self._each(named_nodes(function.nodes, f"{name}/"), inner, self._body_node)
        finally:
            self.opsets = opsets
        for outer, formal in zip(proto.output, function.outputs, strict=False):
            value = inner.values.get(formal)
            scope.values[outer] = value
            if value is not None and outer:
                _rename(value, name, scope.value_name(outer))

    def _body_node(self, body: Named, scope: Scope) -> None:
        try:
            self._node(body.proto, body.name, scope)
        except (BranchesDiffer, RankUndecided):
            raise
        except (Invalid, Unsupported) as error:
            error.args = (f"consists of '{body.proto.op_type}' and others, which {error}",)
            raise

    # -- operands -----------------------------------------------------------------------------

    def _operands(self, rule: Rule, proto: onnx.NodeProto, scope: Scope) -> list[Any]:
        rule.check_inputs(proto.input)
        operands: list[Any] = []
        for index, name in enumerate(proto.input):
            value = self._value(scope, name) if name else None
            if value is not None:
                rule.check_item(index, name, value)
            wanted = isinstance(value, ir.Value)
            operands.append(self._operand(value, name, rule, index) if wanted else value)
        return operands

    def _operand(self, value: ir.Value, name: str, rule: Rule, index: int) -> Any:
        """Return a value as a rule wants it: known at compile time, or as it is."""
        what = f"input '{rule.parameter(index).name}' ('{name}')"
        if rule.wants(Array, index):
            return self.main.known(value, what)
        if rule.wants(Sizes, index) or rule.wants(Size, index):
            sizes = self.main.sizes(value, what)
            return sizes if rule.wants(Sizes, index) else only(sizes)
        if rule.wants(ComputedSizes, index):
            return FoundSizes(self.main).compute(value)
        return value

    def _value(self, scope: Scope, name: str) -> Item:
        return scope.find(name, self._initializer)

    def _initializer(self, tensor: onnx.TensorProto) -> ir.Value:
        return self.main.constant(tensor.name, self.initial_value(tensor))

    def _materialize(self, result: Item | Array | None, node: Node, index: int) -> Item | None:
        """Turn an array that a rule returns into a constant; leave items alone."""
        if not isinstance(result, np.ndarray):
            return result
        output = node.outputs[index] if node.wants(index) else ""
        return self.main.constant(output or node.name, result, node.name)


def _attributes(rule: Rule, proto: onnx.NodeProto) -> dict[str, Any]:
    given = {a.name: attribute_value(a) for a in proto.attribute}
    rule.check_attributes(given)
    return given


def _rename(value: Item, node: str, output: str) -> None:
    """Name the value that a function body's output became after the output of the node."""
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    if op is not None and len(op.results) == 1:
        op.operation.location = node_location(node, [output])
