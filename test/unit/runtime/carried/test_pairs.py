"""Which outputs become inputs, and what these begin with: values from numpy."""

from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from trivium.runtime import Session
from trivium.runtime.checks import check
from trivium.runtime.contents import FIRST_PORT, Buffer, CarriedPort, Port
from trivium.runtime.errors import PackageError
from trivium.test.unit.runtime.carried.toy import H1, ONES, H, Toy, X, Y, cell, refusal


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


def test_what_is_missing_or_too_much_is_named(bound: Session):
    assert refusal(bound.run, {}) == "input 'x' is missing; the inputs are 'x', 'h'"
    message = "no input is named 'z'; the inputs are 'x', 'h'"
    assert refusal(bound.run, {"x": ONES, "z": ONES}) == message
    assert refusal(bound, ONES, ONES) == "got 2 inputs, must get 1: 'x'"
    np.testing.assert_array_equal(bound.state["h"], 0 * ONES)


@pytest.mark.parametrize("pairs", [[("y", "z")], [("z", "h")], [("y", "h"), ("h1", "h")]])
def test_what_a_package_carries_must_fit(toy: Toy, pairs: list[tuple[str, str]]):
    manifest = toy().manifest
    check(replace(manifest, carried=(CarriedPort("h1", "h"),)))
    output, name = pairs[-1]
    number = len(pairs) - 1
    with pytest.raises(
        PackageError, match=rf"'carried\[{number}\]' is from '{output}' to '{name}'"
    ):
        check(replace(manifest, carried=tuple(starmap(CarriedPort, pairs))))
