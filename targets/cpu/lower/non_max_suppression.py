"""The lowering of choosing boxes that do not overlap.

Of each class, on any thread: queue the boxes whose score is high enough, and take one after the
other, the best one first, until enough are chosen: those that overlap none of them too much. Then
the boxes of all classes are put together.
"""

import math
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.tri.selection.non_max_suppression import most_of_class
from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, carry, carry_while, for_each, greatest, index_of
from ..kernels.loops import each, each_of
from ..kernels.queue import Queue
from ..kernels.value import Value, constant_of, strict_numbers
from ..registry import template

SIDES = 4
AREA = 4


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
        queue = Queue(kernel, number, dtype)
        kept = kernel.private((greatest(limit, 1),), "i64")
        most = IndexExpr(limit).to_value("i64")
        lowest = _threshold(least, -math.inf, dtype)

        def one_class(at: IndexExpr) -> None:
            batch = at // classes
            sides = corners.part([batch])
            here = scores.part([batch, at % classes])

            def goes_on(now: list[Value]) -> Value:
                return now[0].greater(0).logical_and(now[1].less(most))

            def try_next(now: list[Value]) -> list[Value]:
                left, count = now
                place = queue.pop(left)
                kept.store(place, [index_of(count)])
                is_free = _is_free(sides, kept, place, count, share)
                return [left - 1, count + is_free.cast("i64")]

            queued = queue.fill(here, number, lowest)
            _, found = carry_while([queued, _zero()], goes_on, try_next)
            for_each(index_of(found), lambda k: chosen.store(kept.load([k]), [at, k]))
            counts.store(found, [at])

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


def _is_free(sides: Buffer, kept: Buffer, place: Value, count: Value, share: Value) -> Value:
    """Test that a box does not overlap one of those that were chosen before."""
    box = _Box.load(sides.part([index_of(place)]))

    def goes_on(now: list[Value]) -> Value:
        return now[0].less(count).logical_and(now[1])

    def compare(now: list[Value]) -> list[Value]:
        other = _Box.load(sides.part([index_of(kept.load([index_of(now[0])]))]))
        return [now[0] + 1, other.overlaps(box, share).invert()]

    return carry_while([_zero(), IndexExpr(0).equal(0)], goes_on, compare)[1]
