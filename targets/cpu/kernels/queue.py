"""Queues of places by their scores, in memory of a thread: the best is taken first."""

from ....dialects.core.sizes.atoms import Size
from .buffer import Buffer
from .builder import KernelBuilder
from .index import IndexExpr, carry, carry_while, for_each, greatest, index_of
from .value import Value


class Queue:
    """Give places in the order of their scores, of equal ones in ascending order.

    Number n is better than numbers 2 n + 1 and 2 n + 2.
    """

    def __init__(self, kernel: KernelBuilder, most: Size, dtype: str) -> None:
        self._places = kernel.private((greatest(most, 1),), "i64")
        self._scores = kernel.private((greatest(most, 1),), dtype)

    def fill(self, scores: Buffer, number: Size, least: Value) -> Value:
        """Queue the places of the scores that are greater than one; return how many they are."""

        def add(i: IndexExpr, now: list[Value]) -> list[Value]:
            score = scores.load([i])
            self._store(now[0], i.to_value("i64"), score)
            return [now[0] + score.greater(least).cast("i64")]

        (count,) = carry(number, [IndexExpr(0).to_value("i64")], add)
        half = count.shift_right(1)

        def sink_one(i: IndexExpr) -> None:
            number = half - i.to_value("i64") - 1
            self._sink(number, *self._load(number), count)

        for_each(index_of(half), sink_one)
        return count

    def pop(self, count: Value) -> Value:
        """Take the best of `count` places, one at least."""
        place, _ = self._load(count.like(0))
        rest = count - 1
        self._sink(count.like(0), *self._load(rest), rest)
        return place

    def _sink(self, start: Value, place: Value, score: Value, count: Value) -> None:
        """Put a place at a number, or move better ones below it up and put it there."""

        def goes_on(now: list[Value]) -> Value:
            return now[1]

        def move(now: list[Value]) -> list[Value]:
            at = now[0]
            left = at + at + 1
            right = left + 1
            right = right.less(count).select(right, left)
            child = _is_better(*self._load(right), *self._load(left)).select(right, left)
            best = self._load(child)
            moves = _is_better(*best, place, score)
            self._store(at, moves.select(best[0], place), moves.select(best[1], score))
            below = moves.select(child, at)
            return [below, moves.logical_and(_has_child(below, count))]

        at, _ = carry_while([start, _has_child(start, count)], goes_on, move)
        self._store(at, place, score)

    def _load(self, number: Value) -> tuple[Value, Value]:
        at = [index_of(number)]
        return self._places.load(at), self._scores.load(at)

    def _store(self, number: Value, place: Value, score: Value) -> None:
        self._places.store(place, [index_of(number)])
        self._scores.store(score, [index_of(number)])


def _has_child(number: Value, count: Value) -> Value:
    return (number + number + 1).less(count)


def _is_better(place: Value, score: Value, other: Value, other_score: Value) -> Value:
    first = score.equal(other_score).logical_and(place.less(other))
    return score.greater(other_score).logical_or(first)
