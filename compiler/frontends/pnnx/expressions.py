"""Expressions of real operands: one op, or a number where all operands are numbers."""

from collections.abc import Sequence
from typing import Any, cast

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
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
from ..core.values import tensor

NUMBERS = (bool, int, float)


def apply(text: str, *operands: Any) -> Any:
    """Compute an expression of tensors and numbers."""
    return compute(parse(text), operands)


def compute(formula: Formula, operands: Sequence[Any]) -> Any:
    """Make one op of an expression with one root; a number, or a list, where it is known."""
    (made,) = evaluate(formula, given([_described(x) for x in operands]), infer)
    if isinstance(made, tuple):
        return list(cast("tuple[int, ...]", made))
    return made if made is None or isinstance(made, NUMBERS) else _op(formula, operands).y


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
