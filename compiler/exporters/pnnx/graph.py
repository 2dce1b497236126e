"""A PNNX graph that is being written, and the table of rules that write it."""

import re
from collections.abc import Mapping, Sequence

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array, Shape, Tensor
from ...frontends.pnnx import Attribute, Graph, Operand, Operator, Parameter
from ...frontends.pnnx.format.parameters import Value
from ...frontends.pnnx.format.tensor_type import SIZES
from ...frontends.torch.element_types import word_of
from ..flow import Flow, Names, Rules, unique

RULES = Rules("PNNX")
exports = RULES.exports

Input = ir.Value | Operand | None
"""An input of an operator: a value, an intermediate operand, or nothing."""


class PnnxGraph:
    """Gather operators; constants that are inputs of operators become a `pnnx.Attribute`."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.graph = Graph()
        self.names = Names(flow, token)
        self._operands: dict[ir.Value, Operand] = {}
        self._operators: set[str] = set()
        self._op: Op | None = None
        for name, value in flow.inputs.items():
            operand = self._new(value)
            operand.shape = tensor_of(value.type).shape
            self._operator("pnnx.Input", name).add_output(operand)

    def begin(self, op: Op) -> None:
        """Record the op that the next operators implement."""
        self._op = op

    def add(
        self,
        type: str,
        inputs: Sequence[Input] | Mapping[str, Input],
        outputs: Sequence[ir.Value | Operand],
        weights: Mapping[str, Array | None] | None = None,
        /,
        **parameters: Value,
    ) -> None:
        """Add an operator; inputs by name say which of its parameters they are.

        An input of None is a parameter None; a weight of None is left out.
        """
        pairs: list[tuple[str, Input]] = (
            list(inputs.items()) if isinstance(inputs, Mapping) else [("", each) for each in inputs]
        )
        # Constants come before the operator that takes them.
        operands = [(slot, each and self.operand(each)) for slot, each in pairs]
        operator = self._operator(type, self._node_name(type))
        for slot, operand in operands:
            if operand is not None:
                operator.add_input(operand, slot)
            elif slot:
                parameters[slot] = None
        for key, value in sorted(parameters.items()):
            operator.parameters[key] = _parameter(key, value)
        for key, array in sorted((weights or {}).items()):
            if array is not None:
                operator.attributes[key] = Attribute.of(array)
        for each in outputs:
            operator.add_output(each if isinstance(each, Operand) else self._new(each))

    def between(self, like: ir.Value, shape: Shape, hint: str) -> Operand:
        """Make an operand between two operators, of the element type of a value."""
        name = self.names.fresh(f"{self.names.of(self.flow.resolve(like))}.{hint}")
        return self._typed(name, Tensor(shape, tensor_of(like.type).dtype))

    def constant(self, hint: str, array: Array) -> Operand:
        """Add a constant that the module does not have."""
        operand = self._typed(self.names.fresh(hint), Tensor.of(array))
        operator = self._operator("pnnx.Attribute", operand.name)
        operator.add_output(operand)
        operator.attributes["data"] = Attribute.of(array)
        return operand

    def array(self, value: ir.Value | None) -> Array | None:
        """Return the elements of a constant, None for other values and for none."""
        return None if value is None else self.flow.array(value)

    def operand(self, each: ir.Value | Operand) -> Operand:
        """Return the operand of a value."""
        if isinstance(each, Operand):
            return each
        value = self.flow.resolve(each)
        if value not in self._operands:
            array = self.flow.array(value)
            if array is None:
                raise Unsupported("takes what an op makes that has no equivalent in PNNX")
            name = self.names.of(value)
            operator = self._operator("pnnx.Attribute", name)
            operator.add_output(self._new(value))
            operator.attributes["data"] = Attribute.of(array)
        return self._operands[value]

    def finish(self) -> Graph:
        """Add the outputs: those of several are a tuple."""
        results = [self.operand(value) for value in self.flow.outputs.values()]
        if len(results) > 1:
            construct = self._operator("prim::TupleConstruct", "outputs")
            for operand in results:
                construct.add_input(operand)
            results = [self.graph.add_operand(self.names.fresh("outputs"))]
            construct.add_output(results[0])
        output = self._operator("pnnx.Output", next(iter(self.names.outputs.values()), "output"))
        for operand in results:
            output.add_input(operand)
        return self.graph

    def _new(self, value: ir.Value) -> Operand:
        operand = self._typed(self.names.of(value), tensor_of(value.type))
        self._operands[value] = operand
        return operand

    def _typed(self, name: str, tensor: Tensor) -> Operand:
        operand = self.graph.add_operand(name)
        operand.dtype = word_of(tensor.dtype)
        if operand.dtype not in SIZES:
            raise Unsupported(f"makes elements of {tensor.dtype}, which PNNX does not have")
        # PNNX itself leaves out the shape of scalars, and stumbles over it.
        operand.shape = tensor.shape or None
        return operand

    def _node_name(self, type: str) -> str:
        names = node_names(self._op.location) if self._op is not None else ()
        return "+".join(names) or type

    def _operator(self, type: str, hint: str) -> Operator:
        return self.graph.add_operator(type, unique(token(hint), self._operators))


def _parameter(key: str, value: Value) -> Parameter:
    """Spell a parameter; expressions are text, in which commas separate as well as blanks."""
    if key != "expr":
        return Parameter.of(value)
    text = ",".join(str(value).split())
    return Parameter(text, text)


def token(text: str) -> str:
    """Turn a name into one that a line of the file can hold."""
    return re.sub(r"[\s=\x00]", "_", text) or "_"
