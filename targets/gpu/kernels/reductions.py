"""Reductions of the elements of a row to a few values, in any order."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ....dialects.core.tensor import DTYPES, numpy_dtype
from .value import Value, full

State = Sequence[Value]
"""The state of a reduction: some values for each lane, or for each row."""


class Columns(Protocol):
    """A block of columns of the rows that are reduced."""

    @property
    def index(self) -> Value:
        """Return the index of each column."""
        ...

    def only(self, number: Value, otherwise: float) -> Value:
        """Replace the elements beyond the end of a row."""
        ...

    def count(self, dtype: str) -> Value:
        """Return the number of elements of each row in the block."""
        ...


class Reduction(ABC):
    """Base of reductions. `dtypes` and `identities` describe the state of no elements."""

    @property
    @abstractmethod
    def dtypes(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def identities(self) -> tuple[float, ...]: ...

    @abstractmethod
    def initial(self, x: Value, columns: Columns) -> list[Value]:
        """Return the state of single elements; elements beyond a row's end must not count."""

    @abstractmethod
    def combine(self, a: State, b: State) -> list[Value]:
        """Combine the states of two sets of elements, lane by lane."""

    @abstractmethod
    def combine_lanes(self, state: State) -> list[Value]:
        """Combine the states of the lanes along dimension 1."""

    def reduce(self, x: Value, columns: Columns) -> list[Value]:
        """Return the state of whole rows."""
        return self.combine_lanes(self.initial(x, columns))

    def identity(self, *shape: int | str) -> list[Value]:
        """Return the state of no elements."""
        pairs = zip(self.identities, self.dtypes, strict=True)
        return [full(value, dtype, shape) for value, dtype in pairs]


@dataclass(frozen=True)
class SimpleReduction(Reduction):
    """Compute the `sum`, `prod`, `max` or `min`; the latter are NaN if an element is."""

    kind: str
    dtype: str

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (self.dtype,)

    @property
    def identities(self) -> tuple[float, ...]:
        if self.kind in ("sum", "prod"):
            return (0 if self.kind == "sum" else 1,)
        return (extreme_value(self.dtype, least=self.kind == "max"),)

    def initial(self, x: Value, columns: Columns) -> list[Value]:
        return [x]

    def combine(self, a: State, b: State) -> list[Value]:
        (x,), (y,) = a, b
        if self.kind in ("sum", "prod"):
            return [x + y if self.kind == "sum" else x * y]
        return [x.maximum(y) if self.kind == "max" else x.minimum(y)]

    def combine_lanes(self, state: State) -> list[Value]:
        (x,) = state
        found = x.reduce(self.kind, 1)
        if self.kind in ("sum", "prod") or not x.is_float:
            return [found]
        return [_any(x.is_nan()).select(found.like(math.nan), found)]


@dataclass(frozen=True)
class LogSumExp(Reduction):
    """The maximum, and the sum of exp(element - maximum).

    A maximum that is infinite is not subtracted: -inf, or both infinities if `finite`.
    """

    dtype: str
    finite: bool = False

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (self.dtype, self.dtype)

    @property
    def identities(self) -> tuple[float, ...]:
        return (-math.inf, 0.0)

    def initial(self, x: Value, columns: Columns) -> list[Value]:
        return [x, full(1, self.dtype, x.shape)]

    def combine(self, a: State, b: State) -> list[Value]:
        top = a[0].maximum(b[0])
        shift = self.shift(top)
        scaled = [(part[0] - shift).apply("exp") * part[1] for part in (a, b)]
        return [top, scaled[0] + scaled[1]]

    def combine_lanes(self, state: State) -> list[Value]:
        top = state[0].reduce("max", 1).named("top")
        powers = self.powers(state[0], top) * state[1]
        return [top, powers.reduce("sum", 1).named("total")]

    def reduce(self, x: Value, columns: Columns) -> list[Value]:
        top = x.reduce("max", 1).named("top")
        return [top, self.powers(x, top).reduce("sum", 1).named("total")]

    def powers(self, x: Value, top: Value) -> Value:
        """Return exp(element - maximum of the row)."""
        return (x - self.shift(top).expand(1)).apply("exp")

    def shift(self, top: Value) -> Value:
        """Return the number that is subtracted from elements."""
        if self.finite:
            return top.abs().less(math.inf).select(top, 0.0)
        return top.equal(-math.inf).select(top.like(0), top)


