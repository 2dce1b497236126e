"""The graph of a PNNX file: operators in order, and the operands between them. No MLIR.

Every operand has one producer, which comes before its consumers. The methods here keep that so;
`Graph.verify` checks it, after changes made by hand too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from ....dialects.core.errors import CompileError, Diagnostic
from .attributes import Attribute
from .parameters import Parameter
from .tensor_type import Dimensions


@dataclass(eq=False)
class Operand:
    """One tensor: who makes it, who reads it, and what the file says of its type.

    `consumers` has an operator once for each of its inputs that is this operand. `dtype` is PNNX's
    word ("f32"), None when the file has none; `shape` is None when the file says nothing.
    """

    name: str
    producer: "Operator | None" = field(default=None, repr=False)
    consumers: list["Operator"] = field(default_factory=list["Operator"], repr=False)
    dtype: str | None = None
    shape: Dimensions | None = None

    def remove_consumer(self, operator: "Operator") -> None:
        """Take this operand out of the inputs of an operator, wherever it is one of them.

        Raises CompileError when it is not.
        """
        if operator not in self.consumers:
            raise _refusal(operator, f"does not take operand '{self.name}'")
        for index in reversed(range(len(operator.inputs))):
            if operator.inputs[index] is self:
                operator.remove_input(index)


@dataclass(eq=False)
class Operator:
    """One operator: what it is, what it reads and makes, its parameters and its weights.

    `slots` names the parameter of each input, "" where the file names none. `line` is where the
    operator stands in its file, 0 when it was made by code.
    """

    type: str
    name: str
    inputs: list[Operand] = field(default_factory=list[Operand])
    outputs: list[Operand] = field(default_factory=list[Operand])
    slots: list[str] = field(default_factory=list[str])
    parameters: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    line: int = 0

    def add_input(self, operand: Operand, slot: str = "") -> None:
        """Read one operand more, after the others."""
        self.inputs.append(operand)
        self.slots.append(slot)
        operand.consumers.append(self)

    def add_output(self, operand: Operand) -> None:
        """Make one operand more; raise CompileError when another operator makes it already."""
        if operand.producer is not None:
            maker = operand.producer.name
            raise _refusal(self, f"makes operand '{operand.name}', which '{maker}' makes already")
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


class Graph:
    """Hold operators in the order of execution, and operands in the order of their making."""

    def __init__(self, file: str = "") -> None:
        self.file = file
        self.operators: list[Operator] = []
        self.operands: dict[str, Operand] = {}
        self._named: dict[str, Operator] = {}

    def operator(self, name: str) -> Operator:
        """Return an operator by its name; raise CompileError when there is none."""
        if name not in self._named:
            raise _unknown("operator", name, self._named)
        return self._named[name]

    def operand(self, name: str) -> Operand:
        """Return an operand by its name; raise CompileError when there is none."""
        if name not in self.operands:
            raise _unknown("operand", name, self.operands)
        return self.operands[name]

    def add_operator(self, type: str, name: str) -> Operator:
        """Add an operator after all others; raise CompileError when the name is taken."""
        operator = self._new(type, name)
        self.operators.append(operator)
        return operator

    def insert_operator_before(self, type: str, name: str, before: Operator) -> Operator:
        """Add an operator before another; raise CompileError when the name is taken."""
        index = self._index(before)
        operator = self._new(type, name)
        self.operators.insert(index, operator)
        return operator

    def add_operand(self, name: str) -> Operand:
        """Add an operand, which nobody makes or reads yet."""
        if name in self.operands:
            raise CompileError(f"the graph has an operand '{name}' already")
        operand = Operand(name)
        self.operands[name] = operand
        return operand

    def remove_operator(self, operator: Operator) -> None:
        """Remove an operator and what it makes; raise CompileError when that is still read."""
        index = self._index(operator)
        for operand in operator.outputs:
            if operand.consumers:
                reader = operand.consumers[0].name
                words = f"makes operand '{operand.name}', which '{reader}' reads"
                raise _refusal(operator, words)
        for position in reversed(range(len(operator.inputs))):
            operator.remove_input(position)
        for operand in operator.outputs:
            operand.producer = None
            del self.operands[operand.name]
        operator.outputs.clear()
        del self.operators[index]
        del self._named[operator.name]

    def verify(self) -> None:
        """Raise CompileError with all that is wrong in names, types, producers and consumers."""
        from .verification import find_faults

        if faults := find_faults(self):
            raise CompileError(faults)

    def where(self, operator: Operator) -> str:
        """Name the place of an operator for the user: file and line, or else its name."""
        return f"{self.file}:{operator.line}" if operator.line else operator.name

    def _new(self, type: str, name: str) -> Operator:
        if name in self._named:
            raise CompileError(f"the graph has an operator '{name}' already")
        operator = Operator(type, name)
        self._named[name] = operator
        return operator

    def _index(self, operator: Operator) -> int:
        if self._named.get(operator.name) is not operator:
            raise _refusal(operator, "is not in this graph")
        return self.operators.index(operator)


def _refusal(operator: Operator, message: str) -> CompileError:
    return CompileError(f"'{operator.type}' operator '{operator.name}' {message}")


def _unknown(what: str, name: str, known: Iterable[str]) -> CompileError:
    close = get_close_matches(name, list(known), n=3)
    notes = (f"is it {' or '.join(map(repr, close))}?",) if close else ()
    return CompileError([Diagnostic("", f"the graph has no {what} '{name}'", notes)])
