"""The memory planner: no two live values share a byte, and little is wasted."""

from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.targets.memory import ALIGNMENT, Interval, plan_memory

spans = st.tuples(st.integers(0, 5000), st.integers(0, 30), st.integers(0, 10))


def intervals(raw: list[tuple[int, int, int]]) -> list[Interval]:
    return [Interval(i, size, first, first + n) for i, (size, first, n) in enumerate(raw)]


def rounded(size: int) -> int:
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


@settings(derandomize=True, max_examples=300)
@given(st.lists(spans, max_size=25))
def test_values_that_live_at_once_never_overlap(raw: list[tuple[int, int, int]]) -> None:
    values = intervals(raw)
    plan = plan_memory(values)
    for a in values:
        assert plan.offsets[a.key] % ALIGNMENT == 0
        assert plan.offsets[a.key] + a.size_bytes <= plan.size_bytes
        for b in values:
            if a.key == b.key or a.last < b.first or b.last < a.first:
                continue
            apart = (
                plan.offsets[a.key] + a.size_bytes <= plan.offsets[b.key]
                or plan.offsets[b.key] + b.size_bytes <= plan.offsets[a.key]
            )
            assert apart or not a.size_bytes or not b.size_bytes


@settings(derandomize=True, max_examples=200)
@given(st.lists(spans, max_size=25))
def test_the_lower_bound_is_what_lives_at_one_step(raw: list[tuple[int, int, int]]) -> None:
    values = intervals(raw)
    plan = plan_memory(values)
    steps = range(45)
    live = [sum(rounded(v.size_bytes) for v in values if v.first <= t <= v.last) for t in steps]
    assert plan.lower_bound == max(live)
    assert plan.size_bytes >= plan.lower_bound


def test_a_chain_needs_only_two_neighbours() -> None:
    chain = [Interval(i, 1024, i, i + 1) for i in range(50)]
    plan = plan_memory(chain)
    assert plan.size_bytes == plan.lower_bound == 2048


def test_nothing_needs_nothing() -> None:
    assert plan_memory([]).size_bytes == 0