@dataclass(frozen=True)
class Moments(Reduction):
    """The number of elements, their mean, and the sum of squared deviations from the mean.

    Source: Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", 1983.
    """

    dtype: str

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (self.dtype,) * 3

    @property
    def identities(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0)

    def initial(self, x: Value, columns: Columns) -> list[Value]:
        one = full(1, self.dtype, x.shape)
        return [columns.only(one, 0), x, full(0, self.dtype, x.shape)]

    def combine(self, a: State, b: State) -> list[Value]:
        count = a[0] + b[0]
        away = b[1] - a[1]
        share = b[0] / count.maximum(1)
        return [count, a[1] + away * share, a[2] + b[2] + away * away * a[0] * share]

    def combine_lanes(self, state: State) -> list[Value]:
        count, mean, squares = state
        total = count.reduce("sum", 1)
        middle = ((count * mean).reduce("sum", 1) / total.maximum(1)).named("mean")
        away = mean - middle.expand(1)
        return [total, middle, (squares + count * away * away).reduce("sum", 1).named("squares")]

    def reduce(self, x: Value, columns: Columns) -> list[Value]:
        count = columns.count(self.dtype)
        mean = (x.reduce("sum", 1) / count).named("mean")
        away = columns.only(x - mean.expand(1), 0)
        return [count, mean, (away * away).reduce("sum", 1).named("squares")]


@dataclass(frozen=True)
class ArgReduction(Reduction):
    """The maximum or minimum and its index, the first or last one of equal elements.

    NaN is the extreme.
    """

    kind: str
    dtype: str
    last: bool = False

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (self.dtype, "i32")

    @property
    def identities(self) -> tuple[float, ...]:
        return (extreme_value(self.dtype, least=self.kind == "max"), -1 if self.last else 2**31 - 1)

    def initial(self, x: Value, columns: Columns) -> list[Value]:
        missing = int(self.identities[1])
        return [x, columns.only(columns.index, missing)]

    def combine(self, a: State, b: State) -> list[Value]:
        (x, i), (y, j) = a, b
        further = y.greater(x) if self.kind == "max" else y.less(x)
        same = y.equal(x)
        if x.is_float:
            further = further.logical_or(y.is_nan().logical_and(x.is_nan().invert()))
            same = same.logical_or(x.is_nan().logical_and(y.is_nan()))
        nearer = j.greater(i) if self.last else j.less(i)
        wins = further.logical_or(same.logical_and(nearer))
        return [wins.select(y, x), wins.select(j, i)]

    def combine_lanes(self, state: State) -> list[Value]:
        x, place = state
        (top,) = SimpleReduction(self.kind, self.dtype).combine_lanes([x])
        hit = x.equal(top.expand(1))
        if x.is_float:
            hit = hit.logical_or(x.is_nan())
        found = hit.select(place, self.identities[1])
        return [top, found.reduce("max" if self.last else "min", 1)]


def extreme_value(dtype: str, least: bool) -> float:
    """Return the least or the greatest number of a type; integers are exact."""
    kind = DTYPES[dtype].kind
    if kind == "float":
        return -math.inf if least else math.inf
    if kind == "bool":
        return 0 if least else 1
    info = np.iinfo(numpy_dtype(dtype))
    return int(info.min if least else info.max)


def _any(condition: Value) -> Value:
    """Return for each row whether a condition holds anywhere along dimension 1."""
    return condition.cast("i32").reduce("max", 1).not_equal(0)
