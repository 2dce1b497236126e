"""How wide the lanes of masks are.

A comparison of the vector extension makes lanes of -1 and 0 as wide as what it compares. Each mask
has one width: that of its comparison, of the masks that it combines, or of its use.
"""

from collections.abc import Mapping

from ....dialects.core.mlir import ir
from ....dialects.core.module import operations
from .spelling import BYTES, element_of

_COMBINED = ("arith.andi", "arith.ori", "arith.xori")
_USED = {"vector.maskedstore": -1, "arith.select": 1, "vector.scatter": -1}
"""Ops that use a mask, and the operand that it is as wide as."""


def mask_widths(function: ir.Operation) -> Mapping[ir.Value, int]:
    """Return the bytes of a lane of each mask of a function, where these are not 4."""
    widths: dict[ir.Value, int] = {}
    for op in operations(function):
        if op.name.startswith("scf."):
            continue  # results share variables with the arguments of blocks
        for value in op.results:
            if isinstance(value.type, ir.VectorType) and element_of(value.type) == "i1":
                widths[value] = _width(op, value, widths)
    return widths


def _width(op: ir.Operation, value: ir.Value, widths: Mapping[ir.Value, int]) -> int:
    if op.name in ("arith.cmpf", "arith.cmpi"):
        return _bytes(op.operands[0], widths)
    if op.name in _COMBINED or op.name == "arith.select":
        known = (widths[each] for each in op.operands if each in widths)
        return next(known, 4)
    for use in value.uses:
        user = use.owner.operation
        if user.name in _USED:
            return _bytes(user.operands[len(user.operands) - 1 if _USED[user.name] < 0 else 1], {})
        if user.name in ("vector.maskedload", "vector.gather"):
            return _bytes(user.results[0], {})
        if user.name in _COMBINED:
            return next((widths[each] for each in user.operands if each in widths), 4)
    return 4


def _bytes(value: ir.Value, widths: Mapping[ir.Value, int]) -> int:
    return widths.get(value) or BYTES.get(element_of(value.type), 4)
