"""Lowering of convolution whose groups lie inside of a vector: each lane sees its own group.

A tile is a few neighbouring pixels of one block. Where a group is one channel, lanes are
multiplied as they are; otherwise each channel of the groups is repeated in the lanes of its group.
"""

import math
from collections.abc import Sequence

from ...dialects import cpu
from ...dialects.cpu.packing import even_split
from .buffer import Buffer, Lanes, vector, zero
from .index import Index, carry_nest, for_each, unravel
from .kernel import KernelBuilder
from .number import Number
from .parallel import Piece, Section, spread
from .sink import Sink
from .target import template

UNROLLED = 9
"""Windows of so many taps are written out; of larger ones, only their lines are."""


@template(cpu.LaneConv)
def lower_lane_conv(
    op: cpu.LaneConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Sink
) -> None:
    batch, blocks, *rows, width, _ = y.shape
    work = _LaneConv(op, x, w, b, y, kernel.machine.registers * kernel.machine.lanes(32))
    large, small, many, few = even_split(width, work.most)

    def enter(at: list[Index]) -> list[Piece]:
        start = work.start(at[1])

        def row(number: Index) -> None:
            place = unravel(number, rows)
            for_each(many, lambda i: work.tile(at, place, i * large, large, start))
            for_each(few, lambda i: work.tile(at, place, i * small + many * large, small, start))

        return [Piece(math.prod(rows), row)]

    spread(Section((batch, blocks), math.prod(rows), enter))


class _LaneConv:
    def __init__(
        self,
        op: cpu.LaneConv,
        x: Buffer,
        w: Buffer,
        b: Buffer | None,
        y: Sink,
        numbers: int,
    ) -> None:
        self.op, self.x, self.w, self.b, self.y = op, x, w, b, y
        *_, self.channels, width = w.shape
        self.lanes = Lanes(width)
        # Sums take less than half of the registers: kernels and pixels have the others.
        self.most = max(1, numbers * 7 // 16 // width)
        self.weights = w.reshape((w.shape[0], *op.kernel, self.channels, width))

    def start(self, block: Index) -> Number:
        """Return what sums of a block start from."""
        if self.b is None:
            return zero(self.x.dtype, self.lanes)
        return self.b.load([block * self.lanes.width], self.lanes)

    def tile(
        self, at: Sequence[Index], place: Sequence[Index], first: Index, count: int, start: Number
    ) -> None:
        """Compute neighbouring pixels of one line."""
        *outer, last = self.op.kernel
        unrolled = math.prod(self.op.kernel) <= UNROLLED

        def line(tap: Sequence[Index], sums: list[Number]) -> list[Number]:
            for i in range(last):
                sums = self._tap(at, place, first, [*tap, Index(i)], sums)
            return sums

        sums = [start] * count
        if unrolled:
            for number in range(math.prod(outer)):
                sums = line(unravel(Index(number), outer), sums)
        else:
            sums = carry_nest(tuple(outer), sums, line)
        for i, total in enumerate(sums):
            self.y.store(total, [*at, *place, first + i, Index(0)], self.lanes)

    def _tap(
        self,
        at: Sequence[Index],
        place: Sequence[Index],
        first: Index,
        tap: Sequence[Index],
        sums: Sequence[Number],
    ) -> list[Number]:
        """Add what one tap of the windows sees."""
        corner = [
            p * stride + t * dilation
            for p, t, stride, dilation in zip(
                [*place, first], tap, self.op.strides, self.op.dilations, strict=True
            )
        ]
        step = self.op.strides[-1]
        pixels = [
            self.x.load([*at, *corner[:-1], corner[-1] + i * step, Index(0)], self.lanes)
            for i in range(len(sums))
        ]
        for channel in range(self.channels):
            factor = self.weights.load([at[1], *tap, Index(channel), Index(0)], self.lanes)
            sums = [
                self._of_group(pixel, channel).fma(factor, total)
                for pixel, total in zip(pixels, sums, strict=True)
            ]
        return list(sums)

    def _of_group(self, pixel: Number, channel: int) -> Number:
        """Give each lane a channel of its group."""
        if self.channels == 1:
            return pixel
        picks = [
            lane // self.channels * self.channels + channel for lane in range(self.lanes.width)
        ]
        return pixel.with_value(vector.shuffle(pixel.value, pixel.value, picks))
