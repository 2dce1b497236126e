"""Limits of sizes: right for all sizes in the ranges, and close where models need it."""

import itertools

import pytest
from trivium.dialects.core.sizes.atoms import Size
from trivium.dialects.core.sizes.dim import highest, lowest, symbol
from trivium.dialects.core.sizes.limits import at_least, bounds, is_same
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range

T = symbol("T", Range(1, 9))
N = symbol("N", Range(2, 5))
H = symbol("H")
STEP = symbol("E", Range(8, 64, step=8))

EXPRESSIONS: list[Size] = [
    T - 10,
    2 * T * N - 3 * N,
    (T + 1) // 2 - N,
    T // 3 - T // 4,
    highest(T, N + 2) - T,
    lowest(T, 4) * N - 3,
    T * T - 9 * T,
    (T * N) // 4 - T // 2,
    highest(T - 4, 0) // 2,
]


@pytest.mark.parametrize("size", EXPRESSIONS, ids=str)
def test_bounds_hold_for_all_sizes_in_the_ranges(size: Size) -> None:
    values = [
        evaluate(size, {"T": t, "N": n}) for t, n in itertools.product(range(1, 10), range(2, 6))
    ]
    low, high = bounds(size)
    assert low is not None
    assert high is not None
    assert low <= min(values) <= max(values) <= high
    for other in range(-12, 13, 3):
        decided = at_least(size, other)
        assert decided is None or all((value >= other) == decided for value in values)
        same = is_same(size, other)
        assert same is None or all((value == other) == same for value in values)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (H, lowest(H, 5)),
        (highest(H, 5), H),
        ((H + 1) // 2, H // 2),
        ((H - 1) // 2 + 1, (H + 1) // 2),
        (H * T, T),
        (2 * (H // 2) + 1, H),
        (STEP // 2, 4),
    ],
)
def test_a_size_is_known_to_be_at_least_another(a: Size, b: Size) -> None:
    assert at_least(a, b) is True


@pytest.mark.parametrize(("a", "b"), [(H, 2), (T, N), (H // 2, 1), (lowest(H, 5), 2)])
def test_what_depends_on_a_run_has_no_answer(a: Size, b: Size) -> None:
    assert at_least(a, b) is None
    assert is_same(a, b) is None


def test_sizes_differ_whose_remainders_do() -> None:
    assert is_same(2 * H, 2 * T + 1) is False
    assert is_same(H, H + 1) is False
    assert is_same(2 * H, H + H) is True


def test_a_symbol_without_a_limit_has_none() -> None:
    assert bounds(H) == (1, None)
    assert bounds(3 - H) == (None, 2)
    assert bounds(STEP) == (8, 64)
    assert bounds(7) == (7, 7)
