"""Calls: what a program does for each op of a model's function."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ...dialects.core.tensor import Tensor


@dataclass(frozen=True)
class Scratch:
    """Ask for memory that a call needs while it runs; private memory for each of its threads."""

    tensor: Tensor
    private: bool = False


@dataclass(frozen=True)
class Call:
    """Do what an op of the model's function says; `scratch` is memory it needs meanwhile.

    The op is a group, a launch of a kernel, a copy, or a branch or loop with `bodies`. Calls that
    follow one another and have the same number `concurrent`, other than 0, may be made at the same
    time.
    """

    op: Op
    operands: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]
    scratch: tuple[Scratch, ...] = ()
    bodies: "tuple[BodyCalls, ...]" = ()
    concurrent: int = 0

    @staticmethod
    def of(op: Op, scratch: Sequence[Scratch] = ()) -> "Call":
        """Return the call of an op with all its operands and results."""
        return Call(op, tuple(op.operation.operands), tuple(op.results), tuple(scratch))


@dataclass(frozen=True)
class BodyCalls:
    """List what a body does, in order."""

    block: ir.Block
    calls: tuple[Call, ...]


NumberedCall = tuple[int, Call]
"""A call and its position in the program."""
