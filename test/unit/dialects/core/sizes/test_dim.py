"""Sizes: values against Python's own arithmetic on ints, limits, and text that parses back."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects.core.errors import Invalid, Undecided
from trivium.dialects.core.sizes.dim import (
    Dim,
    Size,
    ceildiv,
    divides,
    floordiv,
    highest,
    lowest,
    symbol,
    symbols_of,
)
from trivium.dialects.core.sizes.limits import at_least, bounds, is_same
from trivium.dialects.core.sizes.parse import parse_size
from trivium.dialects.core.sizes.substitution import evaluate, likely, substitute
from trivium.dialects.core.sizes.symbols import Range

RANGES = {"N": Range(), "T": Range(1, 512, 128), "W": Range(7), "U": Range(0, 9)}
SYMBOLS = {name: symbol(name, range) for name, range in RANGES.items()}
N, T, W, U = SYMBOLS.values()


@dataclass
class Drawn:
    """Hold an expression, and its value at one choice of sizes, computed by Python on ints."""

    size: Size
    value: int


VALUES = {"N": (1, 40), "T": (1, 512), "W": (7, 90), "U": (0, 9)}


@st.composite
def expressions(draw: st.DrawFn) -> tuple[Drawn, dict[str, int]]:
    """Draw an expression and the sizes of its symbols."""
    sizes = {name: draw(st.integers(low, high)) for name, (low, high) in VALUES.items()}

    def expression(depth: int) -> Drawn:
        kind = draw(st.sampled_from("s+-*/m<" if depth else "sn"))
        if kind == "s":
            name = draw(st.sampled_from(sorted(sizes)))
            return Drawn(SYMBOLS[name], sizes[name])
        if kind == "n":
            number = draw(st.integers(-20, 40))
            return Drawn(number, number)
        a, b = expression(depth - 1), expression(depth - 1)
        match kind:
            case "+":
                return Drawn(a.size + b.size, a.value + b.value)
            case "-":
                return Drawn(a.size - b.size, a.value - b.value)
            case "*":
                return Drawn(a.size * b.size, a.value * b.value)
            case "/":
                divisor = Drawn(highest(b.size, 2), max(b.value, 2))
                return Drawn(floordiv(a.size, divisor.size), a.value // divisor.value)
            case "m":
                return Drawn(highest(a.size, b.size), max(a.value, b.value))
            case _:
                return Drawn(lowest(a.size, b.size), min(a.value, b.value))

    return expression(draw(st.integers(1, 3))), sizes


@settings(deadline=None, max_examples=300)
@given(expressions())
def test_expressions_have_the_values_limits_and_text_of_int_arithmetic(
    drawn: tuple[Drawn, dict[str, int]],
) -> None:
    expression, sizes = drawn
    assert evaluate(expression.size, sizes) == expression.value
    low, high = bounds(expression.size)
    assert low is None or low <= expression.value
    assert high is None or expression.value <= high
    assert parse_size(str(expression.size), SYMBOLS) == expression.size
    assert eval(str(expression.size), {"max": max, "min": min}, sizes) == expression.value


@settings(deadline=None, max_examples=200)
@given(expressions(), expressions())
def test_decided_comparisons_hold(
    a: tuple[Drawn, dict[str, int]], b: tuple[Drawn, dict[str, int]]
) -> None:
    x, sizes = a
    other = evaluate(b[0].size, sizes)
    assert at_least(x.size, b[0].size) in (None, x.value >= other)
    assert is_same(x.size, b[0].size) in (None, x.value == other)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (N * T * 4 + N, "4*N*T + N"),
        ((N + 1) // 2 // 2, "(N + 1)//4"),
        ((4 * N + 3) // 6, "(2*N + 1)//3"),
        ((6 * N + 5) // 3, "2*N + 1"),
        (lowest(T, 5), "min(5, T)"),
        (highest(T, 5) * 2, "2*max(5, T)"),
        ((highest(T, 5) + 1) // 3, "max((T + 1)//3, 2)"),
        (ceildiv(W, 2), "(W + 1)//2"),
        (ceildiv(ceildiv(N, 2), 2), "(N + 3)//4"),
        ((((N + 1) // 2 + 1) // 2 + T) // 2, "(N + 4*T + 3)//8"),
        (N // 3 * 2 // 2, "N//3"),
        ((5 - N) // 3, "-(N//3) + 1"),
        (((N + 1) * (T + 2)) // (T + 2), "N + 1"),
        ((N * T) // N, "T"),
        (N * (T % 2), "N*T - 2*N*(T//2)"),
    ],
)
def test_canonical_text(size: Size, text: str) -> None:
    assert str(size) == text


def test_what_folds_is_an_int() -> None:
    for size, value in [
        (N - N, 0),
        (N * 0, 0),
        ((N + T) - T - N + 3, 3),
        (U // 10, 0),
        ((2 * N) % 2, 0),
        (highest(W, 7) - W, 0),
        (symbol("X", Range(4, 4)), 4),
        (lowest(N + 5, U - 4) - U, -4),
    ]:
        assert type(size) is int
        assert size == value


def test_a_step_makes_divisions_exact() -> None:
    rows = symbol("S", Range(16, 256, step=16))
    assert str(rows) == "16*S_16"
    assert rows % 8 == 0
    assert str(rows // 8) == "2*S_16"
    assert divides(16, rows)
    assert not divides(32, rows)
    assert bounds(rows) == (16, 256)


def test_comparisons_that_ranges_do_not_decide_are_refused() -> None:
    assert N >= 1
    assert N * T >= T
    assert T - T // 2 >= 0
    assert T < 513
    assert W > 6
    for question in (lambda: N > 1, lambda: T <= N, lambda: bool(U), lambda: range(N)):
        with pytest.raises(Undecided):
            question()


def test_sizes_are_replaced_and_estimated() -> None:
    size = (N * T + 1) // 2
    assert substitute(size, {"N": 3, "T": 5}) == 8
    assert str(substitute(size, {"T": 2})) == "N"
    assert substitute(size, {"U": 2}) is size
    assert likely(size) == (128 * 128 + 1) // 2
    assert sorted(symbols_of(size)) == ["N", "T"]
    with pytest.raises(Undecided, match="T, which have no size"):
        evaluate(size, {"N": 1})


def test_sizes_survive_pickling() -> None:
    size = highest((N * T + 1) // 2, W)
    assert isinstance(size, Dim)
    assert pickle.loads(pickle.dumps(size)) == size


def test_a_long_sum_is_one_level() -> None:
    text = " + ".join(f"N*T//{i} - {i}" for i in range(2, 102))
    expected = sum((N * T // i for i in range(2, 102)), -sum(range(2, 102)))
    assert parse_size(text, SYMBOLS) == expected


@pytest.mark.parametrize(
    "text",
    ["", "N +", "X", "N**2", "N/2", "N//0", "max()", "1.5", "N if N else 1", "(" * 99, "T.a"],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_size(text, SYMBOLS)


def test_quotients_of_negative_sizes_are_spelled_by_positive_ones() -> None:
    h = symbol("H")
    assert str(ceildiv(h, 2)) == "(H + 1)//2"
    assert -(-h // 2) == ceildiv(h, 2) == (h + 1) // 2
    assert str((3 - h) // 4) == "-(H//4)"
    assert -((1 - h) // 2) == h // 2


@pytest.mark.parametrize("ask", [float, lambda t: t / 2, lambda t: 2 / t, lambda t: 0.5 * (t / 3)])
def test_fractions_of_sizes_are_undecided(ask: Callable[[Size], float]) -> None:
    with pytest.raises(Undecided, match="depends on T, which must be known"):
        ask(symbol("T"))
