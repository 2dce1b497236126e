"""The table of decompositions: at most one for each op, for all targets.

    @decomposes(tri.Silu)
    def silu(op: tri.Silu) -> ir.Value:
        return mul(op.x, sigmoid(op.x))

A rule builds ops at the insertion point and returns the value that equals the op's result, or all
values when it has several. It raises `NoMatch`, before it builds anything, to leave the op.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...dialects.core.mlir import ir
from ...dialects.core.op import Op

Results = ir.Value | Sequence[ir.Value]
Rule = Callable[[Any], Results]
AnyRule = TypeVar("AnyRule", bound=Rule)

DECOMPOSITIONS: dict[type[Op], Rule] = {}


def decomposes(cls: type[Op]) -> Callable[[AnyRule], AnyRule]:
    """Register the decorated function as the decomposition of an op."""

    def register(rule: AnyRule) -> AnyRule:
        if cls in DECOMPOSITIONS:
            raise TypeError(f"{cls.op_name} has two decompositions")
        DECOMPOSITIONS[cls] = rule
        return rule

    return register
