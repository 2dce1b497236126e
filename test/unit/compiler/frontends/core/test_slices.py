"""Slices of axes whose size is a symbol, beside Python's slices at sizes of runs."""

from hypothesis import given
from hypothesis import strategies as st
from trivium.compiler.frontends.core.slices import element, sliced
from trivium.dialects.core.sizes.atoms import Size
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.substitution import evaluate

T = symbol("T")
PLACES = st.tuples(st.integers(-2, 2), st.integers(-5, 5))
RUNS = range(1, 7)


def line(place: tuple[int, int] | None, number: Size = T) -> Size | None:
    """Return a number of times T plus another one."""
    return None if place is None else place[0] * number + place[1]


@given(
    st.none() | PLACES,
    st.none() | PLACES,
    st.sampled_from([1, 2, 3, -1, -2]),
    st.tuples(st.integers(0, 2), st.integers(0, 3)),
)
def test_places_of_any_sign(
    start: tuple[int, int] | None, end: tuple[int, int] | None, step: int, axis: tuple[int, int]
) -> None:
    first, count = sliced(line(start), line(end), step, axis[0] * T + axis[1])
    for number in RUNS:
        places = slice(line(start, number), line(end, number), step)
        taken = range(*places.indices(axis[0] * number + axis[1]))
        assert evaluate(count, {"T": number}) == len(taken)
        if taken:
            assert evaluate(first, {"T": number}) == taken.start


@given(st.tuples(st.integers(-2, 2), st.integers(-5, -1)))
def test_element_of_any_sign(place: tuple[int, int]) -> None:
    found = element(place[0] * T + place[1], 9) if place[0] else element(place[1], 9)
    for number in RUNS:
        known = place[0] * number + place[1]
        if -9 <= known < 9:
            assert evaluate(found, {"T": number}) == range(9)[known]
