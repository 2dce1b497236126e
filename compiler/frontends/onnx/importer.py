"""Translate an ONNX graph into a `tri` module, node by node, by the rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import CompileError, Invalid, Unsupported
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import view
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import Array, Bindings, numpy_dtype
from ..core.bindings import input_types
from ..core.found_sizes import FoundSizes
from ..core.main_function import MainFunction
from ..core.results import fault_diagnostic, flat_results, name_results
from ..core.values import only
from .check import check_nodes, operator_sets
from .functions import expand_function
from .graph import Named, named_nodes, operator_domain, ordered_nodes
from .inputs import declared_input, model_inputs
from .model import UNNAMED, Source, Values, attribute_value, open_model
from .outputs import check_outputs
from .registry import ComputedSizes, Node, Rule, Size, Sizes, UseFunctionBody, find_rule
from .support import check_supported


def import_onnx(
    source: Source,
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Module:
    """Translate an ONNX model to a `tri` module in the current context.

    `shapes` binds symbolic dimensions by name, or whole inputs; `constants` turns inputs into
    constants: the model is specialised on their values. Raises CompileError with everything
    that is unsupported, all at once, or with the first node that is invalid.
    """
    with open_model(source) as (model, values), ir.Location.unknown():
        opsets = operator_sets(model, UNNAMED)
        nodes = ordered_nodes(model.graph)
        check_supported(nodes, opsets)
        check_nodes(nodes, model.ir_version, opsets)
        return _Importer(opsets, values).run(model.graph, nodes, shapes or {}, constants or {})


@dataclass
class _Scope:
    """Map the names of one graph or function body to values; None is an absent optional."""

    values: dict[str, ir.Value | None]
    initializers: dict[str, onnx.TensorProto]


class _Importer:
    def __init__(self, opsets: Mapping[str, int], initial_value: Values) -> None:
        self.opsets = opsets
        self.initial_value = initial_value
        self.main = MainFunction()

    def run(
        self,
        graph: onnx.GraphProto,
        nodes: Sequence[Named],
        shapes: Bindings,
        constants: Mapping[str, Array],
    ) -> Module:
        scope = _Scope({"": None}, {t.name: t for t in graph.initializer})
        declared = [declared_input(value) for value in model_inputs(graph)]
        found = input_types(declared, shapes, constants)
        self.main.declare_symbols(found.ranges)
        for name, type_ in found.types.items():
            if name not in constants:
                scope.values[name] = self.main.add_input(name, type_, node_location(name, [name]))
        with self.main.body():
            for name, array in constants.items():
                scope.values[name] = self.main.constant(name, array)
            self._nodes(nodes, scope)
            results = [(o.name, self._value(scope, o.name)) for o in graph.output]
        check_outputs(graph.output, dict(results))
        return self.main.finish(results)

    # -- nodes --------------------------------------------------------------------------------

    def _nodes(self, nodes: Sequence[Named], scope: _Scope) -> None:
        for name, proto in nodes:
            what = f"'{proto.op_type}' node"
            try:
                with self.main.checks_of(name, what):
                    self._node(proto, name, scope)
            except (Invalid, Unsupported, MemoryError) as error:
                raise CompileError([fault_diagnostic(name, what, error)]) from None

    def _node(self, proto: onnx.NodeProto, name: str, scope: _Scope) -> None:
        domain = operator_domain(proto)
        opset = self.opsets.get(domain, 1)
        rule = find_rule(domain, proto.op_type, opset)
        if rule is None:
            self._function_body(proto, name, opset, scope)
            return
        outputs = tuple(proto.output)
        node = Node(
            name,
            proto.op_type,
            domain,
            outputs,
            opset,
            self.main.evaluate,
            self.main.sizes,
            FoundSizes(self.main),
        )
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

    def _function_body(self, proto: onnx.NodeProto, name: str, opset: int, scope: _Scope) -> None:
        """Import a node that has no rule by the function body in ONNX's definition of it."""
        inputs = [self._value(scope, i) if i else None for i in proto.input]
        types = [None if v is None else _type_proto(v) for v in inputs]
        function = expand_function(proto, types, opset)
        if function is None:
            raise Unsupported("has no rule and no function body for these input types")
        values: dict[str, ir.Value | None] = dict.fromkeys(function.inputs)
        values.update(zip(function.inputs, inputs, strict=False))
        inner = _Scope({"": None} | values, {})
        opsets = self.opsets
        self.opsets = {**opsets, **function.opsets}
        try:
            for body in named_nodes(function.nodes, f"{name}/"):
                self._body_node(body.proto, body.name, inner)
        finally:
            self.opsets = opsets
        for outer, formal in zip(proto.output, function.outputs, strict=False):
            value = inner.values.get(formal)
            scope.values[outer] = value
            if value is not None and outer:
                _rename(value, name, outer)

    def _body_node(self, body: onnx.NodeProto, name: str, scope: _Scope) -> None:
        try:
            self._node(body, name, scope)
        except (Invalid, Unsupported) as error:
            error.args = (f"consists of '{body.op_type}' and others, which {error}",)
            raise

    # -- operands -----------------------------------------------------------------------------

    def _operands(self, rule: Rule, proto: onnx.NodeProto, scope: _Scope) -> list[Any]:
        rule.check_inputs(proto.input)
        operands: list[Any] = []
        for index, name in enumerate(proto.input):
            value = self._value(scope, name) if name else None
            operands.append(None if value is None else self._operand(value, name, rule, index))
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

    def _value(self, scope: _Scope, name: str) -> ir.Value:
        if name not in scope.values and name in scope.initializers:
            array = self.initial_value(scope.initializers[name])
            scope.values[name] = self.main.constant(name, array)
        value = scope.values.get(name)
        if value is None:
            raise Invalid(f"uses value '{name}', which nothing defines")
        return value

    def _materialize(
        self, result: ir.Value | Array | None, node: Node, index: int
    ) -> ir.Value | None:
        """Turn an array that a rule returns into a constant; leave values alone."""
        if not isinstance(result, np.ndarray):
            return result
        output = node.outputs[index] if node.wants(index) else ""
        return self.main.constant(output or node.name, result, node.name)


def _attributes(rule: Rule, proto: onnx.NodeProto) -> dict[str, Any]:
    given = {a.name: attribute_value(a) for a in proto.attribute}
    rule.check_attributes(given)
    return given


def _rename(value: ir.Value, node: str, output: str) -> None:
    """Name the value that a function body's output became after the output of the node."""
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    if op is not None and len(op.results) == 1:
        op.operation.location = node_location(node, [output])


def _type_proto(value: ir.Value) -> onnx.TypeProto:
    tensor = tensor_of(value.type)
    element = onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(tensor.dtype))
    sizes = [str(size) if is_symbolic(size) else size for size in tensor.shape]
    return onnx.helper.make_tensor_type_proto(element, sizes)
