"""Memory whose sizes depend on symbols: at no sizes do values that live at once share a byte."""

from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects.core.sizes.dim import Size, symbol
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.targets.memory.arena import Interval, plan_arena
from trivium.targets.memory.regions import Region, RegionPlan, plan_sizes

N, T = symbol("N", Range(1, None, 4)), symbol("T", Range(0, 512, 128))
SIZES: list[Size] = [0, 100, 4096, 4 * N, N * T, 12 * N * T * T, 8 * (T // 2), 1000 + T, T - 128]


def ends(regions: tuple[Region, ...], n: int, t: int) -> list[tuple[int, int]]:
    """Return where regions begin and end, as a runtime must compute it."""
    found: list[tuple[int, int]] = []
    for region in regions:
        begin = max((found[below][1] for below in region.above), default=0)
        found.append((begin, begin + evaluate(region.size_bytes, {"N": n, "T": t})))
    return found


@given(
    st.lists(st.tuples(st.sampled_from(SIZES), st.integers(0, 20), st.integers(0, 6)), max_size=25),
    st.integers(1, 40),
    st.integers(128, 512),
)
def test_values_that_live_at_once_are_apart_at_all_sizes(
    drawn: list[tuple[Size, int, int]], n: int, t: int
):
    drawn = [(N * T, 0, 20), *drawn]
    intervals = [
        Interval(i, size, first, first + more) for i, (size, first, more) in enumerate(drawn)
    ]
    plan = plan_sizes(intervals)
    assert isinstance(plan, RegionPlan)
    places = ends(plan.regions, n, t)
    assert all(below < number for number, r in enumerate(plan.regions) for below in r.above)
    assert plan.size_bytes == max(end for _, end in ends(plan.regions, 4, 128))
    lies: dict[int, tuple[int, int]] = {}
    for i, interval in enumerate(intervals):
        at = evaluate(plan.offsets[i], {f"at_{r}": begin for r, (begin, _) in enumerate(places)})
        lies[i] = at, at + evaluate(interval.size_bytes, {"N": n, "T": t})
        assert at % 64 == 0
    for i, a in enumerate(intervals):
        for j, b in enumerate(intervals[:i]):
            if a.overlaps(b):
                assert lies[i][1] <= lies[j][0] or lies[j][1] <= lies[i][0], (a, b)


def test_the_plan_is_that_of_the_likely_sizes_there():
    drawn = [(N * T, 0, 3), (4 * N * T, 1, 2), (512, 2, 4), (N * T, 4, 6), (2 * N * T, 3, 5)]
    plan = plan_sizes([Interval(i, *each) for i, each in enumerate(drawn)])
    likely = [(evaluate(size, {"N": 4, "T": 128}), *life) for size, *life in drawn]
    wanted = plan_arena([Interval(i, *each) for i, each in enumerate(likely)])
    assert isinstance(plan, RegionPlan)
    assert max(end for _, end in ends(plan.regions, 4, 128)) == plan.size_bytes == wanted.size_bytes
    assert plan.lower_bound == wanted.lower_bound


def test_sizes_that_are_numbers_have_no_regions():
    intervals = [Interval(i, 64 * (i + 1), i, i + 1) for i in range(4)]
    assert plan_sizes(intervals) == plan_arena(intervals)


def test_what_follows_from_other_regions_is_left_out():
    plan = plan_sizes([Interval(i, 64 * N, 0, 1) for i in range(5)])
    assert isinstance(plan, RegionPlan)
    assert [region.above for region in plan.regions] == [(), (0,), (1,), (2,), (3,)]
