"""Intervals: what they say of arithmetic, against all numbers it can meet."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects.tile.arithmetic import BINARY
from trivium.targets.gpu.schedule.intervals import FUNCTIONS

BOUNDS = st.tuples(st.integers(-20, 20), st.integers(-20, 20)).map(lambda p: (min(p), max(p)))


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(derandomize=True, max_examples=150)
@given(a=BOUNDS, b=BOUNDS)
def test_intervals_hold_all_results(name: str, a: tuple[int, int], b: tuple[int, int]) -> None:
    found = FUNCTIONS[name](a, b)
    if found is None:
        return
    pairs = itertools.product(range(a[0], a[1] + 1), range(b[0], b[1] + 1))
    x, y = np.array(list(pairs), np.int32).T
    results = BINARY[name](x, y)
    assert found[0] <= results.min()
    assert results.max() <= found[1]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "max", "min"])
@settings(derandomize=True, max_examples=100)
@given(a=BOUNDS, b=BOUNDS)
def test_intervals_of_monotonic_functions_are_tight(
    name: str, a: tuple[int, int], b: tuple[int, int]
) -> None:
    corners = [int(BINARY[name](np.int32(x), np.int32(y))) for x in a for y in b]
    assert FUNCTIONS[name](a, b) == (min(corners), max(corners))


def test_remainders_within_one_multiple_are_exact() -> None:
    assert FUNCTIONS["remainder"]((65, 70), (64, 64)) == (1, 6)
    assert FUNCTIONS["remainder"]((60, 70), (64, 64)) == (0, 63)
