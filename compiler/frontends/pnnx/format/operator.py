"""Operators of a PNNX graph and the operands between them. No MLIR.

Every operand has one producer. The methods keep producers and consumers consistent.
"""

from dataclasses import dataclass, field

from .....dialects.core.errors import CompileError
from ...torch.node import Node
from .attributes import Attribute
from .parameters import Parameter
from .tensor_type import Dimensions

INPUT, OUTPUT, ATTRIBUTE = "pnnx.Input", "pnnx.Output", "pnnx.Attribute"
"""The types that the importer itself takes care of."""


@dataclass(eq=False)
class Operand:
    """One tensor: its producer, its consumers, and its type in the file.

    `consumers` has an operator once for each of its inputs that is this operand. `dtype` is PNNX's
    word ("f32"). `dtype` and `shape` are None when the file has none.
    """

    name: str
    producer: "Operator | None" = field(default=None, repr=False)
    consumers: list["Operator"] = field(default_factory=list["Operator"], repr=False)
    dtype: str | None = None
    shape: Dimensions | None = None

    @property
    def is_unpacked(self) -> bool:
        """Whether the operand is a tuple of all results of its producer."""
        return any(consumer.type == "prim::TupleUnpack" for consumer in self.consumers)

    def remove_consumer(self, operator: "Operator") -> None:
        """Take this operand out of the inputs of an operator, wherever it is one of them.

        Raises CompileError when it is not.
        """
        if operator not in self.consumers:
            raise refusal(operator, f"does not take operand '{self.name}'")
        for index in reversed(range(len(operator.inputs))):
            if operator.inputs[index] is self:
                operator.remove_input(index)


@dataclass(eq=False)
class Operator(Node):
    """One operator: its type, inputs, outputs, parameters and weights.

    `slots` names the parameter of each input, "" where the file names none. `line` is the
    line in the file, 0 when code made the operator.
    """

    type: str
    name: str
    inputs: list[Operand] = field(default_factory=list[Operand])
    outputs: list[Operand] = field(default_factory=list[Operand])
    slots: list[str] = field(default_factory=list[str])
    parameters: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    line: int = 0

    @property
    def result_count(self) -> int:
        return len(self.outputs)

    def add_input(self, operand: Operand, slot: str = "") -> None:
        """Read one operand more, after the others."""
        self.inputs.append(operand)
        self.slots.append(slot)
        operand.consumers.append(self)

    def add_output(self, operand: Operand) -> None:
        """Make one operand more; raise CompileError when another operator makes it already."""
        if operand.producer is not None:
            maker = operand.producer.name
            raise refusal(self, f"makes operand '{operand.name}', which '{maker}' makes already")
        operand.producer = self
        self.outputs.append(operand)

    def remove_input(self, index: int) -> None:
        """Stop reading input number `index`; those after it move up."""
        operand = self.inputs.pop(index)
        del self.slots[index]
        operand.consumers.remove(self)

    def replace_input(self, index: int, operand: Operand) -> None:
        """Read another operand as input number `index`; its slot stays."""
        self.inputs[index].consumers.remove(self)
        self.inputs[index] = operand
        operand.consumers.append(self)


def refusal(operator: Operator, message: str) -> CompileError:
    """Return the error that names an operator and the fault."""
    return CompileError(f"'{operator.type}' operator '{operator.name}' {message}")
