"""Graphs as listings: a line for each op, with names and sizes of all that it reads and makes.

The form is that of ONNC (Lin et al., "ONNC: A Compilation Framework Connecting ONNX to Proprietary
Deep Learning Accelerators", 2019): `%y<f32>[1, 8] = Op<attribute: 1>(%x<f32>[1, 8])`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from ...dialects import tri
from ...dialects.core.location import value_names
from ...dialects.core.mlir import ir
from ...dialects.core.op import view
from ...dialects.core.tensor import Tensor

_INDENT = "  "


def listing(module: ir.Operation) -> str:
    """Return the listing of all that a module holds, constants without their numbers."""
    names = _Names()
    return "\n".join(
        line
        for operation in module.regions[0].blocks[0].operations
        for line in _lines(operation.operation, names)
    )


class _Names:
    """Name values: as the model does, or by a number; no two are called the same."""

    def __init__(self) -> None:
        self._names: dict[ir.Value, str] = {}
        self._taken: set[str] = set()

    def define(self, value: ir.Value, given: Sequence[str] = ()) -> str:
        """Name a value that an op makes, and return it with its type."""
        wanted = given[0] if given and given[0] else str(len(self._names))
        name, count = wanted, 0
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._names[value] = name
        self._taken.add(name)
        return self.spelt(value)

    def spelt(self, value: ir.Value) -> str:
        return f"%{self._names[value]}{_spelt_type(value.type)}"


def _lines(operation: ir.Operation, names: _Names) -> Iterator[str]:
    """Yield the line of an op, then those of its nested ops."""
    function = operation.name == "func.func"
    if function:
        yield f"{operation.attributes['sym_name'].value} {{"
    else:
        own = value_names(operation.location)
        made = [names.define(v, own[i : i + 1]) for i, v in enumerate(operation.results)]
        head = f"{', '.join(made)} = " if made else ""
        read = ", ".join(map(names.spelt, operation.operands))
        yield f"{head}{_called(operation)}({read}){' {' if len(operation.regions) else ''}"
    for block in (block for region in operation.regions for block in region.blocks):
        for argument in block.arguments:
            made = names.define(argument, value_names(argument.location))
            yield f"{_INDENT}{made} = {'InputOperator' if function else 'Argument'}()"
        for inner in block.operations:
            yield from (_INDENT + line for line in _lines(inner.operation, names))
    if len(operation.regions):
        yield "}"


def _spelt_type(type_: ir.Type) -> str:
    if not isinstance(type_, ir.RankedTensorType):
        return f"<{type_}>"
    sizes = [str(n) if n >= 0 else "?" for n in type_.shape]
    return f"<{type_.element_type}>[{', '.join(sizes)}]"


def _called(operation: ir.Operation) -> str:
    """Return the name of an op with its attributes, defaults included."""
    op = view(operation)
    if isinstance(op, (tri.Constant, tri.Weight)):
        return "Initializer"
    if operation.name == "func.return":
        return "OutputOperator"
    if op is None:
        return operation.name
    shown = ", ".join(f"{name}: {_spelt(value)}" for name, value in op.attributes.items())
    return f"{op.op_name}<{shown}>" if shown else op.op_name


def _spelt(value: Any) -> str:
    """Spell the value of an attribute."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(map(_spelt, cast('tuple[Any, ...]', value)))}]"
        case int() | float() | Tensor() | None:
            return str(value)
        case _:
            return f"{Tensor.of(value)}"
