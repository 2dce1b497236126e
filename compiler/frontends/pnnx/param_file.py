"""Read and write `.pnnx.param`: one operator a line, and the weights in the zip beside it."""

from functools import partial
from os import PathLike
from pathlib import Path
from typing import cast

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from .archive import Archive, ArchiveWriter
from .attributes import Attribute, parse_shape, spell_shape
from .graph import Graph, Operand, Operator
from .parameters import Parameter, parse

MAGIC = "7767517"


def read_pnnx(source: str | PathLike[str], bin_path: str | PathLike[str] | None = None) -> Graph:
    """Read a PNNX model: a `.param` file, or its text, and the `.bin` with its weights.

    Without `bin_path` the `.bin` beside the file is taken. Weights stay in it until they are asked
    for. Raises CompileError with file and line for everything that is wrong in either file.
    """
    if isinstance(source, str) and "\n" in source:
        return _Reader("<text>", None if bin_path is None else Path(bin_path)).read(source.encode())
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CompileError([Diagnostic(str(path), f"cannot be read: {error.strerror}")]) from None
    return _Reader(str(path), Path(bin_path) if bin_path else _beside(path)).read(data)


def write_pnnx(
    graph: Graph, param_path: str | PathLike[str], bin_path: str | PathLike[str]
) -> None:
    """Write a graph to a pair of files; what was read and not changed has the same bytes again."""
    weights = ArchiveWriter(Path(bin_path))
    lines = [MAGIC, f"{len(graph.operators)} {len(graph.operands)}"]
    for operator in graph.operators:
        lines.append(_line(operator))
        for key, attribute in operator.attributes.items():
            data = attribute.raw() if attribute.dtype else memoryview(b"")
            weights.write(f"{operator.name}.{key}", data)
    weights.close()
    Path(param_path).write_bytes("\n".join([*lines, ""]).encode(errors="surrogateescape"))


def _beside(path: Path) -> Path | None:
    return path.with_suffix(".bin") if path.suffix == ".param" else None


class _Reader:
    def __init__(self, file: str, bin_path: Path | None) -> None:
        self.graph = Graph(file)
        self.bin_path = bin_path
        self._archive: Archive | None = None

    def read(self, data: bytes) -> Graph:
        lines = data.split(b"\n")
        self._magic(lines[0])
        counts = self._counts(lines[1] if len(lines) > 1 else b"")
        for number, line in enumerate(lines[2:], start=3):
            if tokens := line.split():
                self._operator([t.decode(errors="surrogateescape") for t in tokens], number)
        found = len(self.graph.operators), len(self.graph.operands)
        for has, says, what in zip(found, counts, ("operators", "operands"), strict=True):
            if has != says:
                raise self._fault(2, f"says {says} {what}, the file has {has}")
        return self.graph

    def _magic(self, line: bytes) -> None:
        if line.strip() != MAGIC.encode():
            raise self._fault(1, f"is not a PNNX file, which begins with a line {MAGIC}")

    def _counts(self, line: bytes) -> tuple[int, int]:
        counts = line.split()
        if len(counts) != 2 or not all(map(_is_count, counts)):
            raise self._fault(2, "must be the number of operators and the number of operands")
        return int(counts[0]), int(counts[1])

    def _operator(self, tokens: list[str], number: int) -> None:
        if len(tokens) < 4 or not all(map(_is_count, tokens[2:4])):
            words = "must be: type name, number of inputs, number of outputs, their names"
            raise self._fault(number, words)
        type, name, inputs, outputs = *tokens[:2], int(tokens[2]), int(tokens[3])
        first, last = 4 + inputs, 4 + inputs + outputs
        try:
            if last > len(tokens):
                raise Invalid(
                    f"says {inputs} inputs and {outputs} outputs, names {len(tokens) - 4}"
                )
            operator = self._new(type, name)
            operator.line = number
            for each in tokens[4:first]:
                operator.add_input(self._operand(each))
            for each in tokens[first:last]:
                self._new_output(operator, each)
            for token in tokens[last:]:
                self._token(operator, token)
        except Invalid as error:
            raise self._fault(number, f"'{type}' operator '{name}' {error}") from None

    def _new(self, type: str, name: str) -> Operator:
        try:
            return self.graph.add_operator(type, name)
        except CompileError:
            line = self.graph.operator(name).line
            raise Invalid(f"has the name of the operator on line {line}") from None

    def _operand(self, name: str) -> Operand:
        if name not in self.graph.operands:
            raise Invalid(f"takes operand '{name}', which no operator before it makes")
        return self.graph.operands[name]

    def _new_output(self, operator: Operator, name: str) -> None:
        if name in self.graph.operands:
            maker = cast("Operator", self.graph.operands[name].producer)
            raise Invalid(
                f"makes operand '{name}', which '{maker.name}' makes on line {maker.line}"
            )
        operator.add_output(self.graph.add_operand(name))

    def _token(self, operator: Operator, token: str) -> None:
        key, equals, text = token.partition("=")
        if not equals or not key.strip("@$#"):
            raise Invalid(f"has a token '{token}', must be key=value")
        if key[0] == "@":
            self._attribute(operator, key[1:], text)
        elif key[0] == "$":
            _slot(operator, key[1:], text)
        elif key[0] == "#":
            _type(operator, key[1:], text)
        else:
            _parameter(operator, key, text)

    def _attribute(self, operator: Operator, key: str, text: str) -> None:
        if key in operator.attributes:
            raise Invalid(f"has attribute '{key}' twice")
        try:
            shape, dtype = parse_shape(text)
            if not all(isinstance(size, int) for size in shape):
                raise Invalid(f"is '{text}', must have a known shape")
        except Invalid as error:
            raise Invalid(f"has an attribute '{key}' which {error}") from None
        entry = f"{operator.name}.{key}"
        known = cast("tuple[int, ...]", shape)
        archive = self._open() if dtype else None
        load = partial(archive.read, entry) if archive else lambda: memoryview(b"")
        attribute = Attribute(dtype, known, load)
        if archive and entry not in archive.entries:
            raise Invalid(f"has an attribute '{key}', but {archive.path} has no entry '{entry}'")
        if archive and archive.entries[entry].size != attribute.nbytes:
            has = archive.entries[entry].size
            raise Invalid(
                f"has an attribute '{key}' of {text}, {attribute.nbytes} bytes, "
                f"but entry '{entry}' of {archive.path} has {has}"
            )
        operator.attributes[key] = attribute

    def _open(self) -> Archive:
        if self.bin_path is None:
            raise Invalid("has weights, but there is no .bin file: give its path")
        if self._archive is None:
            self._archive = Archive(self.bin_path)
        return self._archive

    def _fault(self, line: int, message: str) -> CompileError:
        return CompileError([Diagnostic(f"{self.graph.file}:{line}", message)])


