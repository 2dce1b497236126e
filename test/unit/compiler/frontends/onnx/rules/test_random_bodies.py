"""Random numbers in bodies that a run repeats: each iteration draws others."""

from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from numpy.typing import NDArray

LOOPS = {
    "loop": """(int64 n, float[1000] x) => (float[k, 1000] y) <bool yes = {1}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool go, float[1000] t) {
            go = Identity (c)
            t = RandomUniformLike (x)
        }>
    }""",
    "loops in a loop": """(int64 n, float[500] x) => (float[k, 2, 500] y)
            <bool yes = {1}, int64 two = {2}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool go, float[2, 500] t) {
            go = Identity (c)
            times = Add (n, two)
            all = Loop (times, yes) <body = inner (int64 j, bool d) => (bool on, float[500] u) {
                on = Identity (d)
                u = RandomUniformLike (x)
            }>
            zero = Constant <value_ints = [0]> ()
            end = Constant <value_ints = [2]> ()
            t = Slice (all, zero, end, zero)
        }>
    }""",
    "branch in a loop": """(int64 n, float[1000] x) => (float[k, 1000] y)
            <bool yes = {1}, int64 two = {2}, int64 zero = {0}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool go, float[1000] t) {
            go = Identity (c)
            rest = Mod (i, two)
            even = Equal (rest, zero)
            t = If (even) <
                then_branch = then () => (float[1000] u) { u = RandomUniformLike (x) },
                else_branch = other () => (float[1000] v) {
                    high = Constant <value_float = 1.0> ()
                    drawn = RandomUniformLike (x)
                    v = Sub (high, drawn)
                }
            >
        }>
    }""",
    "scan": """(int64 n, float[1000] x) => (float[k, 1000] y) <int64[1] one = {1}> {
        zero = Constant <value_int = 0> ()
        step = Constant <value_int = 1> ()
        numbers = Range (zero, n, step)
        y = Scan <num_scan_inputs = 1, body = b (int64 i) => (float[1000] t) {
            t = RandomUniformLike (x)
        }> (numbers)
    }""",
}


def session(text: str, target: str = "cpu") -> trivium.Session:
    head = '<ir_version: 10, opset_import: ["" : 22]>'
    return trivium.compile(onnx.parser.parse_model(f"{head} g {text}"), target=target)


def drawn(made: trivium.Session, n: int, size: int) -> NDArray[Any]:
    return made.run({"n": np.array(n), "x": np.zeros(size, np.float32)})["y"]


@pytest.mark.parametrize("name", LOOPS)
def test_each_iteration_and_each_run_draws_others(name: str) -> None:
    size = 500 if name == "loops in a loop" else 1000
    made = session(LOOPS[name])
    first, second = (drawn(made, 40, size).astype(np.float64) for _ in range(2))
    draws = np.concatenate([first, second]).reshape(-1, size)
    # Of 100 cells, chi squared has mean 99 and deviation 14.
    counts = np.histogram(draws, 100, (0, 1))[0]
    expected = draws.size / 100
    assert ((counts - expected) ** 2 / expected).sum() < 99 + 5 * 14
    pairs = np.corrcoef(draws)[np.triu_indices(len(draws), 1)]
    assert abs(pairs).max() < 6 / np.sqrt(size)
    across = np.corrcoef(draws.T[:200])[np.triu_indices(200, 1)]
    assert abs(across).max() < 6 / np.sqrt(len(draws))


@pytest.mark.parametrize("name", LOOPS)
def test_targets_and_sessions_draw_the_same(name: str) -> None:
    size = 500 if name == "loops in a loop" else 1000
    one, other = session(LOOPS[name]), session(LOOPS[name], "host")
    for n in (3, 1, 5):
        np.testing.assert_array_equal(drawn(one, n, size), drawn(other, n, size))


def test_dropout_in_a_loop_drops_others_each_time() -> None:
    made = session(
        """(int64 n, float[4000] x) => (float[k, 4000] y)
                <bool yes = {1}, float ratio = {0.25}> {
            y = Loop (n, yes) <body = b (int64 i, bool c) => (bool go, float[4000] t) {
                go = Identity (c)
                t = Dropout (x, ratio, yes)
            }>
        }"""
    )
    y = made.run({"n": np.array(10), "x": np.ones(4000, np.float32)})["y"]
    kept = y != 0
    np.testing.assert_allclose(y[kept], np.float32(4 / 3))
    assert abs(kept.mean() - 0.75) < 5 * 0.5 / np.sqrt(kept.size)
    assert (kept[0] != kept[1]).mean() > 0.3


def test_normal_numbers_in_a_branch() -> None:
    made = session(
        """(bool c, float[20000] x) => (float[20000] y) {
            y = If (c) <
                then_branch = then () => (float[20000] u) { u = RandomNormalLike (x) },
                else_branch = other () => (float[20000] v) { v = Identity (x) }
            >
        }"""
    )
    x = np.zeros(20000, np.float32)
    feeds = {"c": np.array(True), "x": x}
    first, second = (made.run(feeds)["y"].astype(np.float64) for _ in range(2))
    for y in (first, second):
        assert abs(y.mean()) < 5 / np.sqrt(y.size)
        assert abs(y.var() - 1) < 5 * np.sqrt(2 / y.size)
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(x.size)
    assert not made.run({**feeds, "c": np.array(False)})["y"].any()
