"""The order in which LLVM has the operands of a sum, by which it chooses the product to fuse.

Source: LLVM's pass Reassociate, `BuildRankMap`, `getRank` and `canonicalizeOperands`: what touches
memory is numbered within its block, all else has one more than the greatest of its operands, and
the operand of the lower rank comes first.
"""

from collections.abc import Iterable
from typing import Any

from ....dialects.core.mlir import ir
from .attributes import defining_op

_MEMORY = (
    "memref.",
    "vector.load",
    "vector.store",
    "vector.mask",
    "vector.gather",
    "scf.",
    "func.",
)


class Ranks:
    """Rank values among those of the same block; values of other blocks come before all."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, int] = {}

    def order(self, products: Iterable[ir.Value]) -> list[ir.Value]:
        """Return results of a block, the one of the lowest rank first."""
        return sorted(products, key=self._of)

    def _of(self, value: ir.Value) -> int:
        if value not in self._known:
            op = defining_op(value)
            assert op is not None
            self._known |= _ranks(op.block)
        return self._known[value]


def _ranks(block: Any) -> dict[ir.Value, int]:
    """Rank all results in a block."""
    ranks: dict[ir.Value, int] = {}
    touching = 0
    for op in block.operations:
        each = op.operation
        if each.name.startswith(_MEMORY):
            touching += 1
            rank = touching
        else:
            rank = max((ranks.get(value, 0) for value in each.operands), default=0)
            rank += each.name != "arith.negf"
        ranks |= dict.fromkeys(each.results, rank)
    return ranks
