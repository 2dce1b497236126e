"""Simplify the arithmetic of indices."""

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....passes.core import Pass
from ..kernels.cleanup import clean_up
from ..kernels.value import full
from ..schedule.intervals import Intervals


class SimplifyIndices(Pass):
    """Replace quotients and remainders of integers that are known from the kernel's block sizes.

    %r = tile.binary %i, %c {remainder} with 0 <= %i < %c   =>   %i
    %q = tile.binary %i, %c {quotient} with 0 <= %i < %c    =>   0
    """

    def run(self, module: Module) -> None:
        with module.operation.context, ir.Location.unknown():
            for kernel in tile.kernels_of(module.operation):
                _simplify(kernel)
                clean_up(kernel.block)


def _simplify(kernel: tile.Kernel) -> None:
    intervals = Intervals(kernel)
    for op in ops(kernel.block):
        if not isinstance(op, tile.Binary) or op.function not in ("quotient", "remainder"):
            continue
        a, b, y = (intervals.of(value) for value in (op.a, op.b, op.y))
        if op.function == "remainder" and a and b and a[0] >= 0 and a[1] < b[0]:
            op.y.replace_all_uses_with(op.a)
        elif op.function == "quotient" and y == (0, 0):
            with ir.InsertionPoint(op.operation):
                zero = full(0, "i32").broadcast_to(op.plain_type(op.y.type).shape)
            op.y.replace_all_uses_with(zero.value)
