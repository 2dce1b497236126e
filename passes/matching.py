"""A vocabulary that says what a fragment of a graph looks like, up to the order of operands.

    X = value("x")
    CUBE = product(power(X, 3))
    TANH = node(tri.Tanh, product(0.79788456, total(X, product(0.044715, CUBE))))
    GELU = product(0.5, X, total(1.0, TANH))

`product` and `total` know that factors and terms commute and associate: they look through whole
trees of Mul, Div, Neg, Sqrt, Rsqrt, Reciprocal and Pow, or of Add, Sub and Neg, and gather the
constant numbers in them. So one fragment stands for every way in which exporters write it.

An op belongs to a fragment only when all of its uses do; `match` checks that.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.mlir import ir
from ..dialects.core.op import Op
from .fold.chains import Chain
from .rewriting import NoMatch, Pattern, Rewriter, users

TOLERANCE = {"f16": 2e-3, "bf16": 1.6e-2}
"""How far, relatively, numbers in the IR may be off those in a fragment, by element type."""

EXACT = 1e-4
"""The same for other types: people shorten numbers."""


@dataclass(frozen=True)
class Found:
    """Hold what a fragment matched: values and numbers by name, and the ops that it covers."""

    values: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    ops: tuple[Op, ...] = ()

    def with_value(self, name: str, value: ir.Value) -> "Found":
        return Found({**self.values, name: value}, self.numbers, self.ops)

    def with_number(self, name: str, number: float) -> "Found":
        return Found(self.values, {**self.numbers, name: number}, self.ops)

    def with_ops(self, *ops: Op) -> "Found":
        return Found(self.values, self.numbers, (*self.ops, *ops))


class Fragment:
    """Base of fragments: `find` yields every way to match the op that makes a value."""

    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        raise NotImplementedError


Part = Fragment | float


@dataclass(frozen=True)
class _Value(Fragment):
    name: str

    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        known = found.values.get(self.name)
        if known is None:
            yield found.with_value(self.name, value)
        elif known == value:
            yield found


@dataclass(frozen=True)
class _Number(Fragment):
    number: float

    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        number = rewriter.find_scalar(value)
        if number is not None and _near(number, self.number, _tolerance(value)):
            yield found


@dataclass(frozen=True)
class _Scalar(Fragment):
    name: str

    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        number = rewriter.find_scalar(value)
        if number is not None:
            yield found.with_number(self.name, number)


@dataclass(frozen=True)
class _Node(Fragment):
    cls: type[Op]
    operands: tuple[Fragment, ...]
    name: str
    attributes: tuple[tuple[str, Any], ...]

    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        op = rewriter.find_producer(value)
        if not isinstance(op, self.cls) or not self._fits(op):
            return
        operands = list(op.operation.operands)
        if len(operands) != len(self.operands):
            return
        found = found.with_ops(op)
        if self.name:
            found = found.with_value(self.name, value)
        orders = [operands, operands[::-1]] if isinstance(op, COMMUTATIVE) else [operands]
        for order in orders:
            yield from _find_all(self.operands, order, found, rewriter)

    def _fits(self, op: Op) -> bool:
        if not self.attributes:
            return True
        given = op.attributes
        return all(_same(given[name], wanted) for name, wanted in self.attributes)


@dataclass(frozen=True)
class _Power(Fragment):
    base: Fragment
    exponent: float


@dataclass(frozen=True)
class _Either(Fragment):
    choices: tuple[Fragment, ...]

    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        for choice in self.choices:
            yield from choice.find(value, found, rewriter)


@dataclass(frozen=True)
class _Chained(Fragment):
    """Base of products and totals: their number, or the name for it, and what else they have."""

    number: float
    scalar: str
    parts: tuple[tuple[Fragment, float], ...]

    def find_parts(self, chain: Chain, value: ir.Value, found: Found) -> Iterator[Found]:
        """Yield every way to match the parts of a chain, which ends in a value, with these."""
        if len(chain.parts) != len(self.parts) or not chain.ops:
            return
        if self.scalar:
            found = found.with_number(self.scalar, chain.number)
        elif not _near(chain.number, self.number, _tolerance(value)):
            return
        fragments = [fragment for fragment, _ in self.parts]
        wanted = [exponent for _, exponent in self.parts]
        for order in itertools.permutations(chain.parts.items()):
            if [exponent for _, exponent in order] == wanted:
                values = [part for part, _ in order]
                yield from _find_all(fragments, values, found.with_ops(*chain.ops), chain.rewriter)


class _Product(_Chained):
    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        chain = Chain(rewriter, neutral=1)
        chain.add_factor(value)
        return self.find_parts(chain, value, found)


class _Total(_Chained):
    def find(self, value: ir.Value, found: Found, rewriter: Rewriter) -> Iterator[Found]:
        chain = Chain(rewriter, neutral=0)
        chain.add_term(value)
        return self.find_parts(chain, value, found)


COMMUTATIVE = (tri.Add, tri.Mul, tri.Minimum, tri.Maximum, tri.And, tri.Or, tri.Equal)


# -- the words -------------------------------------------------------------------------------------


def value(name: str) -> Fragment:
    """Match any value and name it; the same name again must be the same value."""
    return _Value(name)


def scalar(name: str) -> Fragment:
    """Match a constant that is one number, and name the number."""
    return _Scalar(name)


def node(cls: type[Op], *operands: Part, name: str = "", **attributes: Any) -> Fragment:
    """Match an op of a class by its operands and attributes, and name its value if asked to."""
    return _Node(cls, tuple(map(_lift, operands)), name, tuple(attributes.items()))


def either(*choices: Fragment) -> Fragment:
    """Match the first of several fragments that fits."""
    return _Either(choices)


def power(base: Fragment, exponent: float) -> Fragment:
    """Match a factor of a product to a power: x*x, Pow(x, 2), or with -0.5 a 1 / sqrt(x)."""
    return _Power(base, exponent)


def minus(term: Fragment) -> Fragment:
    """Match a term that a total subtracts."""
    return _Power(term, -1)


def product(*factors: Part) -> Fragment:
    """Match a product of these factors; numbers among them multiply, or a `scalar` names them."""
    return _Product(*_sorted_parts(factors, math.prod))


def total(*terms: Part) -> Fragment:
    """Match a sum of these terms; numbers among them add up, or a `scalar` names their sum."""
    return _Total(*_sorted_parts(terms, math.fsum))


def _lift(part: Part) -> Fragment:
    return part if isinstance(part, Fragment) else _Number(part)


def _sorted_parts(
    parts: Sequence[Part], join: Any
) -> tuple[float, str, tuple[tuple[Fragment, float], ...]]:
    """Separate numbers, a scalar and fragments; what is most particular comes first."""
    number = join([part for part in parts if not isinstance(part, Fragment)])
    scalars = [part.name for part in parts if isinstance(part, _Scalar)]
    fragments = [
        (part.base, part.exponent) if isinstance(part, _Power) else (part, 1.0)
        for part in parts
        if isinstance(part, Fragment) and not isinstance(part, _Scalar)
    ]
    fragments.sort(key=lambda part: isinstance(part[0], _Value))
    return number, scalars[0] if scalars else "", tuple(fragments)


# -- matching --------------------------------------------------------------------------------------


def match(fragment: Fragment, op: Op, rewriter: Rewriter) -> Found:
    """Return the first way in which an op and those above it are the fragment.

    Raises NoMatch when there is none, or when only such as use ops that others need, too.
    """
    fault = "it is not the end of the fragment"
    for found in fragment.find(op.results[0], Found(), rewriter):
        inside = {part.operation for part in found.ops}
        outside = [
            part
            for part in found.ops
            if part != op and not inside.issuperset(users(part.results[0]))
        ]
        if not outside:
            return found
        fault = f"value of {outside[0].op_name} is used outside of the fragment"
    raise NoMatch(fault)


class FuseFragment(Pattern):
    """Base of patterns that replace a fragment by the one op that it amounts to.

    The fragment names its input `x`, which must have the type of the result.
    """

    fragment: ClassVar[Fragment]

    def build(self, found: Found, rewriter: Rewriter) -> Op:
        """Make the op that stands for the fragment; raise NoMatch, before, to leave it."""
        raise NotImplementedError

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        found = match(self.fragment, op, rewriter)
        have, want = found.values["x"].type, op.results[0].type
        if have != want:
            raise NoMatch(f"input is {have}, must be {want} like the result")
        with rewriter.before(op):
            new = self.build(found, rewriter)
        rewriter.replace(op, new, *found.ops)


def _find_all(
    fragments: Sequence[Fragment], values: Sequence[ir.Value], found: Found, rewriter: Rewriter
) -> Iterator[Found]:
    if not fragments:
        yield found
        return
    for first in fragments[0].find(values[0], found, rewriter):
        yield from _find_all(fragments[1:], values[1:], first, rewriter)


def _same(have: Any, want: Any) -> bool:
    return _near(have, want, EXACT) if isinstance(want, float) else have == want


def _tolerance(value: ir.Value) -> float:
    return TOLERANCE.get(tensor_of(value.type).dtype, EXACT)


def _near(have: float, want: float, tolerance: float) -> bool:
    return math.isclose(have, want, rel_tol=tolerance, abs_tol=0)
