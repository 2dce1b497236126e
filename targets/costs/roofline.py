"""A roofline estimate of how long ops take: bound by arithmetic or by memory.

Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009.
"""

from dataclasses import dataclass

from ...dialects.core.attributes import tensor_of
from ...dialects.core.op import Op
from .flops import flops


@dataclass(frozen=True)
class Roofline:
    """Hold the peak rates of a target, and what it takes to start one kernel."""

    flops_per_second: float
    bytes_per_second: float
    start_seconds: float = 0.0

    def seconds(self, op: Op) -> float:
        """Return how long an op takes as a kernel of its own."""
        values = (*op.operation.operands, *op.results)
        moved = sum(tensor_of(value.type).likely.size_bytes for value in values)
        bound = max(flops(op) / self.flops_per_second, moved / self.bytes_per_second)
        return self.start_seconds + bound
