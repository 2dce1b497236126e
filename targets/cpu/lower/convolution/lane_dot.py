"""Lowering of depthwise convolution of bytes: words of neighbouring pixels, channels in lanes.

Four pixels of a block are one vector in memory. Its bytes, turned, are a word for each channel,
and one dot product adds four taps of a line.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .....dialects import cpu
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import DTYPES
from .....dialects.cpu.vnni import BYTES, VNNI, products_of, vnni_count
from ...kernels.buffer import Buffer, Lanes, storage_type, vector
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, carry_nest, unravel
from ...kernels.loops import Piece, Section, spread
from ...kernels.products.dot import Dot, choose_dot
from ...kernels.products.vnni import flipped
from ...kernels.runs import Rows, Run, cut_rows
from ...kernels.value import Value
from ...registry import LANE_DOTS, template

UNROLLED = 9
"""The most lines of a window that are unrolled."""


@template(cpu.LaneDotConv, types=LANE_DOTS)
def lower_lane_dot_conv(
    op: cpu.LaneDotConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer, y: Epilogue
) -> None:
    batch, blocks, *rows, width, lanes = y.shape
    # Blocks may be shorter than the machine's vectors: dot products are of theirs.
    machine = replace(kernel.machine, vector_bytes=lanes * DTYPES[VNNI].itemsize)
    dot = choose_dot(machine, x.dtype, op.signed)
    work = _LaneDotConv(op, x, w, y, dot)
    most = max(1, kernel.machine.registers * kernel.machine.lanes(32) // lanes * 7 // 16)
    runs = _cut(width, work.shared, most)

    def enter(at: list[IndexExpr]) -> list[Piece]:
        start = b.load([at[1] * lanes], work.lanes)

        def row(number: IndexExpr) -> None:
            place = unravel(number, rows)
            for run in runs:
                run.each(lambda pixels: work.tile([*at, *place], pixels, start))

        return [Piece(math.prod(rows), row)]

    spread(Section((batch, blocks), math.prod(rows), enter))


def _cut(width: int, shared: int, most: int) -> list[Run]:
    """Cut a line into tiles that begin where results begin to share words."""
    if width <= most:
        return cut_rows(width, 1, most)
    whole = width - width % shared
    rest = Run(1, lambda _, body: body(Rows(IndexExpr(whole), width - whole)))
    tiles = cut_rows(whole, shared, max(most, shared)) if whole else []
    return [*tiles, *([rest] if width > whole else [])]


@dataclass(frozen=True)
class _LaneDotConv:
    op: cpu.LaneDotConv
    x: Buffer
    w: Buffer
    y: Epilogue
    dot: Dot

    @property
    def lanes(self) -> Lanes:
        return Lanes(self.w.shape[-1])

    @property
    def shared(self) -> int:
        """The number of neighbouring results that see the same words."""
        return self.w.shape[1]

    @property
    def starts(self) -> range:
        """The first pixels of the words that a result sees."""
        return range(0, vnni_count(self.op.kernel[-1], BYTES) * BYTES, BYTES)

    def tile(self, at: Sequence[IndexExpr], pixels: Rows, start: Value) -> None:
        """Compute neighbouring pixels of the line at [image, block, rows…]."""
        lines = self.op.kernel[:-1]

        def line(tap: Sequence[IndexExpr], sums: list[Value]) -> list[Value]:
            return self._line(at, pixels.first, tap, sums)

        sums = [start] * pixels.count
        if math.prod(lines) <= UNROLLED:
            for number in range(math.prod(lines)):
                sums = line(unravel(IndexExpr(number), lines), sums)
        else:
            sums = carry_nest(lines, sums, line)
        for i, total in enumerate(sums):
            self.y.store(total, [*at, pixels.first + i, IndexExpr(0)], self.lanes)

    def _line(
        self,
        at: Sequence[IndexExpr],
        first: IndexExpr,
        tap: Sequence[IndexExpr],
        sums: Sequence[Value],
    ) -> list[Value]:
        """Add the products of one line of the windows."""
        image, block, *place = at
        *strides, step = self.op.strides
        row = [p * stride + t for p, t, stride in zip(place, tap, strides, strict=True)]
        number = IndexExpr(0)
        for t, size in zip(tap, self.op.kernel[:-1], strict=True):
            number = number * size + t
        words: dict[int, Value] = {}
        made: list[Value] = []
        for i, total in enumerate(sums):
            share, place_in_words = divmod(i, self.shared)
            for j, offset in enumerate(self.starts):
                column = share * self.shared * step + offset
                if column not in words:
                    words[column] = self._word([image, block, *row, first * step + column])
                at_word = number * len(self.starts) + j
                factor = self.w.load(
                    [block, IndexExpr(place_in_words), at_word, IndexExpr(0)], self.lanes
                )
                total = self.dot(words[column], factor, total)
            made.append(total)
        return made

    def _word(self, at: Sequence[IndexExpr]) -> Value:
        """Load four neighbouring pixels, as one word of each channel."""
        lanes = self.lanes.width
        type_ = ir.VectorType.get([lanes * BYTES], storage_type(self.x.dtype))
        loaded = vector.load(type_, self.x.memory, [self.x.position([*at, IndexExpr(0)]).ssa])
        turned = [pixel * lanes + lane for lane in range(lanes) for pixel in range(BYTES)]
        bytes_ = vector.shuffle(loaded, loaded, turned)
        word = Value(
            vector.bitcast(ir.VectorType.get([lanes], ir.IntegerType.get_signless(32)), bytes_),
            VNNI,
        )
        return flipped(word) if products_of(self.x.tensor, self.op.signed).offset else word
