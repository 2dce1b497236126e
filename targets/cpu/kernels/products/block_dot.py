"""Contractions of blocks of bytes: sums in i32 inside of a block, in f32 over all of them."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from .....dialects.cpu.block_quantized import BYTES, WORD
from .....dialects.cpu.vnni import VNNI
from ..buffer import Buffer, Lanes, zero
from ..index import Carried, IndexExpr, carry
from ..runs import Rows
from ..value import Value
from .block_panels import BlockColumns, BlockPanel
from .contraction import Contraction, splat
from .panels import Fetch
from .vnni import load_word

UNROLLED = 8
"""The most words of a block for which there is code of their own; more are a loop."""


FEW = 4
"""The most sums of a tile that do not hide the latency of a dot product."""


@dataclass(frozen=True)
class RoundedRows:
    """Hold rows that `cpu.quantize_blocks` rounded: their bytes, steps and sums.

    `numbers` is [blocks, rows, elements of one]; `scales` and `sums` are [blocks, rows].
    """

    numbers: Buffer
    scales: Buffer
    sums: Buffer

    def word(self, rows: Rows, r: int, depth: Sequence[IndexExpr]) -> Value:
        """Load four neighbours of a row, by their block and their place in it."""
        block, place = depth
        return load_word(self.numbers.part([block]), rows.first + r, place)

    def after(self, first: IndexExpr) -> "RoundedRows":
        """Return the rows from one on."""
        return RoundedRows(
            *(_after(each, first) for each in (self.numbers, self.scales, self.sums))
        )


def _after(rows: Buffer, first: IndexExpr) -> Buffer:
    moved = rows.with_strides(rows.shape, rows.strides)
    moved.offset = moved.offset + first * moved.strides[1]
    return moved


@dataclass(frozen=True, kw_only=True)
class BlockContraction(Contraction):
    """Multiply words of rounded rows by numbers of few bits, four bytes at a time.

    `multiply` takes unsigned bytes of the panel `stored` first, then those of a row. The sum of a
    block, less the zero point times the sum of the row's numbers, is exact.
    """

    stored: BlockPanel
    rounded: RoundedRows

    def accumulate(
        self,
        rows: Rows,
        taken: range,
        start: IndexExpr,
        masks: Sequence[Lanes],
        fetch: Fetch | None,
    ) -> Carried:
        tile = _Tile(self, BlockColumns(self.stored, start, masks), rows, taken)
        initial = zero(self.dtype, Lanes(masks[0].width))
        return carry(self.depth[0], [initial] * (len(taken) * len(masks)), tile.block)


@dataclass(frozen=True)
class _Tile:
    """Emit the block of a tile: some rows times some columns of a panel."""

    how: BlockContraction
    columns: BlockColumns
    rows: Rows
    taken: range

    def block(self, number: IndexExpr, totals: Carried) -> Carried:
        """Add the products of a block to the totals."""
        layout, base = self.columns.layout, self.columns.base(number)
        self.columns.prefetch_block(base)
        zeros = self.columns.zeros(base, "f32" if self._fractions else VNNI)
        row_sums = self._loaded(self.how.rounded.sums, number)
        none = zero(VNNI, Lanes(self.columns.lanes))
        sums = [
            none if self._fractions else none - z * row_sum for row_sum in row_sums for z in zeros
        ]

        def word(place: IndexExpr, now: Carried) -> Carried:
            return self._word(number, base, place, now)

        count = len(sums)
        sums += [none] * (count * (self._chains - 1))
        if layout.words > UNROLLED:
            sums = carry(layout.words, sums, word)
        else:
            for place in range(layout.words):
                sums = word(IndexExpr(place), sums)
        whole = [reduce(operator.add, sums[at::count]) for at in range(count)]
        return self._scaled(number, base, zeros, row_sums, whole, totals)

    def _word(self, number: IndexExpr, base: IndexExpr, place: IndexExpr, sums: Carried) -> Carried:
        """Add the products of a word of each column to the sums of the block."""
        layout, sums, count = self.columns.layout, [*sums], len(sums) // self._chains
        words = self.columns.words(base, place)
        mask = int.from_bytes([(1 << layout.bits) - 1] * BYTES, "little")
        for part in range(WORD // BYTES // layout.bits):
            taken = [
                word.bits("ui32").shift_right(part * layout.bits).logical_and(mask)
                for word in words
            ]
            first = place * (layout.count // BYTES) + part
            for r, row in enumerate(self.taken):
                factor = self._spread(self.how.left(self.rows, row, [number, first]))
                for v, bytes_ in enumerate(taken):
                    at = part % self._chains * count + r * len(words) + v
                    sums[at] = self.how.multiply(bytes_, factor, sums[at])
        return sums

    def _scaled(
        self,
        number: IndexExpr,
        base: IndexExpr,
        zeros: Carried,
        row_sums: Carried,
        sums: Carried,
        totals: Carried,
    ) -> Carried:
        """Add the sums of a block to the totals, in f32."""
        out: list[Value] = []
        scales = self.columns.scales(base)
        for r, step in enumerate(self._loaded(self.how.rounded.scales, number)):
            for v, scale in enumerate(scales):
                at = r * len(scales) + v
                total = sums[at].cast("f32")
                if self._fractions:
                    total = total - zeros[v] * row_sums[r].cast("f32")
                out.append(total.fma(scale * step, totals[at]))
        return out

    @property
    def _chains(self) -> int:
        """Return how many sums of each row and column are kept side by side: few are slow."""
        return 2 if len(self.taken) * self.columns.vectors <= FEW else 1

    @property
    def _fractions(self) -> bool:
        """Return whether zero points are floats."""
        return self.columns.layout.zero_points not in ("", "ui8")

    def _loaded(self, buffer: Buffer, number: IndexExpr) -> list[Value]:
        """Load what each row has for a block, repeated in all lanes."""
        first = self.rows.first
        return [self._spread(buffer.load([number, first + row])) for row in self.taken]

    def _spread(self, value: Value) -> Value:
        return splat(value, self.columns.lanes)
