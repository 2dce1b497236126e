"""Read the text of a `.pnnx.param` file, line by line, into a graph. No MLIR."""

from typing import cast

from .....dialects.core.errors import CompileError, Diagnostic, Invalid
from .archive import Archive
from .attributes import Attribute
from .graph import Graph
from .operator import Operand, Operator
from .parameters import Parameter, parse
from .tensor_type import parse_type, spell_type

MAGIC = "7767517"

_LONGEST_COUNT = 9


class ParamReader:
    """Read one file; raise CompileError with the file and line of the first fault."""

    def __init__(self, file: str, archive: Archive | None) -> None:
        self.graph = Graph(file)
        self.archive = archive

    def read(self, data: bytes) -> Graph:
        """Return the graph that the text describes."""
        lines = data.split(b"\n")
        if lines[0].strip() != MAGIC.encode():
            raise self._fault(1, f"is not a PNNX file, which begins with a line {MAGIC}")
        counts = self._counts(lines[1] if len(lines) > 1 else b"")
        for number, line in enumerate(lines[2:], start=3):
            if line.strip():
                self._operator(self._tokens(line, number), number)
        found = len(self.graph.operators), len(self.graph.operands)
        for has, says, what in zip(found, counts, ("operators", "operands"), strict=True):
            if has != says:
                raise self._fault(2, f"says {says} {what}, the file has {has}")
        return self.graph

    def _counts(self, line: bytes) -> tuple[int, int]:
        tokens = self._tokens(line, 2)
        if len(tokens) != 2 or not all(map(_is_count, tokens)):
            raise self._fault(2, "must be the number of operators and the number of operands")
        return int(tokens[0]), int(tokens[1])

    def _tokens(self, line: bytes, number: int) -> list[str]:
        # Bytes split at ASCII blanks only; strings would split at all that Unicode has.
        try:
            return [token.decode() for token in line.split()]
        except UnicodeDecodeError:
            raise self._fault(number, "is not UTF-8") from None

    def _operator(self, tokens: list[str], number: int) -> None:
        if len(tokens) < 4 or not all(map(_is_count, tokens[2:4])):
            words = "must be: type, name, number of inputs, number of outputs, their names"
            raise self._fault(number, words)
        type, name, inputs, outputs = *tokens[:2], int(tokens[2]), int(tokens[3])
        first, last = 4 + inputs, 4 + inputs + outputs
        try:
            if last > len(tokens):
                has = f"names {len(tokens) - 4} operands"
                raise Invalid(f"says {inputs} inputs and {outputs} outputs, {has}")
            line = _Line(self._new_operator(type, name, number), self.archive)
            for each in tokens[4:first]:
                line.add_input(self._operand(each))
            for each in tokens[first:last]:
                line.add_output(self._new_operand(each))
            for token in tokens[last:]:
                line.add_token(token)
        except Invalid as error:
            raise self._fault(number, f"'{type}' operator '{name}' {error}") from None

    def _new_operator(self, type: str, name: str, number: int) -> Operator:
        try:
            operator = self.graph.add_operator(type, name)
        except CompileError:
            line = self.graph.operator(name).line
            raise Invalid(f"has the name of the operator on line {line}") from None
        operator.line = number
        return operator

    def _operand(self, name: str) -> Operand:
        if name not in self.graph.operands:
            raise Invalid(f"takes operand '{name}', which no operator before it makes")
        return self.graph.operands[name]

    def _new_operand(self, name: str) -> Operand:
        if name in self.graph.operands:
            maker = cast("Operator", self.graph.operands[name].producer)
            where = f"which '{maker.name}' on line {maker.line} makes"
            raise Invalid(f"makes operand '{name}', {where}")
        if "=" in name:
            raise Invalid(f"makes operand '{name}', whose name must not have an '='")
        return self.graph.add_operand(name)

    def _fault(self, line: int, message: str) -> CompileError:
        return CompileError([Diagnostic(f"{self.graph.file}:{line}", message)])


