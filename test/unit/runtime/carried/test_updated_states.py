"""State that a run updates in place: one buffer, of the session or of the caller."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trivium.runtime import Session
from trivium.runtime.carried.in_place import overlapping
from trivium.runtime.checks import check
from trivium.runtime.contents import FIRST_PORT, Buffer, CarriedPort
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.manifest import Manifest
from trivium.test.unit.runtime.carried.toy import H1, ONES, H, Toy, X, Y

PAIR = CarriedPort("h1", "h", is_bound=False, in_place=True)
BUFFERS = tuple(
    Buffer("", FIRST_PORT + base, 0, port.shape, port.dtype)
    for base, port in ((0, X), (1, H), (2, Y), (1, H1))
)


@pytest.fixture
def session(toy: Toy) -> Session:
    """Return a session that adds x to h in place, and gives twice the sum."""
    return toy(lambda x, h: (2 * (x + h), x + h), carried=(PAIR,), buffers=BUFFERS)


def test_an_array_that_is_fed_is_updated(session: Session):
    rows = np.stack([0 * ONES, 10 * ONES, 20 * ONES])
    for run in (1, 2, 3):
        assert list(session.run({"x": ONES, "h": rows[1]})) == ["y"]
        np.testing.assert_array_equal(rows, np.stack([0 * ONES, (10 + run) * ONES, 20 * ONES]))
    assert np.array_equal(session(ONES, rows[2]), 42 * ONES)
    assert np.array_equal(rows[2], 21 * ONES)


def test_a_copy_of_the_new_value_is_given_where_it_is_asked_for(session: Session):
    h, copy = 5 * ONES, 0 * ONES
    results = session.run({"x": ONES, "h": h}, {"h1": copy})
    assert results["h1"] is copy
    np.testing.assert_array_equal(copy, 6 * ONES)
    np.testing.assert_array_equal(h, 6 * ONES)


def test_state_of_the_session_is_in_one_buffer(session: Session):
    session.bind_state()
    places: set[int] = set()
    for _ in range(3):
        session(ONES)
        places.add(session._ports.carried.turn.inputs["h"].ctypes.data)
    assert len(places) == 1
    np.testing.assert_array_equal(session.state["h"], 3 * ONES)
    other = session.clone()
    other.restore_state(session.state)
    other(ONES)
    np.testing.assert_array_equal(other.state["h"], 4 * ONES)
    np.testing.assert_array_equal(session.state["h"], 3 * ONES)
    session.reset_state()
    np.testing.assert_array_equal(session.state["h"], 0 * ONES)


def test_initial_values_are_not_updated(session: Session):
    begin = 7 * ONES
    session.bind_state(initial={"h": begin})
    for _ in range(2):
        np.testing.assert_array_equal(session(ONES), 16 * ONES)
        session.reset_state()
    np.testing.assert_array_equal(begin, 7 * ONES)


def test_an_array_is_used_instead_of_the_state_in_one_run(session: Session):
    session.bind_state()
    session(ONES)
    h = 50 * ONES
    np.testing.assert_array_equal(session.run({"x": ONES, "h": h})["y"], 102 * ONES)
    np.testing.assert_array_equal(h, 51 * ONES)
    np.testing.assert_array_equal(session(ONES), 4 * ONES)


def test_state_that_is_unbound_is_fed(session: Session):
    session.bind_state()
    session.unbind_state()
    h = 1 * ONES
    assert list(session.run({"x": ONES, "h": h})) == ["y"]
    np.testing.assert_array_equal(h, 2 * ONES)


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.tolist(), "input 'h' is of type list, must be a numpy array"),
        (lambda h: h.astype(np.float64), "input 'h' is float64, must be float32: convert it first"),
        (lambda h: frozen(h.copy()), "input 'h' must be contiguous, aligned and writable"),
        (
            lambda h: np.stack([h, h], -1)[..., 0],
            "input 'h' must be contiguous, aligned and writable",
        ),
        (
            lambda h: h,
            "input 'x' shares memory with input 'h', must not: a run updates one of them in place",
        ),
    ],
    ids=["list", "dtype", "frozen", "strided", "shared"],
)
def test_an_array_that_cannot_be_updated_is_refused(
    session: Session, change: Callable[[Any], Any], message: str
):
    h = 3 * ONES
    with pytest.raises(RunError) as caught:
        session.run({"x": h, "h": change(h)})
    assert sorted(str(caught.value)) == sorted(message)  # either of two ports may be the first
    np.testing.assert_array_equal(h, 3 * ONES)


def test_an_output_stored_in_an_input_becomes_no_other(toy: Toy):
    ports = (replace(H, name="a", buffer=0), replace(H, name="b"))
    outputs = (replace(H1, name="a1", buffer=2), replace(H1, name="b1"))
    buffers = tuple(Buffer("", FIRST_PORT + b, 0, H.shape, H.dtype) for b in (0, 1, 0, 3))
    pair = CarriedPort("a1", "a", is_bound=False, in_place=True)
    session = toy(lambda a, b: (a, b), ports, outputs, carried=(pair,), buffers=buffers)
    for pairs in ({"a1": "b"}, {"b1": "a"}, {"a1": ["a", "b"]}):
        with pytest.raises(RunError, match="'a1' is stored in place of 'a'"):
            session.bind_state(pairs)
    session.bind_state({"b1": "b", "a1": "a"}, {"b": ONES})
    assert session() == ()
    assert {name: array[0] for name, array in session.state.items()} == {"a": 0, "b": 1}


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ((0, 8, True, "a"), (8, 16, True, "b"), None),
        ((0, 8, False, "a"), (4, 16, False, "b"), None),
        ((0, 8, False, "a"), (7, 16, True, "b"), ("a", "b")),
        ((0, 8, True, "a"), (7, 16, False, "b"), ("a", "b")),
        ((0, 64, True, "a"), (8, 16, False, "b"), ("a", "b")),
        ((0, 64, False, "a"), (8, 16, True, "b"), ("a", "b")),
        ((0, 64, True, "a"), (8, 8, False, "b"), None),
    ],
)
def test_spans_overlap(a: Any, b: Any, found: tuple[str, str] | None):
    far = (100, 200, True, "c")
    for spans in ([a, b, far], [far, b, a]):
        assert overlapping(spans) == found


def test_three_spans_overlap():
    spans = [(0, 100, False, "a"), (10, 20, False, "b"), (50, 60, True, "c")]
    assert overlapping(spans) == ("a", "c")
    spans = [(0, 100, True, "a"), (100, 120, False, "b"), (90, 95, False, "c")]
    assert overlapping(spans) == ("a", "c")


def test_a_manifest_that_says_so_wrongly_is_refused(session: Session):
    manifest = session.manifest
    check(manifest)
    elsewhere = tuple(replace(b, base=FIRST_PORT + i) for i, b in enumerate(BUFFERS))
    with pytest.raises(PackageError, match=r"'carried\[0\].in_place' is true, but output 'h1' is"):
        check(replace(manifest, buffers=elsewhere))
    with pytest.raises(PackageError, match="which would overwrite an input"):
        check(replace(manifest, carried=()))
    with pytest.raises(PackageError, match="which would overwrite an input"):
        check(replace(manifest, carried=(replace(PAIR, in_place=False),)))


@pytest.mark.parametrize("seed", range(200))
def test_a_forged_manifest_writes_to_no_other_input(
    session: Session, forge: Callable[[Any, int], Any], seed: int
):
    document = forge(json.loads(session.manifest.to_json()), seed)
    try:
        manifest = Manifest.from_json(json.dumps(document))
        check(manifest)
    except PackageError:
        return
    inputs = {manifest.buffers[port.buffer].base: port.name for port in manifest.inputs}
    for step in manifest.steps:
        written = {manifest.buffers[index].base for index in step.results}
        names = {inputs[base] for base in written & inputs.keys()}
        assert names <= set(manifest.updated.values())


def test_a_part_of_a_run_is_refused(session: Session):
    with pytest.raises(RunError, match="inputs 'h' are updated in place, a part of a run would"):
        session.part(["x", "h"], ["y"])
