"""Strips: reductions along one axis and what is done with their results, with vectors.

A tensor is seen as [outer, length], where a strip is one row and vectors lie along it, or as
[outer, length, inner], where vectors lie across neighbouring strips, along the inner axis.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Shape, normalize_axis
from .buffer import Lanes, tail_mask, vector
from .contraction import splat
from .epilogue import each_vector
from .index import IndexExpr, carry, for_each
from .loops import each_of
from .value import REASSOCIATE, Value, constant_of, element_type, fast_flags

SIDE_BY_SIDE = 4
"""Vectors of a long strip that are accumulated apart, so that one need not wait for the other.

That is of no use where an element takes longer to compute than to accumulate.
"""

Element = Callable[[list[IndexExpr], Lanes | None], Value]

_IDENTITY = {"add": 0.0, "mul": 1.0, "maximumf": float("-inf"), "minimumf": float("inf")}


def combine(kind: str, a: Value, b: Value) -> Value:
    """Join two partial results of a reduction."""
    if kind == "add":
        return a + b
    if kind == "mul":
        return a * b
    return a.maximum(b) if kind == "maximumf" else a.minimum(b)


@dataclass(frozen=True)
class Strip:
    """One strip, or one vector of neighbouring strips: where it is and how to walk it."""

    outer: IndexExpr
    length: int
    width: int
    inner: IndexExpr | None = None
    across: Lanes | None = None  # lanes over neighbouring strips, when there is an inner axis

    def fold(self, kind: str, element: Element, dtype: str, beside: int = SIDE_BY_SIDE) -> Value:
        """Reduce a floating-point function of the strip's elements; `kind` is add, maximumf, …

        The result is one scalar, or one lane for each strip of a vector of strips. So many vectors
        are accumulated `beside` one another.
        """
        start = self._identity(kind, dtype)
        if self.inner is not None:

            def step(i: IndexExpr, now: list[Value]) -> list[Value]:
                return [combine(kind, now[0], element(self._at(i), self.across))]

            return carry(self.length, [start], step)[0]
        enough = self.length >= 2 * beside * self.width
        return self._fold_along(kind, element, start, beside if enough else 1)

    def _fold_along(self, kind: str, element: Element, start: Value, beside: int) -> Value:
        stride = beside * self.width
        full = self.length - self.length % self.width
        rounds = full - full % stride

        def vector_at(i: IndexExpr) -> Value:
            return element(self._at(i), Lanes(self.width))

        def step(i: IndexExpr, now: list[Value]) -> list[Value]:
            return [
                combine(kind, total, vector_at(i + number * self.width))
                for number, total in enumerate(now)
            ]

        totals = carry(rounds, [start] * beside, step, step=stride) if rounds else [start]
        for number, at in enumerate(range(rounds, full, self.width)):
            totals[number] = combine(kind, totals[number], vector_at(IndexExpr(at)))
        total = reduce(partial(combine, kind), totals)
        if self.length > full:
            lanes = Lanes(self.width, tail_mask(self.width, self.length - full))
            rest = element(self._at(IndexExpr(full)), lanes)
            kept = Value(lanes.mask, "i1").select(rest, start)
            total = combine(kind, total, kept)
        return _across_lanes(kind, total)

    def each(self, body: Callable[[list[IndexExpr], Lanes | None], None]) -> None:
        """Visit all elements of the strip."""
        if self.inner is not None:
            for_each(self.length, lambda i: body(self._at(i), self.across))
            return
        each_vector((self.length,), self.width, lambda i, lanes: body(self._at(i[0]), lanes))

    def spread(self, value: Value) -> Value:
        """Repeat a result of `fold` in all lanes in which `each` works."""
        return value if self.inner is not None else splat(value, self.width)

    def _at(self, i: IndexExpr) -> list[IndexExpr]:
        return [self.outer, i] if self.inner is None else [self.outer, i, self.inner]

    def _identity(self, kind: str, dtype: str) -> Value:
        type_ = ir.VectorType.get([self.width], element_type(dtype))
        return Value(constant_of(_IDENTITY[kind], dtype, type_), dtype)


def strip_shape(shape: Shape, axis: int) -> Shape:
    """Return a shape as strips along one axis: [outer, length], with [inner] unless that is 1."""
    axis = normalize_axis(axis, len(shape))
    inner = math.prod(shape[axis + 1 :])
    outer = (math.prod(shape[:axis]), shape[axis])
    return outer if inner == 1 else (*outer, inner)


def each_strip(shape: Shape, width: int, body: Callable[[Strip], None]) -> None:
    """Emit independent iterations over all strips of a tensor seen as `strip_shape` says."""
    outer, length, *inner = shape
    if not inner:
        each_of(outer, lambda i: body(Strip(i, length, width)))
        return

    def column(at: list[IndexExpr], lanes: Lanes | None) -> None:
        body(Strip(at[0], length, width, at[1], lanes))

    each_vector((outer, *inner), width, column)


def _across_lanes(kind: str, value: Value) -> Value:
    """Reduce the lanes of a vector to one scalar."""
    reduced: Any = ir.Attribute.parse(f"#vector.kind<{kind}>")
    flags = fast_flags(REASSOCIATE)
    result = vector.reduction(element_type(value.dtype), reduced, value.ssa, fastmath=flags)
    return value.with_ssa(result)
