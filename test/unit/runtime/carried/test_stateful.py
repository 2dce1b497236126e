"""Sessions with state: expected values come from numpy, or from feeding outputs back by hand."""

import numpy as np
import pytest
from trivium.runtime import Session
from trivium.runtime.contents import FIRST_PORT
from trivium.test.unit.runtime.carried.toy import INPUTS, ONES, Toy, by_hand, cell, refusal


def test_a_run_takes_what_the_last_one_gave(bound: Session):
    ys, h = by_hand(INPUTS, np.zeros(3, np.float32))
    for x, y in zip(INPUTS, ys, strict=True):
        results = bound.run({"x": x})
        assert list(results) == ["y"]
        np.testing.assert_array_equal(results["y"], y)
    np.testing.assert_array_equal(bound.state["h"], h)


def test_initial_values_are_copied_and_returned_to(toy: Toy):
    session, start = toy(), 5 * ONES
    session.bind_state({"h1": "h"}, {"h": start})
    start[:] = 9
    ys, h = by_hand(INPUTS, 5 * ONES)
    for _ in range(2):
        np.testing.assert_array_equal(session.state["h"], 5 * ONES)
        for x, y in zip(INPUTS, ys, strict=True):
            np.testing.assert_array_equal(session(x), y)
        np.testing.assert_array_equal(session.state["h"], h)
        session.reset_state()


def test_a_reset_before_any_run_and_after_each_turn(bound: Session):
    for runs in range(4):
        bound.reset_state()
        for _ in range(runs):
            bound(ONES)
        _, h = by_hand([ONES] * runs, np.zeros(3, np.float32))
        np.testing.assert_array_equal(bound.state["h"], h)


def test_no_bytes_are_copied_between_runs(toy: Toy):
    seen: list[tuple[int, int]] = []

    def look(x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pointers = session._bases.pointers
        seen.append((pointers[FIRST_PORT + 1] or 0, pointers[FIRST_PORT + 3] or 0))
        return cell(x, h)

    session = toy(look)
    session.bind_state({"h1": "h"})
    for _ in range(5):
        session(ONES)
    (_, first), *rest = seen
    second = rest[0][1]
    assert rest == [(first, second), (second, first)] * 2


def test_a_run_keeps_no_arrays(bound: Session):
    bound(ONES)
    assert all(array.size == 0 for array in bound._bases.arrays[FIRST_PORT:])


def test_an_input_that_is_fed_is_used_instead_of_the_state(bound: Session):
    bound(ONES)
    results = bound.run({"x": ONES, "h": 7 * ONES})
    assert list(results) == ["y"]
    np.testing.assert_array_equal(results["y"], -6 * ONES)
    np.testing.assert_array_equal(bound.state["h"], 15 * ONES)
    np.testing.assert_array_equal(bound(ONES), -14 * ONES)


def test_an_output_that_is_asked_for_is_a_copy(bound: Session):
    h1, y = np.zeros(3, np.float32), np.zeros(3, np.float32)
    results = bound.run({"x": ONES}, {"h1": h1})
    assert list(results) == ["y", "h1"]
    assert results["h1"] is h1
    np.testing.assert_array_equal(h1, ONES)
    h1[:] = 50
    results = bound.run({"x": ONES}, {"y": y})
    assert list(results) == ["y"]
    assert results["y"] is y
    np.testing.assert_array_equal(y, 0 * ONES)
    np.testing.assert_array_equal(bound.state["h"], 3 * ONES)


def test_what_is_asked_for_must_fit(bound: Session):
    message = "output 'h1' has shape (4,), must be (3,)"
    assert refusal(bound.run, {"x": ONES}, {"h1": np.zeros(4, np.float32)}) == message
    array = np.zeros(3, np.float32)
    message = "output 'h1' shares memory with an input or an output"
    assert refusal(bound.run, {"x": array}, {"h1": array}) == message
    assert refusal(bound.run, {"x": ONES}, {"y": array, "h1": array}) == message
    np.testing.assert_array_equal(bound.state["h"], 0 * ONES)


def test_values_that_are_converted_run_on_with_the_state(bound: Session):
    bound([1, 1, 1])
    np.testing.assert_array_equal(bound(ONES[::-1]), 0 * ONES)
    np.testing.assert_array_equal(bound.state["h"], 3 * ONES)


def test_a_run_that_fails_leaves_the_state(toy: Toy):
    fail = [False]

    def step(x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if fail[0]:
            raise ZeroDivisionError
        return cell(x, h)

    session = toy(step)
    session.bind_state({"h1": "h"})
    session(ONES)
    fail[0] = True
    for outputs in (None, {"y": np.zeros(3, np.float32)}):
        with pytest.raises(ZeroDivisionError):
            session.run({"x": ONES}, outputs)
        np.testing.assert_array_equal(session.state["h"], ONES)
    fail[0] = False
    np.testing.assert_array_equal(session(ONES), 0 * ONES)


def test_state_that_is_unbound_is_fed_and_returned_again(bound: Session):
    bound(ONES)
    bound.unbind_state()
    assert refusal(bound.run, {"x": ONES}) == "input 'h' is missing; the inputs are 'x', 'h'"
    results = bound.run({"x": ONES, "h": ONES})
    np.testing.assert_array_equal(results["h1"], 3 * ONES)
    assert dict(bound.state) == {}
    bound.bind_state({"h1": "h"})
    np.testing.assert_array_equal(bound.state["h"], 0 * ONES)


def test_state_shows_copies(bound: Session):
    state = bound.state
    bound(ONES)
    copy = state["h"]
    copy[:] = 9
    np.testing.assert_array_equal(state["h"], ONES)
    bound(ONES)
    np.testing.assert_array_equal(state["h"], 3 * ONES)
    assert list(state) == ["h"]
    assert "x" not in state
    with pytest.raises(KeyError):
        state["x"]
    with pytest.raises(TypeError):
        state["h"] = copy  # pyright: ignore[reportIndexIssue]
    assert repr(state) == "<state of 'h'>"


def test_a_run_on_a_device_needs_one(bound: Session):
    assert "the package has nothing for a GPU" in refusal(bound.run_on_device, {"x": ONES})
    np.testing.assert_array_equal(bound.state["h"], 0 * ONES)
