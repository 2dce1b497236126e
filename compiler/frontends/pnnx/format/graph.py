"""The graph of a PNNX file: operators in order, and the operands between them. No MLIR.

Every operand has one producer, which comes before its consumers. The methods keep that invariant;
`Graph.verify` checks it, after changes made by hand too.
"""

from collections.abc import Iterable
from difflib import get_close_matches

from .....dialects.core.errors import CompileError, Diagnostic
from .operator import Operand, Operator, refusal
from .verification import find_faults


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
        """Add an operand without producer and consumers."""
        if name in self.operands:
            raise CompileError(f"the graph has an operand '{name}' already")
        operand = Operand(name)
        self.operands[name] = operand
        return operand

    def remove_operator(self, operator: Operator) -> None:
        """Remove an operator and its outputs; raise CompileError when one of them is still read."""
        index = self._index(operator)
        for operand in operator.outputs:
            if operand.consumers:
                reader = operand.consumers[0].name
                words = f"makes operand '{operand.name}', which '{reader}' reads"
                raise refusal(operator, words)
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
        if faults := find_faults(self.operators, self.operands, self.where):
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
            raise refusal(operator, "is not in this graph")
        return self.operators.index(operator)


def _unknown(what: str, name: str, known: Iterable[str]) -> CompileError:
    close = get_close_matches(name, list(known), n=3)
    notes = (f"is it {' or '.join(map(repr, close))}?",) if close else ()
    return CompileError([Diagnostic("", f"the graph has no {what} '{name}'", notes)])
