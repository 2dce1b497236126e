"""The lowering of choosing boxes that do not overlap.

Of each class, on any thread: list the boxes whose score is high enough; as long as there are any,
choose the best one, and strike from the list those that overlap it too much. So nothing is sorted,
and what is struck is not looked at again. Then the boxes of all classes are put together.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.tri.selection.non_max_suppression import most_of_class
from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, carry, for_each, greatest, index_of, when
from ..kernels.loops import each, each_of
from ..kernels.value import Value, constant_of, strict_numbers
from ..registry import template

SIDES = 4
AREA = 4

Test = Callable[[Value], Value]


@template(tri.PaddedNonMaxSuppression)
def lower_padded_non_max_suppression(
    op: tri.PaddedNonMaxSuppression,
    kernel: KernelBuilder,
    boxes: Buffer,
    scores: Buffer,
    overlap: Buffer | None,
    least: Buffer | None,
    y: Epilogue,
    count: Epilogue,
) -> None:
    batches, classes, number = scores.shape
    dtype = compute_dtype(boxes.dtype)
    limit = most_of_class(scores.tensor, op.limit)
    chosen = kernel.scratch((batches * classes, greatest(limit, 1)), "i64")
    counts = kernel.scratch((batches * classes,), "i64")
    with strict_numbers():
        corners = _corners(kernel, boxes, op.centered)
        share = _threshold(overlap, 0.0, dtype)
        listed = _List(kernel, number, dtype, _threshold(least, -math.inf, dtype))

        def one_class(at: IndexExpr) -> None:
            batch, kind = at // classes, at % classes
            counts.store(_zero(), [at])
            listed.fill(scores.part([batch, kind]), number)

            def choose(k: IndexExpr) -> None:
                place = listed.best()
                chosen.store(place, [at, k])
                counts.store((k + 1).to_value("i64"), [at])
                best = _Box.load(corners.part([batch, index_of(place)]))

                def is_kept(other: Value) -> Value:
                    box = _Box.load(corners.part([batch, index_of(other)]))
                    return best.overlaps(box, share).invert()

                listed.strike(is_kept)

            for_each(limit, lambda k: when(listed.is_left(), lambda: choose(k)))

        each_of(batches * classes, one_class)
    _put_together(chosen, counts, classes, y, count)


def _put_together(
    chosen: Buffer, counts: Buffer, classes: Size, y: Epilogue, count: Epilogue
) -> None:
    def one_class(at: IndexExpr, now: list[Value]) -> list[Value]:
        row, found = index_of(now[0]), counts.load([at])

        def one_box(k: IndexExpr) -> None:
            y.store((at // classes).to_value("i64"), [row + k, IndexExpr(0)])
            y.store((at % classes).to_value("i64"), [row + k, IndexExpr(1)])
            y.store(chosen.load([at, k]), [row + k, IndexExpr(2)])

        for_each(index_of(found), one_box)
        return [now[0] + found]

    (total,) = carry(counts.shape[0], [_zero()], one_class)
    count.store(total, [])
    rest = y.reshape((math.prod(y.shape),))
    for_each(rest.shape[0], lambda i: rest.store(_zero(), [i]), start=index_of(total * 3))


def _zero() -> Value:
    return IndexExpr(0).to_value("i64")


def _threshold(given: Buffer | None, absent: float, dtype: str) -> Value:
    if given is None:
        return Value(constant_of(absent, dtype), dtype)
    return convert(given.load([]), dtype)


def _corners(kernel: KernelBuilder, boxes: Buffer, centered: bool) -> Buffer:
    """Store lower corner, upper corner and area of each box."""
    made = kernel.scratch((*boxes.shape[:2], SIDES + 1), compute_dtype(boxes.dtype))

    def one_box(at: list[IndexExpr]) -> None:
        sides = [boxes.load([*at, IndexExpr(i)]) for i in range(SIDES)]
        first, second = sides[:2], sides[2:]
        if centered:
            half = [size * 0.5 for size in second]
            low = [a - b for a, b in zip(first, half, strict=True)]
            high = [a + b for a, b in zip(first, half, strict=True)]
        else:
            low = [a.minimum(b) for a, b in zip(first, second, strict=True)]
            high = [a.maximum(b) for a, b in zip(first, second, strict=True)]
        area = (high[0] - low[0]) * (high[1] - low[1])
        for i, value in enumerate((*low, *high, area)):
            made.store(value, [*at, IndexExpr(i)])

    each(boxes.shape[:2], one_box)
    return made


@dataclass(frozen=True)
class _Box:
    """Hold the corners and the area of a box."""

    sides: tuple[Value, ...]
    area: Value

    @staticmethod
    def load(box: Buffer) -> "_Box":
        sides = tuple(box.load([IndexExpr(i)]) for i in range(SIDES))
        return _Box(sides, box.load([IndexExpr(AREA)]))

    def overlaps(self, other: "_Box", share: Value) -> Value:
        """Test whether the intersection is more than a share of the union."""
        low = [a.maximum(b) for a, b in zip(self.sides[:2], other.sides[:2], strict=True)]
        high = [a.minimum(b) for a, b in zip(self.sides[2:], other.sides[2:], strict=True)]
        width, height = ((b - a).maximum(0) for a, b in zip(low, high, strict=True))
        shared = width * height
        return shared.greater(share * (self.area + other.area - shared))


class _List:
    """Keep the boxes of a class that may still be chosen, in order, in memory of a thread."""

    def __init__(self, kernel: KernelBuilder, number: Size, dtype: str, least: Value) -> None:
        self.places = kernel.private((greatest(number, 1),), "i64")
        self.scores = kernel.private((greatest(number, 1),), dtype)
        self.state = kernel.private((2,), "i64")  # how many there are, and which is the best
        self.least = least

    def fill(self, scores: Buffer, number: Size) -> None:
        """List the boxes whose score is high enough."""

        def one_box(i: IndexExpr, now: list[Value]) -> list[Value]:
            score = scores.load([i])
            return self._add(i.to_value("i64"), score, score.greater(self.least), now)

        self._note(carry(number, self._nothing(), one_box))

    def is_left(self) -> Value:
        """Test whether there are any boxes."""
        return self.state.load([IndexExpr(0)]).greater(0)

    def best(self) -> Value:
        """Return the place of the box with the highest score, of equal ones that of the first."""
        return self.places.load([index_of(self.state.load([IndexExpr(1)]))])

    def strike(self, is_kept: Test) -> None:
        """Strike the best box, and those that fail a test."""
        count, best = (self.state.load([IndexExpr(i)]) for i in range(2))

        def one_box(i: IndexExpr, now: list[Value]) -> list[Value]:
            place, score = self.places.load([i]), self.scores.load([i])
            kept = is_kept(place).logical_and(i.to_value("i64").not_equal(best))
            return self._add(place, score, kept, now)

        self._note(carry(index_of(count), self._nothing(), one_box))

    def _nothing(self) -> list[Value]:
        return [_zero(), _zero(), self.least]

    def _add(self, place: Value, score: Value, kept: Value, now: list[Value]) -> list[Value]:
        """Write a box to the end of the list, which it makes longer only if it is kept."""
        count, best, top = now
        self.places.store(place, [index_of(count)])
        self.scores.store(score, [index_of(count)])
        better = score.greater(top).logical_and(kept)
        return [count + kept.cast("i64"), better.select(count, best), better.select(score, top)]

    def _note(self, now: list[Value]) -> None:
        for i, value in enumerate(now[:2]):
            self.state.store(value, [IndexExpr(i)])
