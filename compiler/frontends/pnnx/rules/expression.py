"""The PNNX rule for expressions."""

from typing import Any

from .....dialects.expression import Formula, Reference, parse
from ...torch.complex_expressions import compute_any
from ...torch.registry import Complex, Value, torch_op
from ..format.operator import Operator

Operand = Value | Complex | bool | int | float | complex | list[Any]
"""An operand of an expression; a list is one only of expressions that forward it."""


@torch_op("pnnx.Expression")
def expression(*operands: Operand, expr: Any, operator: Operator) -> tuple[Any]:
    """Make one op of an expression; a number when it is of numbers alone, a list of a list."""
    formula = parse(operator.parameters["expr"].text)
    made = [_root(Formula((root,)), operands) for root in formula.roots]
    return (made if formula.is_list else made[0],)


def _root(formula: Formula, operands: tuple[Operand, ...]) -> Any:
    symbol = formula.roots[0].symbol
    if isinstance(symbol, Reference) and symbol.index < len(operands):
        return operands[symbol.index]
    return compute_any(formula, operands)
