"""Strips: vectorized reductions along one axis, and loops that use the results.

A tensor is viewed as [outer, length], where a strip is one row with vectors along it, or as
[outer, length, inner], with vectors across neighbouring strips, along the inner axis.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Shape, normalize_axis
from .buffer import Lanes, tail_mask
from .epilogue import each_vector
from .held_constants import held_constants
from .index import IndexExpr, carry, for_each, greatest, least, replaced_if
from .loops import each_of
from .products.contraction import splat
from .reduction import Reduction
from .value import Value

SIDE_BY_SIDE = 4
"""Independent accumulators of a long strip, which hide the latency of an addition.

They do not pay if an element takes longer to compute than to accumulate.
"""

Element = Callable[[list[IndexExpr], Lanes | None], Value]


@dataclass(frozen=True)
class Strip:
    """Address the elements of one strip, or of one vector of neighbouring strips."""

    outer: IndexExpr
    length: Size
    width: int
    inner: IndexExpr | None = None
    across: Lanes | None = None  # lanes over neighbouring strips, when there is an inner axis

    def reduce(self, kind: str, element: Element, dtype: str, beside: int = SIDE_BY_SIDE) -> Value:
        """Reduce a function of the strip's elements; `kind` is that of a `Reduction`.

        The result is one scalar, or one lane for each strip of a vector of strips. A long strip has
        `beside` independent accumulators.
        """
        how = Reduction(kind, dtype)
        start = how.identity(self.width)
        if self.inner is not None:

            def step(i: IndexExpr, now: list[Value]) -> list[Value]:
                return [how.combine(now[0], element(self._at(i), self.across))]

            return carry(self.length, [start], step)[0]
        return self._reduce_along(how, element, start, beside)

    def _reduce_along(self, how: Reduction, element: Element, start: Value, beside: int) -> Value:
        if is_symbolic(self.length) and (beside == 1 or how.is_unordered):
            with held_constants():
                return self._reduce_freely(how, element, start, beside)
        stride = beside * self.width
        full = self.length - self.length % self.width
        long = _is_long(self.length, stride) if beside > 1 else 0
        rounds, alone = (full - full % stride) * long, full * (1 - long)

        def vector_at(i: IndexExpr) -> Value:
            return element(self._at(i), Lanes(self.width))

        def step(i: IndexExpr, now: list[Value]) -> list[Value]:
            return [
                how.combine(total, vector_at(i + number * self.width))
                for number, total in enumerate(now)
            ]

        totals = [start]
        if rounds != 0:
            totals = carry(rounds, [start] * beside, step, step=stride)
        if alone != 0:
            totals[:1] = carry(alone, totals[:1], step, step=self.width)
        left = (full - rounds - alone) // self.width
        for number in range(len(totals) - 1):

            def with_left(number: int = number) -> Value:
                at = IndexExpr(rounds + number * self.width)
                return how.combine(totals[number], vector_at(at))

            some = greatest(least(left - number, 1), 0)
            totals[number] = replaced_if(some, totals[number], with_left)
        total = reduce(how.combine, totals)
        return how.across(self._with_rest(how, element, (start, total), full))

    def _reduce_freely(self, how: Reduction, element: Element, start: Value, beside: int) -> Value:
        """Reduce a strip of a length that changes; several accumulators may take any vectors."""
        full = self.length - self.length % self.width
        rounds = full - full % (beside * self.width) if beside > 1 else 0

        def step(i: IndexExpr, now: list[Value]) -> list[Value]:
            starts = (i + number * self.width for number in range(len(now)))
            loaded = [element(self._at(at), Lanes(self.width)) for at in starts]
            return [how.combine(*pair) for pair in zip(now, loaded, strict=True)]

        totals = [start]
        if rounds != 0:
            totals = carry(rounds, [start] * beside, step, step=beside * self.width)
        (total,) = carry(full, [reduce(how.combine, totals)], step, self.width, start=rounds)
        return how.across(self._with_rest(how, element, (start, total), full))

    def _with_rest(
        self, how: Reduction, element: Element, now: tuple[Value, Value], full: Size
    ) -> Value:
        """Combine a total with the elements from `full` on, if there are any: part of a vector.

        `now` is what a total starts with, and the total.
        """
        start, total = now

        def combined() -> Value:
            lanes = Lanes(self.width, tail_mask(self.width, self.length - full))
            rest = element(self._at(IndexExpr(full)), lanes)
            kept = Value(lanes.mask, "i1").select(rest, start)
            return how.combine(total, kept)

        return replaced_if(least(self.length - full, 1), total, combined)

    def each(self, body: Callable[[list[IndexExpr], Lanes | None], None]) -> None:
        """Visit all elements of the strip."""
        if self.inner is not None:
            for_each(self.length, lambda i: body(self._at(i), self.across))
            return
        each_vector((self.length,), self.width, lambda i, lanes: body(self._at(i[0]), lanes))

    def spread(self, value: Value) -> Value:
        """Repeat a result of `reduce` in all lanes in which `each` works."""
        return value if self.inner is not None else splat(value, self.width)

    def _at(self, i: IndexExpr) -> list[IndexExpr]:
        return [self.outer, i] if self.inner is None else [self.outer, i, self.inner]


def _is_long(length: Size, stride: int) -> Size:
    """Return 1 where a strip is long enough for several accumulators, else 0."""
    enough = at_least(length, 2 * stride)
    return least(length // (2 * stride), 1) if enough is None else int(enough)


def strip_shape(shape: Shape, axis: int) -> Shape:
    """Return a shape as strips along one axis: [outer, length], with [inner] unless that is 1."""
    axis = normalize_axis(axis, len(shape))
    inner = math.prod(shape[axis + 1 :])
    outer = (math.prod(shape[:axis]), shape[axis])
    return outer if inner == 1 else (*outer, inner)


def each_strip(shape: Shape, width: int, body: Callable[[Strip], None]) -> None:
    """Emit independent iterations over all strips of a tensor of the shape `strip_shape`."""
    outer, length, *inner = shape
    if not inner:
        each_of(outer, lambda i: body(Strip(i, length, width)))
        return

    def column(at: list[IndexExpr], lanes: Lanes | None) -> None:
        body(Strip(at[0], length, width, at[1], lanes))

    each_vector((outer, *inner), width, column)
