"""The search for the fewest values that must be floats."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from trivium.compiler.quantize.search import fewest, fewest_checked


@given(st.integers(0, 300), st.data())
def test_fewest_is_the_least_where_more_is_never_worse(most: int, data: Any) -> None:
    least = data.draw(st.integers(0, most))
    asked: list[int] = []

    def is_enough(count: int) -> bool:
        asked.append(count)
        return count >= least

    assert fewest(is_enough, most) == least
    assert all(0 <= count < most for count in asked)
    assert len(asked) <= 2 * (least.bit_length() + 1)


@given(st.lists(st.booleans(), max_size=60))
def test_fewest_is_enough_and_one_less_is_not(enough: list[bool]) -> None:
    found = fewest(lambda count: enough[count], len(enough))
    assert found == len(enough) or enough[found]
    assert found == 0 or not enough[found - 1]


@given(st.integers(0, 200), st.data())
def test_a_guess_saves_questions_and_is_not_believed(most: int, data: Any) -> None:
    guess, least = (data.draw(st.integers(0, most)) for _ in range(2))
    asked: list[int] = []

    def is_enough(count: int) -> bool:
        asked.append(count)
        return count >= least

    found = fewest_checked(lambda count: count >= guess, is_enough, most)
    assert found == max(guess, least)
    assert asked in ([], [guess]) if guess >= least else all(c >= guess for c in asked)
