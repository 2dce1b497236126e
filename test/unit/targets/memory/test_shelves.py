"""Plans of bodies whose sizes depend on symbols: no byte is shared at any sizes."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.targets.memory.arena import ALIGNMENT, Interval
from trivium.targets.memory.shelves import plan_shelves

N, T = symbol("N", Range(0)), symbol("T", Range(1, 512))
SIZES = (4, 100, N, 4 * N, 8 * N + 4, N * T, 4 * T, T // 2, 256 * T)

DRAWN = st.lists(
    st.tuples(st.sampled_from(SIZES), st.integers(0, 8), st.integers(0, 4)), min_size=1, max_size=12
)


@given(DRAWN, st.integers(0, 300), st.integers(1, 512))
def test_values_that_live_at_once_share_no_byte(
    drawn: list[tuple[int, int, int]], n: int, t: int
) -> None:
    intervals = [
        Interval(number, size, first, first + length)
        for number, (size, first, length) in enumerate(drawn)
    ]
    plan, sizes = plan_shelves(intervals), {"N": n, "T": t}
    places = {
        each.key: (start := evaluate(plan.offsets[each.key], sizes), start + bytes_of(each, sizes))
        for each in intervals
    }
    total = evaluate(plan.size_bytes, sizes)
    for start, end in places.values():
        assert start % ALIGNMENT == 0
        assert end <= total
    for a, b in combinations(intervals, 2):
        if a.overlaps(b):
            assert places[a.key][1] <= places[b.key][0] or places[b.key][1] <= places[a.key][0]


def bytes_of(interval: Interval, sizes: dict[str, int]) -> int:
    return evaluate(interval.size_bytes, sizes)


def test_values_one_after_the_other_share_a_shelf() -> None:
    first, second = Interval("a", 64 * N, 0, 1), Interval("b", 128 * N, 2, 3)
    plan = plan_shelves([first, second])
    assert plan.offsets == {"a": 0, "b": 0}
    assert plan.size_bytes == 128 * N
