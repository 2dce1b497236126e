"""Find results that may take the place of an operand: what works value by value allows it."""

from collections.abc import Sequence

from ....dialects import dla
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from .alias_analysis import Joins

BY_VALUE = (dla.Eltwise, dla.Lookup, dla.Copy)
"""Ops whose tiles may write a window over the same one that they read."""


def replaced(members: Sequence[Op], joins: Joins) -> dict[ir.Value, list[ir.Value]]:
    """Return the operands in whose place each result may be: in that of the first that stays.

    They are of the result's sizes, and neither they nor parts of them are used after the op. A part
    of something else has its place there, which is no one else's.
    """
    last = {value: n for n, op in enumerate(members) for value in op.operation.operands}

    def dead(value: ir.Value, number: int) -> bool:
        return all(last.get(each, number) <= number for each in joins.family(value))

    return {
        op.results[0]: [
            value
            for value in op.operation.operands
            if value.type == op.results[0].type and value not in joins.parts and dead(value, number)
        ]
        for number, op in enumerate(members)
        if isinstance(op, BY_VALUE) and op.results[0] not in joins.parts
    }
