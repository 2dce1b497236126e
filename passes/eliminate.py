"""Remove ops that do nothing and ops that nobody needs."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

from ..dialects import tri
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops
from ..dialects.core.op import Op
from .core import Pass
from .rewriting import NoMatch, Pattern, Rewriter, rewrite, uses


class Eliminate(Pass):
    """Remove ops that return an operand unchanged, unused ops, and unused weights.

    %y = tri.reshape %x to its own shape; %z = tri.relu %y   =>   %z = tri.relu %x
    """

    def run(self, module: Module) -> None:
        rewrite(module, *(pattern() for pattern in IDENTITIES))
        remove_unused(module)


def remove_unused(module: Module) -> None:
    """Remove pure ops without uses, and weights that no op names."""
    for op in reversed(ops(module.operation)):
        if op.pure and not op.terminator and not any(map(uses, op.results)):
            op.operation.erase()
    names = {op.name for op in ops(module.operation) if isinstance(op, tri.Weight)}
    for name in [name for name in module.weights if name not in names]:
        del module.weights[name]


class Identity(Pattern):
    """Base of patterns that replace an op by an operand that equals its result."""

    def operand(self, op: Any, rewriter: Rewriter) -> ir.Value:
        """Return the operand; raise NoMatch when the op changes it."""
        raise NoImplementation

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        operand = self.operand(op, rewriter)
        if operand.type != op.results[0].type:
            raise NoMatch(f"changes the type from {operand.type} to {op.results[0].type}")
        rewriter.replace(op, [operand])


NoImplementation = NotImplementedError
IDENTITIES: list[type[Identity]] = []

Condition = Callable[[Any], bool]