class _Line:
    """One operator while its line is read; inputs and operands are found by their names."""

    def __init__(self, operator: Operator, archive: Archive | None) -> None:
        self.operator = operator
        self.archive = archive
        self.operands: dict[str, Operand] = {}
        self.unnamed: dict[str, list[int]] = {}
        self.slots: set[str] = set()

    def add_input(self, operand: Operand) -> None:
        self.unnamed.setdefault(operand.name, []).append(len(self.operator.inputs))
        self.operands[operand.name] = operand
        self.operator.add_input(operand)

    def add_output(self, operand: Operand) -> None:
        self.operands[operand.name] = operand
        self.operator.add_output(operand)

    def add_token(self, token: str) -> None:
        key, equals, text = token.partition("=")
        if not equals or key in ("", "@", "$", "#"):
            raise Invalid(f"has a token '{token}', must be key=value")
        if key[0] == "@":
            self._attribute(key[1:], text)
        elif key[0] == "$":
            self._slot(key[1:], text)
        elif key[0] == "#":
            self._type(key[1:], text)
        else:
            self._parameter(key, text)

    def _parameter(self, key: str, text: str) -> None:
        if key in self.operator.parameters:
            raise Invalid(f"has parameter '{key}' twice")
        try:
            # Expressions are text in a language of their own, even where they look like a list.
            parameter = Parameter(text, text) if key == "expr" else parse(text)
        except Invalid as error:
            raise Invalid(f"has a parameter '{key}' that {error}") from None
        self.operator.parameters[key] = parameter

    def _slot(self, slot: str, name: str) -> None:
        indices = self.unnamed.get(name)
        if not indices:
            raise Invalid(f"names operand '{name}' as '{slot}', which is not an unnamed input")
        if slot in self.slots:
            raise Invalid(f"has slot '{slot}' twice")
        self.slots.add(slot)
        self.operator.slots[indices.pop(0)] = slot

    def _type(self, name: str, text: str) -> None:
        operand = self.operands.get(name)
        if operand is None:
            raise Invalid(f"has the type of operand '{name}', which it neither takes nor makes")
        try:
            shape, dtype = parse_type(text)
        except Invalid as error:
            raise Invalid(f"has an operand '{name}' that {error}") from None
        if operand.shape is not None and (operand.shape, operand.dtype) != (shape, dtype):
            before = spell_type(operand.shape, operand.dtype)
            raise Invalid(f"has an operand '{name}' of type {text}, must be {before} as before")
        operand.shape, operand.dtype = shape, dtype

    def _attribute(self, key: str, text: str) -> None:
        if key in self.operator.attributes:
            raise Invalid(f"has attribute '{key}' twice")
        try:
            shape, dtype = parse_type(text)
        except Invalid as error:
            raise Invalid(f"has an attribute '{key}' that {error}") from None
        known = tuple(size for size in shape if isinstance(size, int))
        if len(known) != len(shape):
            raise Invalid(f"has an attribute '{key}' that is '{text}', must have a known shape")
        self.operator.attributes[key] = self._weight(key, dtype, known)

    def _weight(self, key: str, dtype: str | None, shape: tuple[int, ...]) -> Attribute:
        entry = f"{self.operator.name}.{key}"
        if dtype is None:
            return Attribute.null(shape)
        if self.archive is None:
            raise Invalid(f"has an attribute '{key}', but there is no .bin file beside this one")
        stored = self.archive.entries.get(entry)
        if stored is None:
            raise Invalid(f"has an attribute '{key}', which {self.archive.path} lacks: '{entry}'")
        attribute = Attribute(dtype, shape, stored)
        if stored.size != attribute.nbytes:
            has = f"'{entry}' of {self.archive.path} has {stored.size} bytes"
            raise Invalid(f"has attribute {key}={attribute}: {attribute.nbytes} bytes, but {has}")
        return attribute


def _is_count(token: str) -> bool:
    return token.isdigit() and token.isascii() and len(token) <= _LONGEST_COUNT
