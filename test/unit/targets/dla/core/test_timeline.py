"""Timelines: how dark a stretch of time is, against fractions worked out one cycle at a time."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from trivium.targets.dla.core.simulator import PacketRun, Report
from trivium.targets.dla.core.timeline import LEGEND, SHADES, shade


def test_the_shade_is_the_part_of_the_time_that_an_engine_works() -> None:
    assert shade([(0, 20), (20, 25), (60, 61)], 80, 4) == "@- ."
    assert shade([(25, 80)], 80, 4) == " #@@"
    assert shade([(0, 79)], 80, 4) == "@@@%"


def test_each_shade_but_the_ends_is_an_eighth() -> None:
    spans = [(16 * n, 16 * n + n) for n in range(17)]
    assert shade(spans, 16 * 17, 17) == " .::--==++**##%%@"


def test_a_cycle_may_be_several_columns() -> None:
    assert shade([(0, 1)], 2, 8) == "@@@@    "
    assert shade([(1, 2)], 3, 4) == " ** "  # two thirds of a column each


@st.composite
def timelines(draw: st.DrawFn) -> tuple[list[tuple[int, int]], int]:
    edges = sorted(draw(st.sets(st.integers(0, 60), max_size=12)))
    spans = list(zip(edges[::2], edges[1::2], strict=False))
    return spans, draw(st.integers(max([1, *edges]), 80))


@given(timelines(), st.integers(1, 20))
def test_shades_are_those_of_fractions(
    timeline: tuple[list[tuple[int, int]], int], width: int
) -> None:
    spans, total = timeline
    marks = shade(spans, total, width)
    assert len(marks) == width
    for column, mark in enumerate(marks):
        least, most = Fraction(column * total, width), Fraction((column + 1) * total, width)
        parts = [min(most, end) - max(least, start) for start, end in spans]
        busy = sum((part for part in parts if part > 0), Fraction()) / (most - least)
        assert (mark == " ") == (busy == 0)
        assert (mark == "@") == (busy == 1)
        if mark not in " @":
            eighth = SHADES.index(mark) - 1
            assert Fraction(eighth, 8) <= busy < Fraction(eighth + 1, 8)


def test_the_report_says_how_to_read_it() -> None:
    runs = (PacketRun(0, "load", 0, 10, "load"), PacketRun(1, "mac", 10, 40, "conv"))
    assert Report(runs, {"sram read": 7}).text(width=8).splitlines() == [
        "40 cycles",
        "sram read: 7 bytes",
        "load |@@      |  25.0 %",
        "mac  |  @@@@@@|  75.0 %",
        LEGEND,
    ]
    assert Report((), {}).text() == "0 cycles"
