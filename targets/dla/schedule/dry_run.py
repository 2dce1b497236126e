"""Go through the tiles of ops without writing any: to see whether they fit, or what they move."""

from dataclasses import dataclass
from typing import Any

from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import Buffer
from .tiler import Tiler


@dataclass
class Trial(Tiler):
    """Base of tilers that write nothing; `put` sees what others would write."""

    @property
    def stand_in(self) -> ir.Value:
        """Return what stands for each buffer."""
        return self.outside.results[0]

    def alloc(self, buffer: Buffer) -> ir.Value:
        return self.stand_in

    def constant(self, array: Array, hint: str) -> ir.Value:
        return self.stand_in

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        raise NotImplementedError
