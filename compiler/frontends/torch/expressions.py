"""Expressions of real operands: one op, or a number where all operands are numbers."""

from collections.abc import Sequence
from typing import Any, cast

from ....dialects import tri
from ....dialects.core.errors import Invalid, Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.expression import (
    Formula,
    Literal,
    Reference,
    evaluate,
    given,
    infer,
    parse,
    renamed,
)
from ..core.values import number, tensor
from .symbolic_expressions import depends_on_symbols, reduced

NUMBERS = (bool, int, float)


def apply(text: str, *operands: Any) -> Any:
    """Compute an expression of tensors and numbers."""
    return compute(parse(text), operands)


def compute(formula: Formula, operands: Sequence[Any]) -> Any:
    """Make one op of an expression with one root; a number, or a list, where it is known."""
    described = [_described(x) for x in operands]
    if depends_on_symbols(described):
        return _computed(formula, operands, described)
    (made,) = evaluate(formula, given(described), infer)
    return _known(made) if _is_known(made) else _op(formula, operands).y


def _computed(formula: Formula, operands: Sequence[Any], described: Sequence[Any]) -> Any:
    """Make an op of what is no size, or of no numbers, in an expression."""
    found = reduced(formula, described)
    if _is_known(found.value):
        return _known(found.value)
    y = _op(found.formula, [*operands, *map(number, found.sizes)]).y
    if tensor(y).dtype != found.value.dtype:
        sizes = ", ".join(map(str, found.sizes))
        raise Unsupported(f"computes {sizes} as {found.value.dtype}, bind the symbols")
    return y


def _is_known(made: Any) -> bool:
    return made is None or is_symbolic(made) or isinstance(made, (*NUMBERS, tuple))


def _known(made: Any) -> Any:
    return list(cast("tuple[int, ...]", made)) if isinstance(made, tuple) else made


def _described(operand: Any) -> Any:
    """Return the type of a tensor; a known value unchanged."""
    return tensor(operand) if isinstance(operand, ir.Value) else operand


def _op(formula: Formula, operands: Sequence[Any]) -> tri.Expression:
    """Make the op of an expression, of those operands alone that it names and that are tensors."""
    leaves: list[Reference | Literal] = []
    values: list[ir.Value] = []
    for index, operand in enumerate(operands):
        if index not in formula.references:
            leaves.append(Literal(None))
        elif isinstance(operand, ir.Value):
            leaves.append(Reference(len(values)))
            values.append(operand)
        elif isinstance(operand, NUMBERS):
            leaves.append(Literal(operand))
        else:
            raise Invalid(f"computes with {operand}, must be a tensor or a number")
    return tri.Expression.build(values, expr=str(renamed(formula, leaves)))
