"""Lanes of vectors that are in pieces, and pieces of other sizes with the same lanes."""

from collections.abc import Sequence

from .spelling import Vector, initializer


def lane_of(pieces: Sequence[str], vectors: Sequence[Vector], number: int) -> str:
    """Return the spelling of one lane."""
    for piece, vector in zip(pieces, vectors, strict=True):
        if number < vector.lanes:
            return piece if vector.lanes == 1 else f"{piece}[{number}]"
        number -= vector.lanes
    raise AssertionError("a vector has no such lane")


def regrouped(pieces: Sequence[str], vectors: Sequence[Vector], lanes: Sequence[int]) -> list[str]:
    """Return the lanes of pieces as pieces of other sizes, of the same element type."""
    if [each.lanes for each in vectors] == [*lanes]:
        return [*pieces]
    made: list[str] = []
    first = 0
    for size in lanes:
        made.append(_piece(pieces, vectors, Vector(size, vectors[0].element), first))
        first += size
    return made


def _piece(pieces: Sequence[str], vectors: Sequence[Vector], wanted: Vector, first: int) -> str:
    """Return some lanes: a piece, part of one, two vectors joined, or scalars."""
    begin, end = 0, first + wanted.lanes
    for piece, have in zip(pieces, vectors, strict=True):
        if (begin, begin + have.lanes) == (first, end):
            return piece
        if wanted.lanes > 1 and begin <= first and end <= begin + have.lanes:
            return shuffled([piece], range(first - begin, end - begin))
        begin += have.lanes
    half = Vector(wanted.lanes // 2, wanted.element)
    if half.lanes > 1 and all(each.lanes > 1 for each in vectors):
        halves = [_piece(pieces, vectors, half, first + at) for at in (0, half.lanes)]
        return shuffled(halves, range(wanted.lanes))
    lanes = [lane_of(pieces, vectors, first + lane) for lane in range(wanted.lanes)]
    return initializer(wanted, lanes)


def shuffled(vectors: Sequence[str], lanes: Sequence[int]) -> str:
    """Spell a vector of lanes of one vector or of two."""
    return f"__builtin_shufflevector({vectors[0]}, {vectors[-1]}, {', '.join(map(str, lanes))})"
