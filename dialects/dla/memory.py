"""Allocation of buffers, and transfers between DRAM and on-chip memories."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.mlir import ir
from ..core.op import Op
from ..core.tensor import Array, Shape
from .access import Access
from .buffers import BufferOp
from .dialect import DLA, need_byte
from .types import (
    ACTIVATIONS,
    OUTPUTS,
    REGIONS,
    SRAM,
    WEIGHTS,
    BufferType,
    buffer_of,
    memref_of,
)

ORIGIN = (0, 0, 0, 0)


class Alloc(Op, dialect=DLA):
    """Allocate a buffer; in scheduled form it has an address in its memory."""

    address: int = -1
    buffer: Result

    pure = False

    @staticmethod
    def make(buffer: BufferType, loc: ir.Location | None = None) -> "Alloc":
        """Create the op at the current insertion point, without an address."""
        made = Alloc.create([], [memref_of(buffer)], {}, loc=loc)
        del made.operation.attributes["address"]
        return made

    def verify(self) -> None:
        self.check_attributes()
        self.operand_groups()
        (result,) = self.result_groups()
        space = buffer_of(result.type).space
        if space in REGIONS and space != ACTIVATIONS:
            raise Invalid(f"allocates a buffer in {space}, whose buffers are arguments")
        if self.address < -1:
            raise Invalid(f"address is {self.address}, must not be negative")


class BetweenImages(BufferOp, abstract=True):
    """Base of ops that read a window of images at `source` and write one at `destination`."""

    source: Operand
    destination: Operand
    source_at: tuple[int, ...] = ORIGIN
    destination_at: tuple[int, ...] = ORIGIN
    rows: int
    columns: int
    channels: int

    def written(self, atom: int) -> Shape:
        """Return the rows, columns and channels that are written, for atoms of channels."""
        return self.rows, self.columns, self.channels

    def accesses(self, atom: int) -> tuple[Access, ...]:
        sizes, written = (self.rows, self.columns, self.channels), self.written(atom)
        return (
            Access("source", self.source_at, sizes),
            Access("destination", self.destination_at, written, reads=False, writes=True),
        )


class Load(BetweenImages):
    """Copy a window of images from DRAM; rows and columns around it are set to `fill`."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0
    fill: int = 0

    packet = "load"
    spaces: ClassVar = {"source": REGIONS, "destination": (SRAM,)}

    def written(self, atom: int) -> Shape:
        rows, columns = self.top + self.rows + self.bottom, self.left + self.columns + self.right
        return rows, columns, self.channels

    def check(self) -> None:
        if min(self.top, self.bottom, self.left, self.right) < 0:
            raise Invalid("borders are negative")
        need_byte("fill", self.fill)

    def execute(self, windows: Mapping[str, Array]) -> None:
        target = windows["destination"]
        target[:] = self.fill
        rows, columns = self.top + self.rows, self.left + self.columns
        target[self.top : rows, self.left : columns] = windows["source"]


class LoadWeights(BufferOp):
    """Copy bytes from DRAM to the memory of weights and tables."""

    source: Operand
    destination: Operand
    source_at: int = 0
    destination_at: int = 0
    length: int

    packet = "load_weights"
    spaces: ClassVar = {"source": REGIONS, "destination": (WEIGHTS,)}

    def accesses(self, atom: int) -> tuple[Access, ...]:
        return (
            Access("source", (self.source_at,), (self.length,)),
            Access("destination", (self.destination_at,), (self.length,), reads=False, writes=True),
        )

    def execute(self, windows: Mapping[str, Array]) -> None:
        windows["destination"][:] = windows["source"]


class Store(BetweenImages):
    """Copy a window of images to DRAM."""

    packet = "store"
    spaces: ClassVar = {"source": (SRAM,), "destination": (OUTPUTS, ACTIVATIONS)}

    def execute(self, windows: Mapping[str, Array]) -> None:
        windows["destination"][:] = windows["source"]


def uninitialised(size: int) -> Array:
    """Return memory with a pattern that reveals reads before writes."""
    return np.full(size, -86, np.int8)
