"""Sessions with state: expected values come from numpy, or from feeding outputs back by hand."""

import io
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.runtime import Package, RunError, Session
from trivium.runtime.contents import FIRST_PORT, Buffer, Port
from trivium.runtime.host.step import HostStep

Toy = Callable[..., Session]

X, H = Port("x", (3,), "float32", 0), Port("h", (3,), "float32", 1)
Y, H1 = Port("y", (3,), "float32", 2), Port("h1", (3,), "float32", 3)
ONES = np.ones(3, np.float32)


def cell(x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x - h, 2 * h + x


@pytest.fixture(scope="session")
def toy(scale: Package) -> Toy:
    """Return a function that makes a session whose only step is a function of all inputs."""

    def make(
        reference: Callable[..., Any] = cell,
        inputs: Sequence[Port] = (X, H),
        outputs: Sequence[Port] = (Y, H1),
        **change: Any,
    ) -> Session:
        ports = [*inputs, *outputs]
        count = len(inputs)
        manifest = replace(
            scale.manifest,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            buffers=tuple(
                Buffer("", FIRST_PORT + i, 0, port.shape, port.dtype)
                for i, port in enumerate(ports)
            ),
            steps=(
                HostStep(
                    op="toy.step",
                    operands=tuple(range(count)),
                    results=tuple(range(count, len(ports))),
                    nodes=("step",),
                ),
            ),
            parts=(),
        )
        manifest = replace(manifest, **change)
        ops: Any = {"toy": {"toy.step": lambda: SimpleNamespace(reference=reference)}}
        return Session(replace(scale, manifest=manifest), ops)

    return make


@pytest.fixture
def bound(toy: Toy) -> Session:
    session = toy()
    session.bind_state({"h1": "h"})
    return session


def by_hand(xs: Sequence[np.ndarray], h: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    ys: list[np.ndarray] = []
    for x in xs:
        y, h = cell(x, h)
        ys.append(y)
    return ys, h


def refusal(use: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(RunError) as caught:
        use(*arguments, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


INPUTS = [np.full(3, k, np.float32) for k in range(1, 7)]


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


def test_what_is_missing_or_too_much_is_named(bound: Session):
    assert refusal(bound.run, {}) == "input 'x' is missing; the inputs are 'x', 'h'"
    message = "no input is named 'z'; the inputs are 'x', 'h'"
    assert refusal(bound.run, {"x": ONES, "z": ONES}) == message
    assert refusal(bound, ONES, ONES) == "got 2 inputs, must get 1: 'x'"
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


def test_an_output_may_become_several_inputs(toy: Toy):
    ports = (X, replace(H, name="a"), replace(H, name="b", buffer=2))
    outputs = (replace(Y, buffer=3), replace(H1, buffer=4))
    session = toy(lambda x, a, b: (a - b, a + 2 * b + x), ports, outputs)
    session.bind_state({"h1": ("a", "b")}, {"b": 4 * ONES})
    a, b = 0 * ONES, 4 * ONES
    for _ in range(4):
        np.testing.assert_array_equal(session(ONES), a - b)
        a = b = a + 2 * b + ONES
    np.testing.assert_array_equal(session.state["a"], a)
    np.testing.assert_array_equal(session.state["b"], b)
    session.reset_state()
    np.testing.assert_array_equal(session.state["b"], 4 * ONES)


def test_pairs_may_be_added_between_runs(toy: Toy):
    ports = (replace(H, name="a", buffer=0), replace(H, name="b"))
    outputs = (replace(H1, name="a1", buffer=2), replace(H1, name="b1"))
    session = toy(lambda a, b: (a + 1, b + a), ports, outputs)
    session.bind_state({"a1": "a"})
    for _ in range(3):
        session.run({"b": ONES})
    session.bind_state({"b1": "b"}, {"b": 10 * ONES})
    assert session.run({}) == {}
    np.testing.assert_array_equal(session.state["a"], 4 * ONES)
    np.testing.assert_array_equal(session.state["b"], 13 * ONES)
    assert session() == ()
    np.testing.assert_array_equal(session.state["b"], 17 * ONES)
    session.reset_state()
    np.testing.assert_array_equal(session.state["a"], 0 * ONES)
    np.testing.assert_array_equal(session.state["b"], 10 * ONES)


def test_states_may_be_exchanged(toy: Toy):
    """Each output becomes the input of the other one."""
    ports = (replace(H, name="a", buffer=0), replace(H, name="b"))
    outputs = (replace(H1, name="a1", buffer=2), replace(H1, name="b1"))
    session = toy(lambda a, b: (a + 1, b), ports, outputs)
    session.bind_state({"b1": "a", "a1": "b"}, {"b": 10 * ONES})
    a, b = 0 * ONES, 10 * ONES
    for _ in range(5):
        session()
        a, b = b, a + 1
        np.testing.assert_array_equal(session.state["a"], a)
        np.testing.assert_array_equal(session.state["b"], b)


def test_an_input_that_is_an_output_unchanged_stays(toy: Toy):
    """No step writes such an output: the run copies it."""
    manifest_outputs = (replace(Y, buffer=2), replace(H1, buffer=1))
    session = toy(cell, outputs=manifest_outputs, steps=())
    session.bind_state({"h1": "h"}, {"h": 6 * ONES})
    for _ in range(3):
        session(ONES)
        np.testing.assert_array_equal(session.state["h"], 6 * ONES)


@pytest.mark.parametrize("dtype", [np.float16, np.bool_, np.complex64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0)])
def test_state_of_any_type_and_size(toy: Toy, tmp_path: Path, dtype: Any, shape: tuple[int, ...]):
    name = np.dtype(dtype).name
    h, h1 = Port("h", shape, name, 0), Port("h1", shape, name, 1)
    one = np.ones(shape, dtype)
    session = toy(lambda h: h ^ one if dtype is np.bool_ else h + one, (h,), (h1,))
    session.bind_state({"h1": "h"})
    assert session.state["h"].dtype == dtype
    assert session.state["h"].shape == shape
    session()
    np.testing.assert_array_equal(session.state["h"], one)
    session.save_state(tmp_path / "state.npz")
    session()
    session()
    session.restore_state(tmp_path / "state.npz")
    np.testing.assert_array_equal(session.state["h"], one)
    assert session.state["h"].dtype == dtype


def test_complex_state_in_a_buffer_of_pairs(toy: Toy):
    h, h1 = Port("h", (2,), "complex64", 0), Port("h1", (2,), "complex64", 1)
    buffers = tuple(Buffer("", FIRST_PORT + i, 0, (2, 2), "float32") for i in range(2))
    session = toy(lambda pairs: pairs * 2, (h,), (h1,), buffers=buffers)
    session.bind_state({"h1": "h"}, {"h": np.array([1 + 2j, 3j], np.complex64)})
    for _ in range(3):
        session()
    np.testing.assert_array_equal(session.state["h"], np.array([8 + 16j, 24j], np.complex64))


def test_pairs_that_do_not_fit_name_both_ports(toy: Toy):
    ports = (X, H, Port("w", (4,), "float32", 2), Port("i", (3,), "int64", 3))
    outputs = (replace(Y, buffer=4), replace(H1, buffer=5))
    session = toy(lambda x, h, w, i: cell(x, h), ports, outputs)
    bind = session.bind_state
    assert refusal(bind, {"q": "h"}) == "no output is named 'q', there are 'y', 'h1'"
    assert refusal(bind, {"h1": "q"}) == (
        "output 'h1' cannot become input 'q': the inputs are 'x', 'h', 'w', 'i'"
    )
    assert refusal(bind, {"h1": "w"}) == (
        "output 'h1' cannot become input 'w': it is float32[3], must be float32[4]"
    )
    assert refusal(bind, {"h1": "i"}) == (
        "output 'h1' cannot become input 'i': it is float32[3], must be int64[3]"
    )
    twice = "output 'h1' cannot become input 'h', which output 'y' becomes already"
    assert refusal(bind, {"y": "h", "h1": "h"}) == twice
    twice = "output 'h1' cannot become input 'h', which output 'h1' becomes already"
    assert refusal(bind, {"h1": ["h", "h"]}) == twice
    for value in (None, 3, [], [1]):
        message = f"output 'h1' becomes {value!r}, must become an input or several, by name"
        assert refusal(bind, {"h1": value}) == message
    assert refusal(bind, [("h1", "h")]) == (
        "the pairs are of type list, must be a dictionary from outputs to inputs"
    )
    assert dict(session.state) == {}
    bind({"h1": "h"})
    assert refusal(bind, {"h1": "x"}) == (
        "output 'h1' cannot become input 'x', it becomes 'h' already: unbind_state() first"
    )
    assert list(session.state) == ["h"]


def test_initial_values_must_fit(toy: Toy):
    session = toy()
    bind = session.bind_state
    message = "initial has 'x', which no output becomes; those that one does are 'h'"
    assert refusal(bind, {"h1": "h"}, {"x": ONES}) == message
    message = "input 'h' has shape (4,), must be (3,)"
    assert refusal(bind, {"h1": "h"}, {"h": np.zeros(4, np.float32)}) == message
    message = "initial is of type list, must be a dictionary of arrays by input"
    assert refusal(bind, {"h1": "h"}, [ONES]) == message
    assert len(session.run({"x": ONES, "h": ONES})) == 2


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


def test_a_run_on_a_device_needs_one(bound: Session):
    assert "the package has nothing for a GPU" in refusal(bound.run_on_device, {"x": ONES})
    np.testing.assert_array_equal(bound.state["h"], 0 * ONES)


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
