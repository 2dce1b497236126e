"""Panels of numbers of few bits, which have a scale for each block of the depth."""

from collections.abc import Sequence
from dataclasses import dataclass

from .....dialects.core.machine import Machine
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.sizes.substitution import likely
from .....dialects.core.tensor import DTYPES
from .....dialects.cpu.block_quantized import BYTES, BlockLayout
from ..buffer import Buffer, Lanes, zero
from ..functions.by_avx512 import look_up
from ..index import Carried, IndexExpr, Span, carry
from ..value import Value
from .panels import AHEAD, STREAMED, Panel, Step

UNROLLED = 4
"""The most words of a block for which there is code of their own; more are a loop."""


@dataclass(frozen=True)
class BlockPanel(Panel):
    """Read what `BlockLayout` packs, ui8 [panels, blocks, bytes], and scale it in registers.

    A tile reads a whole panel or a part of it, always from the first block to the last.
    """

    panels: Buffer
    layout: BlockLayout
    table: "Table | None" = None

    @property
    def width(self) -> int:
        """Return the columns of a panel."""
        return int(self.panels.shape[2]) // self.layout.column_bytes

    def each_row(
        self,
        depth: Sequence[Size | Span],
        start: IndexExpr,
        masks: Sequence[Lanes],
        initial: Carried,
        step: Step,
    ) -> Carried:
        (size,) = depth
        assert not isinstance(size, Span), "blocks are read from the first to the last"
        full, rest = divmod(size, self.layout.block)
        tile = BlockColumns(self, start, masks)
        sums = carry(full, initial, lambda b, now: tile.block(b, self.layout.block, now, step))
        return tile.block(IndexExpr(full), int(rest), sums, step) if rest else sums


class BlockColumns:
    """Emit the reading of some columns of a panel: all, or a part of whole vectors."""

    def __init__(self, panel: BlockPanel, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        self.panels, self.layout, self.width = panel.panels, panel.layout, panel.width
        self.table = panel.table
        self.lanes, self.vectors = masks[0].width, len(masks)
        self.panel, self.first = start // self.width, start % self.width

    def block(self, number: IndexExpr, size: int, sums: Carried, step: Step) -> Carried:
        """Emit the steps of the first `size` numbers in depth of a block."""
        base = self.base(number)
        scales, zeros = self.scales(base), self.zeros(base)
        behind = self.layout.words * BYTES
        self._prefetch(base + behind * self.width, self.layout.column_bytes - behind)
        full, rest = divmod(size, self.layout.count)

        def word(place: IndexExpr, sums: Carried, count: int = self.layout.count) -> Carried:
            words = self.words(base, place)
            self._prefetch(base + place * (self.width * BYTES), BYTES)
            at = number * self.layout.block + place * self.layout.count
            for n in range(count):
                row = [
                    self._centred(w, n, z) * s for w, z, s in zip(words, zeros, scales, strict=True)
                ]
                sums = step([at + n], row, sums)
            return sums

        if full > UNROLLED:
            sums = carry(full, sums, word)
        else:
            for place in range(full):
                sums = word(IndexExpr(place), sums)
        return word(IndexExpr(full), sums, rest) if rest else sums

    def base(self, number: IndexExpr) -> IndexExpr:
        """Return where a block of the panel starts, in bytes."""
        _, blocks, run = self.panels.shape
        return self.panels.offset + (self.panel * blocks + number) * run

    def words(self, base: IndexExpr, place: IndexExpr) -> list[Value]:
        """Load a word of each column of a block, by its number."""
        offset = place * (self.width * BYTES)
        return [self._load(base, offset, "i32", v) for v in range(self.vectors)]

    def scales(self, base: IndexExpr) -> list[Value]:
        """Load the scales of a block, in f32."""
        first = IndexExpr(self.layout.words * BYTES * self.width)
        return [self._load(base, first, self.layout.scales, v) for v in range(self.vectors)]

    def zeros(self, base: IndexExpr, dtype: str = "f32") -> list[Value]:
        """Return the zero points of a block, in a type."""
        layout = self.layout
        if not layout.zero_points:
            like = zero(dtype, Lanes(self.lanes))
            return [like.like(1 << layout.bits - 1)] * self.vectors
        second = layout.words * BYTES * self.width + DTYPES[layout.scales].itemsize * self.width
        zeros = [
            self._load(base, IndexExpr(second), layout.zero_points, v) for v in range(self.vectors)
        ]
        return [z if z.is_float else z.cast("i32").cast(dtype) for z in zeros]

    def prefetch_block(self, base: IndexExpr) -> None:
        """Prefetch a later block than the one that starts at a place."""
        self._prefetch(base, self.layout.column_bytes)

    def _prefetch(self, start: IndexExpr, size: int) -> None:
        """Prefetch bytes of each column, so many, that come later than those at a place."""
        if likely(self.panels.tensor.size_bytes) < STREAMED:
            return
        place = start + (self.first * size + AHEAD)
        self.panels.prefetch_run(place, self.vectors * self.lanes * size)

    def _load(self, base: IndexExpr, offset: IndexExpr, dtype: str, vector: int) -> Value:
        size = DTYPES[dtype].itemsize
        place = (self.first + vector * self.lanes) * size
        return self.panels.load_bytes(base + offset + place, dtype, self.lanes)

    def _centred(self, word: Value, number: int, zero_point: Value) -> Value:
        """Return a number of a word of each column, less its zero point, in f32."""
        shift = self.layout.shift(number)
        shifted = word.shift_right(shift) if shift else word
        if self.table is not None and self.lanes == self.table.size:
            found = look_up(self.table.numbers, shifted)
            return found if not self.layout.zero_points else found - zero_point
        return shifted.logical_and((1 << self.layout.bits) - 1).cast("f32") - zero_point


@dataclass(frozen=True)
class Table:
    """Hold the floats that the lowest bits of a lane stand for in a register."""

    numbers: tuple[float, ...]

    @property
    def size(self) -> int:
        return len(self.numbers)

    @staticmethod
    def of(machine: Machine, layout: BlockLayout) -> "Table | None":
        """Return the table of a layout, if the machine looks up floats by so many bits.

        Numbers are less their zero point where all columns have the same.
        """
        if machine.vector_bytes * 8 != 512 or layout.bits > TABLE_BITS:
            return None
        zero = 0 if layout.zero_points else 1 << layout.bits - 1
        mask = (1 << layout.bits) - 1
        return Table(tuple(float((n & mask) - zero) for n in range(1 << TABLE_BITS)))


TABLE_BITS = 4


@dataclass(frozen=True)
class DequantizedPanel(Panel):
    """Scale the numbers of a panel before they are read, each once for all rows."""

    stored: BlockPanel
    memory: Buffer  # [depth, columns of a tile], private

    def prepare(self, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        plain = [Lanes(lanes.width) for lanes in masks]

        def write(at: Sequence[IndexExpr], row: Sequence[Value], sums: Carried) -> Carried:
            for v, value in enumerate(row):
                self.memory.store(value, [*at, IndexExpr(v * plain[v].width)], plain[v])
            return sums

        self.stored.each_row(self.memory.shape[:1], start, plain, [], write)

    def load(
        self, depth: Sequence[IndexExpr], start: IndexExpr, masks: Sequence[Lanes]
    ) -> list[Value]:
        plain = Lanes(masks[0].width)
        places = (IndexExpr(v * plain.width) for v in range(len(masks)))
        return [self.memory.load([*depth, place], plain) for place in places]
