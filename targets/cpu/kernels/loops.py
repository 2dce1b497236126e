"""Loops whose iterations may run in any order, on several threads.

At the top of a kernel, `spread` marks loops as such, and `split-phases` splits them; inside of
other loops it emits a plain nest.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Shape
from .index import IndexExpr, for_each, least, mark_trips, nest, scf, unravel
from .record import current_record, mark_of

SPREAD = "trivium.spread"
"""The attribute of a parallel loop: the number of inner iterations of each trip."""

GROUP = "trivium.group"
"""The attribute that loops of one `spread` share, and no others."""

PIECE = "trivium.piece"
"""The attribute of a loop directly inside a parallel loop: its first inner iteration."""

ORDERED = "trivium.ordered"
"""The attribute of a parallel loop whose trips need those before them: only its pieces do not."""

ENOUGH = 64
"""From this number of likely outer iterations on, inner loops are not cut."""


def cut(size: Size, width: int) -> tuple[Size, Size, Size]:
    """Cut a size into widths: return how many, what is left, and whether anything is (1 or 0)."""
    full, rest = divmod(size, width)
    return full, rest, least(rest, 1)


@dataclass(frozen=True)
class Piece:
    """Run `body` for the numbers 0 to `count` - 1."""

    count: Size
    body: Callable[[IndexExpr], None]


@dataclass(frozen=True)
class Section:
    """Describe independent iterations: for each index of a shape, the `inner` ones of its pieces.

    `enter` emits the code that all iterations of an index share, and returns the pieces. Each
    thread with iterations of an index runs that code, which must write only private memory.
    """

    shape: Shape
    inner: Size
    enter: Callable[[list[IndexExpr]], Sequence[Piece]]

    @property
    def iterations(self) -> Size:
        return math.prod(self.shape) * self.inner

    def as_piece(self) -> Piece:
        """Return the same iterations as a piece of others: one for each index."""
        return Piece(
            math.prod(self.shape),
            lambda number: emit_pieces(self.enter(unravel(number, self.shape))),
        )

    def only_if(self, wanted: Size) -> "Section":
        """Return the same iterations if a size is 1, and none if it is 0."""
        return (
            self if wanted == 1 else replace(self, shape=(self.shape[0] * wanted, *self.shape[1:]))
        )


def spread(*sections: Section) -> None:
    """Emit sections, all of whose iterations are independent."""
    block = ir.InsertionPoint.current.block
    at_top = block.owner.operation.name == "func.func"
    if not at_top or at_least(1, sum(section.iterations for section in sections)):
        for section in sections:
            nest(section.shape, lambda at, enter=section.enter: emit_pieces(enter(at)))
        return
    group = len(block.operations)
    for section in sections:
        if section.iterations != 0:
            _spread(section, group)


def _spread(section: Section, group: int) -> None:
    outer = math.prod(section.shape)
    cut = section.inner if likely(outer) < ENOUGH else 1

    def place(number: IndexExpr) -> None:
        pieces = section.enter(unravel(number, section.shape))
        count = sum(piece.count for piece in pieces)
        assert count == section.inner, "pieces must make up the place"
        if cut == 1:
            emit_pieces(pieces)
        else:
            _marked(pieces)

    _mark(_loop(outer, place), {SPREAD: cut, GROUP: group})


def in_order(count: Size, step: Callable[[IndexExpr], Sequence[Piece]]) -> None:
    """Emit steps, each of which needs those before it; the pieces of one are independent.

    `step` emits what all pieces of a step share, which must write only private memory.
    """
    block = ir.InsertionPoint.current.block
    if block.owner.operation.name != "func.func":
        for_each(count, lambda number: emit_pieces(step(number)))
        return
    group = len(block.operations)
    inner: Size = 1

    def place(number: IndexExpr) -> None:
        nonlocal inner
        pieces = step(number)
        inner = sum(piece.count for piece in pieces)
        emit = emit_pieces if inner == 1 else _marked
        emit(pieces)

    loop = _loop(count, place)
    if inner != 1:
        _mark(loop, {SPREAD: inner, GROUP: group, ORDERED: 1})


def each(shape: Shape, body: Callable[[list[IndexExpr]], None]) -> None:
    """Emit one independent iteration for each place of a shape."""
    if math.prod(shape) == 1:
        body([IndexExpr(0)] * len(shape))
    else:
        spread(Section(shape, 1, lambda at: [Piece(1, lambda _: body(at))]))


def each_of(count: Size, body: Callable[[IndexExpr], None]) -> None:
    """Emit independent iterations for the numbers 0 to `count` - 1."""
    each((count,), lambda at: body(at[0]))


def _marked(pieces: Sequence[Piece]) -> None:
    offset: Size = 0
    for piece in pieces:
        if piece.count != 0:
            _mark(_loop(piece.count, piece.body), {PIECE: offset})
        offset += piece.count


def emit_pieces(pieces: Sequence[Piece]) -> None:
    """Emit pieces one after the other."""
    for piece in pieces:
        for_each(piece.count, piece.body)


def _loop(count: Size, body: Callable[[IndexExpr], None]) -> ir.Operation:
    loop = scf.ForOp(IndexExpr(0).ssa, IndexExpr(count).ssa, IndexExpr(1).ssa)
    mark_trips(loop, count)
    with ir.InsertionPoint(loop.body):
        body(IndexExpr(loop.induction_variable))
        scf.yield_([])
    operation: ir.Operation = loop.operation
    return operation


def _mark(loop: ir.Operation, marks: Mapping[str, Size]) -> None:
    for name, value in marks.items():
        words = current_record().in_words(value) if is_symbolic(value) else value
        loop.attributes[name] = mark_of(words)
