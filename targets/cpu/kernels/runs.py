"""Runs: the rows of a contraction, cut into blocks that are stored together.

Blocks are as high as fits the registers, and nearly equally high: two heights at most. Where the
number of rows is known when the kernel runs, blocks choose among the code for some heights: that
which fits the registers, and each of at most half of it, for the rows that are left. Where a pass
over the panel is expensive, there is code for all heights: few rows take one pass. The loops of
these are not unrolled: rounds that LLVM mixes need more registers than one round, which has all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import ceildiv, floordiv
from ....dialects.core.sizes.limits import bounds
from ....dialects.cpu.packing import even_split
from .index import IndexExpr, for_each, greatest, is_equal, least, rolled, when_else


@dataclass(frozen=True)
class Rows:
    """Name rows that are stored together: `count` of them, from `first` on; one or more tiles.

    `place` is the first one's unit and place in it, where all are in one unit of symbolic size.
    """

    first: IndexExpr
    count: int
    place: tuple[IndexExpr, IndexExpr] | None = None

    def behind(self, base: IndexExpr) -> "Rows":
        """Return as many rows that are counted from a base."""
        return replace(self, first=base + self.first)


Body = Callable[[Rows], None]


@dataclass(frozen=True)
class Run:
    """Describe `count` blocks; `emit` hands the rows of a block to the code for their height."""

    count: Size
    emit: Callable[[IndexExpr, Body], None]

    def each(self, body: Body) -> None:
        """Emit a loop over the blocks."""
        for_each(self.count, lambda i: self.emit(i, body))


def cut_rows(rows: Size, unit: Size, most: int, once: int = 0) -> list[Run]:
    """Cut rows into blocks of at most `most` rows: of whole units, or of parts of one.

    With `once`, up to as many rows are one block, also where their number is symbolic.
    """
    if is_symbolic(unit):
        return [_heights_of_lines(rows, unit, most)]
    units = rows // unit
    if unit > most:
        large, small, many, few = even_split(unit, most)
        return [
            _run(large, units * many, lambda i: i // many * unit + i % many * large),
            _run(small, units * few, lambda i: i // few * unit + i % few * small + many * large),
        ]
    if is_symbolic(units):
        return [_heights(units, unit, most // unit, once // unit)]
    if units * unit <= once:
        most = once
    large, small, many, few = even_split(units, most // unit)
    offset = many * large * unit
    return [
        _run(large * unit, many, lambda i: i * (large * unit)),
        _run(small * unit, few, lambda i: i * (small * unit) + offset),
    ]


def _run(rows: int, count: Size, first: Callable[[IndexExpr], IndexExpr]) -> Run:
    return Run(count, lambda i, body: body(Rows(first(i), rows)))


@dataclass(frozen=True)
class _Split:
    """Cut a length that is known when the kernel runs into pieces of `most`, and a rest.

    The rest is cut as `even_split` does, into pieces of at most `part`: there is code for each
    height that these may have. All of the length is one piece where it is `once` at most.
    """

    length: Size
    most: int
    part: int
    once: int = 0

    @property
    def least(self) -> int:
        """Return how long the rest is at least, unless all of the length is shorter."""
        return (self.part + 1) // 2

    @property
    def whole(self) -> Size:
        """Return the number of pieces of `most`."""
        return greatest((self.length - self.least) // self.most, 0)

    @property
    def rest(self) -> Size:
        return self.length - self.whole * self.most

    @property
    def parts(self) -> Size:
        """Return the number of pieces of the rest, of which the first `many` are `small` + 1."""
        return ceildiv(self.rest, self.part)

    @property
    def pieces(self) -> Size:
        cut = self.whole + self.parts
        return cut if not self.single else cut - sum(is_equal(self.length, n) for n in self.single)

    @property
    def single(self) -> range:
        """Return the lengths that are one piece, but higher than most pieces are: cut into two."""
        high = bounds(self.length)[1]
        return range(self.most + 1, min(self.once, high or self.once) + 1)

    @property
    def small(self) -> Size:
        return floordiv(self.rest, greatest(self.parts, 1))

    @property
    def many(self) -> Size:
        return self.rest - self.small * self.parts

    @property
    def heights(self) -> range:
        """Return the heights that pieces of the rest may have, the greatest first."""
        low, high = bounds(self.length)
        # With two pieces or more, each has at least half of the most.
        least = min(max(low or 1, 1), self.least)
        return range(min(self.part, high or self.part), least - 1, -1)

    def choose(self, piece: IndexExpr, body: Callable[[IndexExpr, int], None]) -> None:
        """Emit code for each height; the one of a piece runs, with the place where it starts."""

        def cut() -> None:
            self._choose_piece(piece, body)

        def choose(lengths: list[int]) -> None:
            if not lengths:
                cut()
                return
            length, *others = lengths
            is_single = IndexExpr(self.length).equal(length)
            when_else(is_single, lambda: body(IndexExpr(0), length), lambda: choose(others))

        with rolled():
            choose([*self.single])

    def _choose_piece(self, piece: IndexExpr, body: Callable[[IndexExpr, int], None]) -> None:
        if self.whole == 0:
            self._choose_part(piece, IndexExpr(0), body)
            return
        when_else(
            piece.less(self.whole),
            lambda: body(piece * self.most, self.most),
            lambda: self._choose_part(piece - self.whole, IndexExpr(self.whole * self.most), body),
        )

    def _choose_part(
        self, part: IndexExpr, start: IndexExpr, body: Callable[[IndexExpr, int], None]
    ) -> None:
        small, many = IndexExpr(self.small), IndexExpr(self.many)
        is_large = part.less(self.many)
        height = (small + 1).select(is_large, small)
        first = start + part * small + part.minimum(many)
        self._choose(height, list(self.heights), lambda rows: body(first, rows))

    def _choose(self, height: IndexExpr, heights: list[int], body: Callable[[int], None]) -> None:
        if len(heights) == 1:
            body(heights[0])
            return
        rows, *others = heights
        when_else(
            height.equal(rows), lambda: body(rows), lambda: self._choose(height, others, body)
        )


def _half(most: int) -> int:
    return (most + 1) // 2


def _heights(units: Size, unit: int, most: int, once: int) -> Run:
    split = _Split(units, most, most if once else _half(most), once)

    def emit(i: IndexExpr, body: Body) -> None:
        split.choose(i, lambda first, height: body(Rows(first * unit, height * unit)))

    return Run(_none_or(units, split.pieces), emit)


def _heights_of_lines(rows: Size, unit: Size, most: int) -> Run:
    """Cut each unit of rows by itself."""
    split = _Split(unit, most, _half(most))

    def emit(i: IndexExpr, body: Body) -> None:
        line, piece = i // split.pieces, i % split.pieces

        def block(place: IndexExpr, height: int) -> None:
            body(Rows(line * unit + place, height, (line, place)))

        split.choose(piece, block)

    return Run(_none_or(unit, (rows // unit) * split.pieces), emit)


def _none_or(length: Size, count: Size) -> Size:
    """Return a count of blocks, or 0 where they have no length."""
    return count * least(length, 1)
