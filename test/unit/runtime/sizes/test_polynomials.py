"""Polynomials of sizes: equal ones are equal tuples, with the values of Python's arithmetic."""

import math
from collections.abc import Callable
from operator import add, mul, sub

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.runtime.sizes import polynomials
from trivium.runtime.sizes.formulas import Formulas
from trivium.runtime.sizes.polynomials import Polynomial, divided, number, variable

AT = {"a": 3, "b": -5, "c": 7}
"""Values of the variables."""

OPERATIONS = {add: polynomials.add, sub: polynomials.subtract, mul: polynomials.multiply}


def value(polynomial: Polynomial) -> int:
    return sum(factor * math.prod(AT[name] for name in names) for names, factor in polynomial)


@st.composite
def pairs(draw: st.DrawFn, depth: int = 3) -> tuple[Polynomial, int]:
    """Draw a polynomial, and the value that it must have."""
    if not depth or draw(st.booleans()):
        name = draw(st.sampled_from([*AT, None]))
        known = draw(st.integers(-9, 9)) if name is None else AT[name]
        return (number(known) if name is None else variable(name)), known
    operation = draw(st.sampled_from(list(OPERATIONS)))
    (one, left), (other, right) = draw(pairs(depth - 1)), draw(pairs(depth - 1))
    return OPERATIONS[operation](one, other), operation(left, right)


@given(pairs())
def test_polynomials_have_the_values_of_python(drawn: tuple[Polynomial, int]):
    polynomial, wanted = drawn
    assert value(polynomial) == wanted


@given(st.tuples(pairs(), pairs(), pairs()))
def test_equal_polynomials_are_the_same_tuple(drawn: tuple[tuple[Polynomial, int], ...]):
    one, other, third = (polynomial for polynomial, _ in drawn)
    plus, times = polynomials.add, polynomials.multiply
    assert times(plus(one, other), third) == plus(times(third, other), times(one, third))
    assert polynomials.subtract(plus(one, other), other) == one


@given(pairs())
def test_a_polynomial_is_divided_by_all_that_its_terms_share(drawn: tuple[Polynomial, int]):
    polynomial, wanted = drawn
    if not polynomial:
        return
    factor, common, rest = divided(polynomial)
    assert factor * math.prod(AT[name] for name in common) * value(rest) == wanted
    assert divided(rest) == (1, (), rest)


def times_itself(text: str) -> str:
    return "*".join([text] * 40)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (times_itself("(N + T)"), lambda n, t: (n + t) ** 40),
        (times_itself("N"), lambda n, t: n**40),
        (times_itself("9000000000000000000"), lambda n, t: (9 * 10**18) ** 40),
        ("+".join(f"N//{i} * T//{i + 1}" for i in range(1, 50)), None),
    ],
)
def test_what_would_be_long_is_not_multiplied_out(
    text: str, wanted: Callable[[int, int], int] | None
):
    formulas = Formulas(("N", "T"))
    formula = formulas.read(text)
    assert len(formula) <= polynomials.MOST_TERMS
    known = eval(text, {}, {"N": 1000, "T": 77}) if wanted is None else wanted(1000, 77)
    assert formulas.function([formula])(1000, 77) == ((known,),)
