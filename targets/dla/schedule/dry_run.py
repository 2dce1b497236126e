"""Run tiling rules without writing ops: to check that tiles fit, or to count what they move."""

from dataclasses import dataclass
from typing import Any

from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import BufferType
from .tiler import Tiler


@dataclass
class DryRun(Tiler):
    """Base of tilers that write nothing; a subclass inspects each op in `put`."""

    @property
    def placeholder(self) -> ir.Value:
        """Return the value that is used in place of each buffer."""
        return self.outside.results[0]

    def alloc(self, buffer: BufferType) -> ir.Value:
        return self.placeholder

    def constant(self, array: Array, hint: str) -> ir.Value:
        return self.placeholder

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        raise NotImplementedError
