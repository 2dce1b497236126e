"""State that is saved, restored, cloned, forked and closed, in any order."""

import io
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.runtime import Session
from trivium.test.unit.runtime.carried.toy import (
    ONES,
    H,
    Toy,
    X,
    by_hand,
    cell,
    refusal,
)

USES: list[Callable[[Session, Path], object]] = [
    lambda session, path: session.bind_state({"y": "x"}),
    lambda session, path: session.unbind_state(),
    lambda session, path: session.reset_state(),
    lambda session, path: session.save_state(path),
    lambda session, path: session.restore_state({"h": ONES}),
]


def test_a_session_that_runs_is_not_touched(toy: Toy, tmp_path: Path):
    began, go = threading.Event(), threading.Event()

    def wait(x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        began.set()
        assert go.wait(10)
        return cell(x, h)

    session = toy(wait)
    session.bind_state({"h1": "h"})
    thread = threading.Thread(target=session, args=(ONES,))
    thread.start()
    assert began.wait(10)
    busy = "the session is running in another thread: give each thread a clone()"
    for use in USES:
        assert refusal(use, session, tmp_path / "state.npz") == busy
    assert refusal(lambda: session.state["h"]) == busy
    go.set()
    thread.join()
    np.testing.assert_array_equal(session.state["h"], ONES)


def test_a_session_that_is_closed_has_no_state(bound: Session, tmp_path: Path):
    state = bound.state
    bound.close()
    message = "the session is closed: open the package again"
    for use in USES:
        assert refusal(use, bound, tmp_path / "state.npz") == message
    assert refusal(lambda: state["h"]) == message
    assert dict(bound.state) == {}


def test_state_is_restored_from_a_file(bound: Session, tmp_path: Path):
    path = tmp_path / "state.npz"
    bound(ONES)
    bound.save_state(path)
    with np.load(path) as file:
        np.testing.assert_array_equal(file["0"], ONES)
    bound(ONES)
    bound.restore_state(path)
    np.testing.assert_array_equal(bound(ONES), 0 * ONES)
    buffer = io.BytesIO()
    bound.save_state(buffer)
    bound.reset_state()
    buffer.seek(0)
    bound.restore_state(buffer)
    np.testing.assert_array_equal(bound.state["h"], 3 * ONES)


def test_a_state_that_does_not_fit_is_refused(bound: Session, toy: Toy, tmp_path: Path):
    path = tmp_path / "state.npz"
    bound(ONES)
    bound.save_state(path)
    other = toy(cell, (X, replace(H, name="g")))
    message = "the session has no state: bind_state() first"
    assert refusal(other.save_state, path) == message
    assert refusal(other.restore_state, path) == message
    other.bind_state({"h1": "g"})
    message = f"{path}: has 'h' float32[3], must have 'g' float32[3]"
    assert refusal(other.restore_state, path) == message
    message = "no input is named 'h' and input 'g' is missing; the inputs are 'g'"
    assert refusal(other.restore_state, bound.state) == message
    message = "input 'g' is float64, must be float32: convert it first"
    assert refusal(other.restore_state, {"g": np.zeros(3)}) == message
    np.testing.assert_array_equal(other.state["g"], 0 * ONES)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_goes_on_from_the_state(bound: Session):
    bound(ONES)
    child = os.fork()
    if not child:
        right = np.array_equal(bound(ONES), 0 * ONES)
        os._exit(0 if right and np.array_equal(bound.state["h"], 3 * ONES) else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    np.testing.assert_array_equal(bound.state["h"], ONES)


ACTIONS = ["run", "list", "fed", "asked", "fail", "reset", "save", "restore", "clone"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(ACTIONS), max_size=12))
def test_any_order_of_calls(toy: Toy, actions: list[str]):
    """A model in three lines of numpy says what each call gives and leaves."""
    session, start = toy(), np.array([1, 2, 3], np.float32)
    session.bind_state({"h1": "h"}, {"h": start})
    h, saved, file = start, start, io.BytesIO()
    session.save_state(file)
    for k, action in enumerate(actions):
        x = np.full(3, k, np.float32)
        if action in ("run", "list", "fed", "asked"):
            taken = x + 1 if action == "fed" else h
            feeds: dict[str, Any] = {"x": x.tolist() if action == "list" else x}
            feeds |= {"h": taken} if action == "fed" else {}
            asked = {"h1": np.empty(3, np.float32)} if action == "asked" else None
            results = session.run(feeds, asked)
            y, h = cell(x, taken)
            np.testing.assert_array_equal(results.pop("y"), y)
            for value in results.values():
                np.testing.assert_array_equal(value, h)
            assert list(results) == list(asked or {})
        elif action == "fail":
            refusal(session.run, {"x": x[:1]})
        elif action == "reset":
            session.reset_state()
            h = start
        elif action == "save":
            saved, file = h, io.BytesIO()
            session.save_state(file)
        elif action == "restore":
            file.seek(0)
            session.restore_state(file)
            h = saved
        else:
            session, h = session.clone(), start
        np.testing.assert_array_equal(session.state["h"], h)


def test_a_clone_begins_anew(toy: Toy):
    session = toy()
    session.bind_state({"h1": "h"}, {"h": 5 * ONES})
    session(ONES)
    twin = session.clone()
    np.testing.assert_array_equal(twin.state["h"], 5 * ONES)
    twin(ONES)
    twin(ONES)
    np.testing.assert_array_equal(session.state["h"], 11 * ONES)
    np.testing.assert_array_equal(twin.state["h"], 23 * ONES)
    twin.restore_state(session.state)
    np.testing.assert_array_equal(twin.state["h"], 11 * ONES)
    twin.reset_state()
    np.testing.assert_array_equal(twin.state["h"], 5 * ONES)


def test_clones_step_side_by_side(bound: Session):
    wrong: list[int] = []

    def work(twin: Session, k: int) -> None:
        ys, h = by_hand([k * ONES] * 20, 0 * ONES)
        for _ in range(20):
            twin.reset_state()
            got = [twin(k * ONES) for _ in range(20)]
            if not np.array_equal(got, ys) or not np.array_equal(twin.state["h"], h):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(bound.clone(), k)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
