"""Lowering of convolution whose groups are inside a vector: each lane reads its own group.

A tile is a few neighbouring pixels of one block. Where a group is one channel, lanes are
multiplied as they are; otherwise each channel of the groups is repeated in the lanes of its group.
"""

import math
from collections.abc import Sequence

from .....dialects import cpu
from .....dialects.core.machine import Factors, Machine
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import DTYPES
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, vector, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.halves import code_has
from ...kernels.index import IndexExpr, carry_nest, unravel
from ...kernels.loops import Piece, Section, spread
from ...kernels.products.dot import Dot, choose_dot, find_instruction
from ...kernels.products.vnni import load_words
from ...kernels.runs import Rows, cut_rows
from ...kernels.value import Value
from ...registry import IMAGES, template

UPPER = -0x10000
"""A word whose second half is all ones."""

AHEAD = 8 << 10
"""How many bytes before they are written results are prefetched."""

UNROLLED = 9
"""The most taps of a window that is unrolled; of larger ones, each line is."""


@template(cpu.LaneConv, types=IMAGES)
def lower_lane_conv(
    op: cpu.LaneConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    batch, blocks, *rows, width, _ = y.shape
    work = _LaneConv(op, x, w, b, y, kernel.machine)
    runs = cut_rows(width, 1, work.most)

    def enter(at: list[IndexExpr]) -> list[Piece]:
        start = work.start(at[1])

        def row(number: IndexExpr) -> None:
            place = unravel(number, rows)

            def tile(pixels: Rows) -> None:
                work.tile(at, place, pixels.first, pixels.count, start)

            for run in runs:
                run.each(tile)

        return [Piece(math.prod(rows), row)]

    spread(Section((batch, blocks), math.prod(rows), enter))


class _LaneConv:
    def __init__(
        self,
        op: cpu.LaneConv,
        x: Buffer,
        w: Buffer,
        b: Buffer | None,
        y: Epilogue,
        machine: Machine,
    ) -> None:
        self.op, self.x, self.w, self.b, self.y = op, x, w, b, y
        *_, self.channels, width = w.shape
        self.lanes = Lanes(width)
        self.most = self._most(machine.registers * machine.lanes(32) // width, machine)
        self.weights = w.reshape((w.shape[0], *op.kernel, self.channels, width))
        self.dot = choose_dot(machine, x.dtype) if self._has_pairs(machine) else None

    def _most(self, registers: int, machine: Machine) -> int:
        """Return the number of pixels of a line to compute at a time.

        Sums use less than half of the registers. If channels are repeated in lanes, all pixels that
        a line of windows reads are kept in registers as well; so they are if no operand of a
        multiply-add can be in memory, and the constants of an epilogue besides.
        """
        most = max(1, registers * 7 // 16)
        loads = machine.core.factors is not Factors.MEMORY
        if self.channels == 1 and not loads:
            return most
        room = registers - (4 if loads else 2)
        return next((n for n in range(most, 1, -1) if n + len(self._columns(n)) <= room), 1)

    def _columns(self, count: int) -> list[int]:
        """List the columns of a line that `count` neighbouring windows read."""
        step, apart = self.op.strides[-1], self.op.dilations[-1]
        taps = range(self.op.kernel[-1])
        return sorted({i * step + tap * apart for i in range(count) for tap in taps})

    def _has_pairs(self, machine: Machine) -> bool:
        """Return whether a dot product multiplies two neighbouring taps of each lane."""
        neighbours = self.op.dilations[-1] == 1 and self.op.kernel[-1] > 1 and self.channels == 1
        width = self.lanes.width
        whole = width == machine.lanes(32) and [*self.x.strides[-2:]] == [width, 1]
        halves = self.x.dtype == "bf16" and find_instruction(machine, "bf16") is not None
        return neighbours and whole and halves and code_has("avx512bw")

    def start(self, block: IndexExpr) -> Value:
        """Return the initial sum of a block."""
        if self.b is None:
            return zero(compute_dtype(self.x.dtype), self.lanes)
        return self.b.load([block * self.lanes.width], self.lanes)

    def tile(
        self,
        at: Sequence[IndexExpr],
        place: Sequence[IndexExpr],
        first: IndexExpr,
        count: int,
        start: Value,
    ) -> None:
        """Compute neighbouring pixels of one line."""
        *outer, _ = self.op.kernel
        self._prefetch([*at, *place, first, IndexExpr(0)], count)

        def line(tap: Sequence[IndexExpr], sums: list[Value]) -> list[Value]:
            row = self._row(place, tap)
            if self.dot is not None:
                return self._line_of_pairs(self.dot, [*at, *row], first, [at[1], *tap], sums)
            return self._line(at, row, first, tap, sums)

        sums = [start] * count
        if math.prod(self.op.kernel) <= UNROLLED:
            for number in range(math.prod(outer)):
                sums = line(unravel(IndexExpr(number), outer), sums)
        else:
            sums = carry_nest(tuple(outer), sums, line)
        for i, total in enumerate(sums):
            self.y.store(total, [*at, *place, first + i, IndexExpr(0)], self.lanes)

    def _prefetch(self, at: Sequence[IndexExpr], count: int) -> None:
        """Prefetch what tiles behind that of some pixels write: another core may have it."""
        for out in self.y.outputs.values():
            position = out.position(at) + AHEAD // DTYPES[out.dtype].itemsize
            out.prefetch_run(position, count * self.lanes.width, writes=True)

    def _row(self, place: Sequence[IndexExpr], tap: Sequence[IndexExpr]) -> list[IndexExpr]:
        """Return which line of the image a line of the windows is."""
        *strides, _ = self.op.strides
        *dilations, _ = self.op.dilations
        return [
            p * stride + t * dilation
            for p, t, stride, dilation in zip(place, tap, strides, dilations, strict=True)
        ]

    def _line_of_pairs(
        self,
        dot: Dot,
        row: Sequence[IndexExpr],
        first: IndexExpr,
        tap: Sequence[IndexExpr],
        sums: list[Value],
    ) -> list[Value]:
        """Add the products of one line of the windows, of two neighbouring taps at a time.

        The last one of an odd number is multiplied beside the one before, which counts as zero.
        """
        taps, step = self.op.kernel[-1], self.op.strides[-1]
        firsts = [*range(0, taps - 1, 2), *([taps - 2] if taps % 2 else [])]
        pixels: dict[int, Value] = {}
        sums = list(sums)
        for j in firsts:
            factors = _pair(self.weights, [*tap, IndexExpr(j), IndexExpr(0), IndexExpr(0)])
            if j % 2:
                factors = factors.logical_and(factors.like(UPPER))
            for i, total in enumerate(sums):
                column = i * step + j
                if column not in pixels:
                    pixels[column] = _pair(self.x, [*row, first * step + column, IndexExpr(0)])
                sums[i] = dot(pixels[column], factors, total)
        return sums

    def _line(
        self,
        at: Sequence[IndexExpr],
        row: Sequence[IndexExpr],
        first: IndexExpr,
        tap: Sequence[IndexExpr],
        sums: list[Value],
    ) -> list[Value]:
        """Add the products of one line of the windows."""
        step, apart = self.op.strides[-1], self.op.dilations[-1]
        pixels = {
            column: self.x.load([*at, *row, first * step + column, IndexExpr(0)], self.lanes)
            for column in self._columns(len(sums))
        }
        sums = list(sums)
        for channel in range(self.channels):
            seen = {column: self._of_group(pixel, channel) for column, pixel in pixels.items()}
            for j in range(self.op.kernel[-1]):
                place_of = [at[1], *tap, IndexExpr(j), IndexExpr(channel), IndexExpr(0)]
                factor = self.weights.load(place_of, self.lanes)
                for i, total in enumerate(sums):
                    sums[i] = seen[i * step + j * apart].fma(factor, total)
        return sums

    def _of_group(self, pixel: Value, channel: int) -> Value:
        """Give each lane a channel of its group."""
        if self.channels == 1:
            return pixel
        picks = [
            lane // self.channels * self.channels + channel for lane in range(self.lanes.width)
        ]
        return pixel.with_ssa(vector.shuffle(pixel.ssa, pixel.ssa, picks))


def _pair(buffer: Buffer, at: Sequence[IndexExpr]) -> Value:
    """Load two neighbouring vectors of bf16, as words of which each has both numbers of a lane."""
    words = load_words(buffer, at, buffer.shape[-1], None)
    (lanes,) = words.ssa.type.shape
    halves = ir.VectorType.get([2 * lanes], ir.IntegerType.get_signless(16))
    flat = vector.bitcast(halves, words.ssa)
    turned = vector.shuffle(flat, flat, [n // 2 + n % 2 * lanes for n in range(2 * lanes)])
    return words.with_ssa(vector.bitcast(words.ssa.type, turned))
