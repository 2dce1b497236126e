"""Bands: lines of a large image of halves that are widened together, and then read by all panels.

A band and the kernels are in the near caches, where a copy of the whole image would not be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects import cpu
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.tensor import Shape, Tensor
from .....dialects.cpu.packing import even_split
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.index import IndexExpr
from ...kernels.loops import Piece, Section, spread
from ...kernels.products.contraction import Contraction
from ...kernels.widened import copy_elements
from ...schedule.costs import kept_bytes
from ...schedule.tiles import Tile

Make = Callable[[Buffer, Sequence[IndexExpr], IndexExpr, int], Contraction]
"""Return the contraction of some lines of the result, given the lines that they read as an image.

It is also given the numbers of the image and of the group, the first line, and their count.
"""


@dataclass(frozen=True)
class Bands:
    """Cut a convolution into bands of about as many lines of the result each."""

    kernel: KernelBuilder
    op: cpu.BlockedConv
    x: Buffer  # [batch, blocks, lines, width, lanes]
    lines: int
    most: int

    @classmethod
    def of(
        cls, op: cpu.BlockedConv, kernel: KernelBuilder, x: Buffer, w: Buffer, y: Shape
    ) -> "Bands | None":
        """Return the bands of an image of halves; None where a copy of it is small, or kernels big.

        Images whose sizes change from run to run have none, nor those with a border.
        """
        if x.dtype == compute_dtype(x.dtype) or op.border:
            return None
        if len(op.kernel) != 2 or len(x.shape) != 5:
            return None
        if any(map(is_symbolic, (*x.shape[1:], *y[1:]))):
            return None
        kept = kept_bytes(kernel.machine)
        wide = Tensor(x.shape[1:], compute_dtype(x.dtype)).size_bytes
        if wide <= kept or w.tensor.size_bytes > kept:
            return None
        of_line = wide // x.shape[2] // op.group
        room = kept // 2 // of_line
        most = (room - (op.kernel[0] - 1) * op.dilations[0] - 1) // op.strides[0] + 1
        return cls(kernel, op, x, int(y[2]), most) if most >= LEAST else None

    def emit(self, tile: Tile, make: Make) -> None:
        """Emit independent iterations over bands and panels."""
        large, small, many, few = even_split(self.lines, self.most)
        memory = self.kernel.private(self._shape(large), compute_dtype(self.x.dtype))
        sections = [
            self._section(memory, tile, make, many, large, 0),
            self._section(memory, tile, make, few, small, many * large),
        ]
        spread(*(section for section in sections if section.iterations != 0))

    def _section(
        self, memory: Buffer, tile: Tile, make: Make, times: int, lines: int, offset: int
    ) -> Section:
        band = Buffer(memory.memory, Tensor(self._shape(lines), memory.dtype))

        def enter(at: Sequence[IndexExpr]) -> list[Piece]:
            first = at[2] * lines + offset
            self._widen(band, at, first)
            panels = make(band, at, first, lines).own_sections(tile)
            return [section.as_piece() for section in panels]

        panels = ceildiv(self.op.outputs // self.op.group, tile.columns)
        return Section((self.x.shape[0], self.op.group, times), panels, enter)

    def _shape(self, lines: int) -> Shape:
        """Return the shape of the image that some lines of the result read."""
        _, blocks, _, width, lanes = self.x.shape
        reach = (self.op.kernel[0] - 1) * self.op.dilations[0]
        return (
            1,
            blocks // self.op.group,
            (lines - 1) * self.op.strides[0] + reach + 1,
            width,
            lanes,
        )

    def _widen(self, band: Buffer, at: Sequence[IndexExpr], first: IndexExpr) -> None:
        number, group, _ = at
        _, blocks, *_ = band.shape
        starts = [number, group * blocks, first * self.op.strides[0], *[IndexExpr(0)] * 2]
        origin = self.x.position(starts)
        source = Buffer(self.x.memory, Tensor(band.shape, self.x.dtype), self.x.strides, origin)
        copy_elements(self.kernel, source, band)


LEAST = 2
"""The fewest lines of a band: of fewer, windows would be widened again and again."""
