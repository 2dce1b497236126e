"""State whose sizes change: blocks that grow, written in turns, against lists of numpy arrays."""

import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.runtime import RunError
from trivium.runtime.carried.growing import GrowingState
from trivium.runtime.carried.pairs import add_pairs
from trivium.runtime.carried.state import CarriedState, StatePair, zeros_of
from trivium.runtime.slots import Slot

FLOAT = np.dtype(np.float32)


def slot(name: str, base: int, *shape: Any, dtype: np.dtype[Any] = FLOAT) -> Slot:
    return Slot(name, base, shape, dtype)


PAST, PRESENT = slot("past", 3, 2, "T", 3), slot("present", 4, 2, "T + 1", 3)


def growing(value: np.ndarray) -> GrowingState:
    return GrowingState([StatePair(PRESENT, (PAST,))], zeros_of, {"past": value})


@given(st.lists(st.integers(0, 9), max_size=12))
def test_each_run_reads_what_the_last_one_wrote(lengths: list[int]):
    """A run takes some length and leaves another one."""
    value = np.zeros((2, 1, 3), np.float32)
    state = growing(value)
    for k, length in enumerate(lengths):
        taken = state.turn.inputs["past"]
        assert isinstance(taken, np.ndarray)
        np.testing.assert_array_equal(taken, value)
        target = state.target(replace(PRESENT, shape=(2, length, 3)))
        assert isinstance(target, np.ndarray)
        assert not np.may_share_memory(taken, target)
        assert target.flags.c_contiguous
        value = np.full((2, length, 3), k, np.float32)
        target[:] = value
        state.advance()
        np.testing.assert_array_equal(state.value("past"), value)
    state.reset()
    np.testing.assert_array_equal(state.value("past"), np.zeros((2, 1, 3)))


def addresses(state: CarriedState, lengths: range) -> list[int]:
    found: list[int] = []
    for length in lengths:
        target = state.target(replace(PRESENT, shape=(2, length, 3)))
        assert isinstance(target, np.ndarray)
        target[:] = length
        found.append(target.ctypes.data)
        state.advance()
    return found


def test_blocks_are_replaced_only_as_powers_of_two():
    state = growing(np.zeros((2, 0, 3), np.float32))
    found = addresses(state, range(1, 1000))
    changed = [length for length in range(3, 1000) if found[length - 1] != found[length - 3]]
    # Rows of 24 bytes: two blocks of 4096 bytes, of 8192, of 16384.
    assert changed == [171, 172, 342, 343, 683, 684]


def test_trimming_keeps_the_value():
    state = growing(np.zeros((2, 0, 3), np.float32))
    addresses(state, range(500, 503))
    block = weakref.ref(state._sides[state._next].blocks[0].base)
    assert block() is not None
    state.trim()
    assert block() is None
    np.testing.assert_array_equal(state.value("past"), np.full((2, 502, 3), 502))
    addresses(state, range(503, 505))
    np.testing.assert_array_equal(state.value("past"), np.full((2, 504, 3), 504))


def test_a_run_that_fails_leaves_the_value():
    state = growing(np.ones((2, 1, 3), np.float32))
    addresses(state, range(2, 4))
    for length in (4, 400):
        target = state.target(replace(PRESENT, shape=(2, length, 3)))
        assert isinstance(target, np.ndarray)
        target[:] = 99
    np.testing.assert_array_equal(state.value("past"), np.full((2, 3, 3), 3))


def test_what_it_begins_with_must_be_given():
    with pytest.raises(RunError) as caught:
        add_pairs(CarriedState(), {"present": "past"}, {}, ([PAST], [PRESENT]), zeros_of)
    assert str(caught.value) == (
        "input 'past' has shape [2, T, 3], which may change: give by initial what it begins with"
    )


def test_sizes_that_are_numbers_must_be_equal():
    for other in (
        slot("other", 5, 2, "T", 4),
        slot("other", 5, 2, "T"),
        slot("other", 5, 2, "T", 3, dtype=np.dtype(np.int32)),
    ):
        spelled = f"{other.dtype}[{', '.join(map(str, other.shape))}]"
        with pytest.raises(RunError) as caught:
            add_pairs(CarriedState(), {"present": "other"}, {}, ([other], [PRESENT]), zeros_of)
        assert str(caught.value) == (
            "output 'present' cannot become input 'other': it is float32[2, T + 1, 3], must be "
            f"{spelled}"
        )


def test_a_twin_has_blocks_of_its_own():
    state = growing(np.zeros((2, 0, 3), np.float32))
    addresses(state, range(1, 6))
    twin = state.renewed(zeros_of)
    assert twin.value("past").shape == (2, 0, 3)
    addresses(twin, range(7, 9))
    np.testing.assert_array_equal(state.value("past"), np.full((2, 5, 3), 5))
    np.testing.assert_array_equal(twin.value("past"), np.full((2, 8, 3), 8))


def test_pairs_that_are_added_keep_the_values_of_others():
    state = growing(np.zeros((2, 0, 3), np.float32))
    addresses(state, range(1, 4))
    h, h1 = slot("h", 6, 3), slot("h1", 7, 3)
    ports = ([PAST, h], [PRESENT, h1])
    assert not isinstance(add_pairs(CarriedState(), {"h1": "h"}, {}, ports, zeros_of), GrowingState)
    both = add_pairs(state, {"h1": "h"}, {}, ports, zeros_of)
    np.testing.assert_array_equal(both.value("past"), np.full((2, 3, 3), 3))
    np.testing.assert_array_equal(both.value("h"), np.zeros(3))
