"""What `trivium bench` makes of times and outputs: statistics, tables, agreement."""

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import pytest
from trivium.tools.bench.agreement import error
from trivium.tools.bench.comparison import Comparison, describe
from trivium.tools.bench.measurement import (
    Summary,
    Timing,
    enough_calls,
    geometric_mean,
    interleave,
)
from trivium.tools.bench.stopwatch import least_time
from trivium.tools.spelling import columns


class Clock:
    """A clock that only moves when told to."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0

    def work(self, wall: int, cpu: int) -> Callable[[], None]:
        def action() -> None:
            self.wall += wall
            self.cpu += cpu

        return action

    def read(self) -> tuple[int, int]:
        return self.wall, self.cpu


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([3], Summary(3, 3, 3, 3)),
        ([4, 2], Summary(3, 2, 2.5, 3.5)),
        ([5, 1, 4, 2, 3], Summary(3, 1, 2, 4)),
    ],
)
def test_summaries(times: list[float], expected: Summary) -> None:
    assert Summary.of(times) == expected


def test_quartiles_are_those_of_numpy() -> None:
    times = np.random.default_rng(0).random(37).tolist()
    summary = Summary.of(times)
    expected = np.percentile(times, [25, 50, 75])
    assert np.allclose([summary.low, summary.median, summary.high], expected, rtol=1e-12)


def test_contenders_take_turns() -> None:
    turns: list[str] = []
    actions = {name: lambda name=name: turns.append(name) for name in "ABC"}
    interleave(actions, rounds=2, calls=2)
    assert "".join(turns) == "AABBCCAABBCC"


def test_times_are_per_call_in_milliseconds() -> None:
    clock = Clock()
    actions = {"a": clock.work(6_000_000, 3_000_000), "b": clock.work(1_000_000, 2_000_000)}
    timings = interleave(actions, rounds=3, calls=4, clock=clock.read)
    assert timings["a"] == Timing(Summary(6, 6, 6, 6), Summary(3, 3, 3, 3))
    assert timings["b"] == Timing(Summary(1, 1, 1, 1), Summary(2, 2, 2, 2))


@pytest.mark.parametrize(("ns", "calls"), [(2_000_000, 1), (300_000, 4), (1, 1000), (0, 1000)])
def test_short_runs_are_repeated_within_a_turn(ns: int, calls: int) -> None:
    clock = Clock()
    actions = {"slow": clock.work(5_000_000, 0), "fast": clock.work(ns, 0)}
    assert enough_calls(actions, clock.read) == calls


def test_a_clock_that_stands_still_measures_nothing() -> None:
    ticks = iter([0, 200_000] + 2 * [0] + [0, 150_000] + 2 * [0] + 200 * [0, 150_000])
    assert least_time(lambda: None, 0.001, lambda: next(ticks)) == pytest.approx(150e-6)


def test_least_time_is_per_call() -> None:
    clock = Clock()
    spans: Iterator[int] = (9_000 if number == 40 else 7_000 for number in count())

    def action() -> None:
        clock.cpu += next(spans)

    assert least_time(action, 0.01, lambda: clock.cpu) == pytest.approx(7e-6)


def test_geometric_mean() -> None:
    assert geometric_mean([0.5, 2]) == pytest.approx(1)
    assert geometric_mean([8, 1, 1]) == pytest.approx(2)


def test_columns_are_aligned() -> None:
    assert columns([("name", "ms"), ("a", "12.5"), ("longer", "3")], "", left=1) == [
        "name      ms",
        "a       12.5",
        "longer     3",
    ]


@pytest.mark.parametrize(
    ("y", "expected", "wanted"),
    [
        ([1, 2], [1, 2], 0),
        ([1, 2.5], [1, 2], 0.25),
        ([0.5], [0], 0.5),
        ([np.nan, 1], [np.nan, 2], 0.5),
        ([1, np.nan], [1, 2], np.inf),
        ([1, 2], [1, np.inf], np.inf),
        ([np.inf, 1], [np.inf, 1], 0),
        ([], [], 0),
        ([[1, 2]], [1, 2], np.inf),
    ],
)
def test_errors_are_relative_to_the_largest(y: object, expected: object, wanted: float) -> None:
    assert error([np.array(y, np.float32)], [np.array(expected, np.float32)]) == wanted


def test_the_worst_output_counts() -> None:
    good, bad = np.ones(2, np.float32), np.full(2, 1.5, np.float32)
    assert error([good, bad], [good, good]) == 0.5
    assert error([good], [good, good]) == np.inf


def timing(cpu: float, wall: float) -> Timing:
    return Timing(Summary.of([wall, wall + 2]), Summary.of([cpu, cpu + 2]))


def comparison(threads: int) -> Comparison:
    timings = {"trivium": timing(1, 9), "onnxruntime": timing(3, 4), "openvino": timing(5, 3)}
    return Comparison("onnxruntime", {"trivium": 1e-2, "openvino": 1e-6}, timings, 2, 1, threads, 0)


def test_one_thread_is_judged_by_processor_time_and_several_by_wall_time() -> None:
    assert comparison(1).ratio() == ("onnxruntime", 4 / 2, 3 / 1)
    assert comparison(2).ratio() == ("openvino", 4 / 10, 3 / 9)


def test_faults_name_who_differs_and_what_is_allowed() -> None:
    assert comparison(1).faults(0.1) == []
    (fault,) = comparison(1).faults(1e-3)
    assert fault == (
        "trivium differs from onnxruntime by 1.0e-02 of the largest output, allowed is 1e-03"
    )


def test_a_row_for_each_contender() -> None:
    head, *rows, last = describe(comparison(1))
    assert head.split() == [
        *("CPU", "ms:", "median", "least", "quartiles"),
        *("wall", "ms:", "median", "least", "quartiles", "error"),
    ]
    assert rows[0].split() == [
        *("trivium", "2.00", "1.00", "1.50..2.50", "10.00", "9.00", "9.50..10.50", "1.0e-02")
    ]
    assert [row.split()[-1] for row in rows[1:]] == ["reference", "1.0e-06"]
    assert last == (
        "trivium is 2.000x as fast as the best peer, onnxruntime "
        "(median CPU time, 3.000x by least times)"
    )
