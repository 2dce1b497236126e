"""Polynomials of variables with whole coefficients: equal ones are the same tuple.

What a package says of sizes is mostly multiples of few polynomials. In this form they are found to
be, and each is computed once in a plan.
"""

from collections.abc import Mapping, Sequence
from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = tuple[str, ...]
"""The factors of a product, in order."""

Polynomial: TypeAlias = tuple[tuple[Monomial, int], ...]
"""Monomials, those of few factors first, with coefficients that are not 0."""

MOST_TERMS, MOST_FACTORS, MOST_BITS = 32, 16, 1024


def number(value: int) -> Polynomial:
    """Return a polynomial without variables."""
    return (((), value),) if value else ()


def variable(name: str) -> Polynomial:
    """Return the polynomial that is a variable."""
    return (((name,), 1),)


def as_number(polynomial: Polynomial) -> int | None:
    """Return the value of a polynomial without variables, None for any other."""
    if not polynomial:
        return 0
    return polynomial[0][1] if len(polynomial) == 1 and not polynomial[0][0] else None


def add(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the sum of two polynomials."""
    if not left or not right:
        return left or right
    terms = dict(left)
    for monomial, coefficient in right:
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return _in_order(terms)


def subtract(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the difference of two polynomials."""
    return add(left, tuple([(monomial, -coefficient) for monomial, coefficient in right]))


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    if len(left) == len(right) == 1:
        return ((tuple(sorted((*left[0][0], *right[0][0]))), left[0][1] * right[0][1]),)
    terms: dict[Monomial, int] = {}
    for one, factor in left:
        for other, coefficient in right:
            monomial = tuple(sorted((*one, *other)))
            terms[monomial] = terms.get(monomial, 0) + factor * coefficient
    return _in_order(terms)


def is_short(polynomial: Polynomial) -> bool:
    """Return whether a polynomial may be multiplied out; longer ones need a variable."""
    return len(polynomial) <= MOST_TERMS and all(
        len(monomial) <= MOST_FACTORS and coefficient.bit_length() <= MOST_BITS
        for monomial, coefficient in polynomial
    )


def divided(polynomial: Polynomial) -> tuple[int, Monomial, Polynomial]:
    """Divide a polynomial, not 0, by what its terms have in common: a number, and a product.

    The last coefficient of what is left is above 0.
    """
    if len(polynomial) == 1:
        monomial, coefficient = polynomial[0]
        return coefficient, monomial, number(1)
    content = gcd(*(coefficient for _, coefficient in polynomial))
    content = -content if polynomial[-1][1] < 0 else content
    common = list(polynomial[0][0])
    for monomial, _ in polynomial[1:]:
        common = _common(common, monomial)
    terms = {_without(m, common): coefficient // content for m, coefficient in polynomial}
    return content, tuple(common), _in_order(terms)


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    rest = list(other)
    found: list[str] = []
    for name in one:
        if name in rest:
            rest.remove(name)
            found.append(name)
    return found


def _without(monomial: Monomial, factors: Sequence[str]) -> Monomial:
    rest = list(monomial)
    for name in factors:
        rest.remove(name)
    return tuple(rest)


def _in_order(terms: Mapping[Monomial, int]) -> Polynomial:
    listed = [term for term in terms.items() if term[1]]
    if len(listed) > 1:
        listed.sort(key=_place)
    return tuple(listed)


def _place(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    return len(term[0]), term[0]