def _is_count(token: str | bytes) -> bool:
    return token.isdigit() and token.isascii() and len(token) < 10


def _slot(operator: Operator, slot: str, name: str) -> None:
    for index, operand in enumerate(operator.inputs):
        if operand.name == name and not operator.slots[index]:
            operator.slots[index] = slot
            return
    raise Invalid(f"has a slot '{slot}' for operand '{name}', which is not one of its inputs")


def _type(operator: Operator, name: str, text: str) -> None:
    operands = (o for o in (*operator.inputs, *operator.outputs) if o.name == name)
    operand = next(operands, None)
    if operand is None:
        raise Invalid(f"has the type of operand '{name}', which it neither takes nor makes")
    try:
        shape, dtype = parse_shape(text)
    except Invalid as error:
        raise Invalid(f"has an operand '{name}' which {error}") from None
    if operand.shape is not None and (operand.shape, operand.dtype) != (shape, dtype):
        before = spell_shape(operand.shape, operand.dtype)
        raise Invalid(f"has an operand '{name}' of {text}, which is {before} in lines before")
    operand.shape, operand.dtype = shape, dtype


def _parameter(operator: Operator, key: str, text: str) -> None:
    if key in operator.parameters:
        raise Invalid(f"has parameter '{key}' twice")
    # Expressions are text in a language of their own, even where they look like a list.
    operator.parameters[key] = Parameter(text, text) if key == "expr" else parse(text)


def _line(operator: Operator) -> str:
    counts = f"{len(operator.inputs)} {len(operator.outputs)}"
    tokens = [f"{operator.type:<24} {operator.name:<24} {counts}"]
    tokens += [operand.name for operand in (*operator.inputs, *operator.outputs)]
    tokens += [f"{key}={p.text}" for key, p in operator.parameters.items()]
    tokens += [f"@{k}={spell_shape(a.shape, a.dtype)}" for k, a in operator.attributes.items()]
    slots = zip(operator.slots, operator.inputs, strict=True)
    tokens += [f"${slot}={operand.name}" for slot, operand in slots if slot]
    for operand in (*operator.inputs, *operator.outputs):
        if operand.shape is not None:
            tokens.append(f"#{operand.name}={spell_shape(operand.shape, operand.dtype)}")
    return " ".join(tokens)
