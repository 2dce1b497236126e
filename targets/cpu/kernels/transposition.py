"""Copies whose source is contiguous along another dimension than their result.

Square tiles are loaded along the one dimension and stored along the other; in between, the
registers are transposed by shuffles.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.substitution import likely
from .buffer import Buffer, Lanes, tail_mask, vector
from .index import IndexExpr, for_each, when
from .loops import Piece, Section, cut, each, spread
from .value import Value, constant_of, element_type

Take = Callable[[Value, list[IndexExpr], Lanes], None]

_WIDEST = 16
"""The side of the largest tile: as many registers as fit twice."""

_NARROWEST = 4
"""The least likely size of a dimension that is worth a tile."""

_FEW = 4
"""The most lines that are dealt out, each by a shuffle for a vector."""


@dataclass(frozen=True)
class Block:
    """Neighbours along a dimension: the first one, their count, and their lanes.

    Where the count is only known when the kernel runs, it is at least 1.
    """

    start: IndexExpr
    count: Size
    lanes: Lanes

    def each(self, body: Callable[[int], None]) -> None:
        """Emit code for each number below the count."""
        if not is_symbolic(self.count):
            for number in range(self.count):
                body(number)
            return
        for number in range(self.lanes.width):
            inside = IndexExpr(number).less(self.count)
            when(inside, lambda number=number: body(number))

    def places(self) -> Iterator[IndexExpr]:
        """Yield the places to load: beyond a count that is not known, the last one again."""
        if not is_symbolic(self.count):
            yield from (self.start + number for number in range(self.count))
            return
        last = self.start + (self.count - 1)
        yield from ((self.start + number).minimum(last) for number in range(self.lanes.width))


def contiguous_axis(source: Buffer) -> int | None:
    """Return the dimension along which memory is contiguous, if it is not the last one."""
    if not source.strides or source.strides[-1] in (0, 1):
        return None
    axes = range(len(source.shape) - 1)
    found = [d for d in axes if source.strides[d] == 1 and likely(source.shape[d]) >= _NARROWEST]
    return found[0] if found else None


def copy_transposed(source: Buffer, axis: int, width: int, take: Take) -> None:
    """Load along `axis`, where the source is contiguous; hand out vectors along the last one."""
    width = min(width, _WIDEST)
    last = len(source.shape) - 1
    others = [d for d in range(last) if d != axis]
    turned = source.transpose([*others, last, axis])

    def tile(at: list[IndexExpr], rows: Block, columns: Block) -> None:
        loaded = [turned.load([*at, row, columns.start], columns.lanes) for row in rows.places()]
        made = transpose_registers(loaded, width)

        def store(column: int) -> None:
            place = dict(zip(others, at, strict=True))
            place |= {axis: columns.start + column, last: rows.start}
            take(made[column], [place[d] for d in range(last + 1)], rows.lanes)

        columns.each(store)

    def plane(at: list[IndexExpr]) -> list[Piece]:
        def column(columns: Block) -> None:
            for piece in _blocks(source.shape[last], width, lambda rows: tile(at, rows, columns)):
                for_each(piece.count, piece.body)

        return _blocks(source.shape[axis], width, column)

    shape = tuple(source.shape[d] for d in others)
    full, _, tails = cut(source.shape[axis], width)
    spread(Section(shape, full + tails, plane))


def interleaves(source: Buffer, axis: int, width: int) -> bool:
    """Return whether a copy deals few whole lines out: elements of each are `count` apart."""
    *_, length, count = source.shape
    sizes_known = not is_symbolic(length) and not is_symbolic(count)
    return sizes_known and axis == len(source.shape) - 2 and count <= _FEW and length >= width


def copy_interleaved(source: Buffer, width: int, take: Take) -> None:
    """Load along the last axis but one; hand out vectors along the last two, seen as one."""
    *outer, length, count = source.shape
    lines = source.transpose([*range(len(outer)), len(outer) + 1, len(outer)])

    def some(at: list[IndexExpr], block: Block) -> None:
        loaded = [lines.load([*at, IndexExpr(i), block.start], block.lanes) for i in range(count)]
        left = block.count * count
        for number, made in enumerate(interleave_registers(loaded, width)):
            rest = left - number * width
            if rest > 0:
                lanes = Lanes(width, None if rest >= width else tail_mask(width, rest))
                take(made, [*at, block.start * count + number * width], lanes)

    def line(at: list[IndexExpr]) -> list[Piece]:
        return _blocks(length, width, lambda block: some(at, block))

    full, _, tails = cut(length, width)
    spread(Section(tuple(outer), full + tails, line))


def interleave_registers(lines: Sequence[Value], width: int) -> list[Value]:
    """Return as many registers, with the first elements of all, then the second ones, and so on."""
    count = len(lines)
    made: list[Value] = []
    for number in range(count):
        places = [divmod(number * width + lane, count) for lane in range(width)]
        now = lines[0]
        for index in range(1, count):
            # Of two, both are taken from their places; later ones are put among those before.
            earlier = [place if index == 1 else lane for lane, (place, _) in enumerate(places)]
            picks = [
                width + place if line == index else before
                for (place, line), before in zip(places, earlier, strict=True)
            ]
            now = now.with_ssa(vector.shuffle(now.ssa, lines[index].ssa, picks))
        made.append(now)
    return made


def store_transposed(matrix: Buffer, target: Buffer, width: int) -> None:
    """Write the transpose of a contiguous matrix to memory."""
    turned = matrix.transpose((1, 0))
    axis = contiguous_axis(turned)
    if axis is None:
        each(turned.shape, lambda i: target.store(turned.load(i), i))
    else:
        copy_transposed(turned, axis, width, target.store)


def _blocks(size: Size, width: int, body: Callable[[Block], None]) -> list[Piece]:
    """Cut a dimension into blocks; the last one may be shorter."""
    full, rest, tails = cut(size, width)

    def tail(_: IndexExpr) -> None:
        body(Block(IndexExpr(full * width), rest, Lanes(width, tail_mask(width, rest))))

    whole = Piece(full, lambda i: body(Block(i * width, width, Lanes(width))))
    return [whole, Piece(tails, tail)] if tails != 0 else [whole]


def transpose_registers(rows: Sequence[Value], width: int) -> list[Value]:
    """Transpose a square of registers, of which the first rows are given and the others zero.

    A butterfly: in each of log2(width) stages, pairs of registers swap blocks of lanes.
    """
    type_ = ir.VectorType.get([width], element_type(rows[0].dtype))
    empty = rows[0].with_ssa(constant_of(0, rows[0].dtype, type_))
    square = [*rows, *[empty] * (width - len(rows))]
    step = width // 2
    while step:
        square = _swap_blocks(square, width, step)
        step //= 2
    return square


def _swap_blocks(square: list[Value], width: int, step: int) -> list[Value]:
    lanes = range(width)
    upper = [lane if not lane & step else width + lane - step for lane in lanes]
    lower = [lane + step if not lane & step else width + lane for lane in lanes]
    swapped = list(square)
    for i in (i for i in range(width) if not i & step):
        a, b = square[i], square[i + step]
        swapped[i] = a.with_ssa(vector.shuffle(a.ssa, b.ssa, upper))
        swapped[i + step] = a.with_ssa(vector.shuffle(a.ssa, b.ssa, lower))
    return swapped
