"""Strides: the same memory under several shapes, against numpy's own views."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.targets.memory.strides import collapsed_shape, reshaped_strides, row_major


def element_strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple(s // array.itemsize for s in array.strides)


def addresses(shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """Where every element is, in row-major order of the indices."""
    grid = np.indices(shape).reshape(len(shape), int(np.prod(shape)))
    return np.array(strides, dtype=np.int64) @ grid


@settings(derandomize=True, max_examples=200)
@given(st.lists(st.integers(1, 4), max_size=4), st.integers(0, 23))
def test_reshaped_strides_walk_the_same_elements(sizes: list[int], order: int) -> None:
    permutation = np.random.default_rng(order).permutation(len(sizes))
    array = np.zeros(sizes).transpose(permutation)
    shape, strides = array.shape, element_strides(array)
    flat = (array.size,)
    merged = reshaped_strides(shape, strides, flat)
    if merged is not None:
        assert (addresses(flat, merged) == addresses(shape, strides)).all()
    contiguous = reshaped_strides(shape, row_major(shape), flat)
    assert contiguous is not None
    assert (addresses(flat, contiguous) == np.arange(array.size)).all()


def test_a_broadcast_leaf_keeps_its_zero_stride() -> None:
    assert reshaped_strides((2, 64, 7, 7), (0, 1, 0, 0), (2, 64, 49)) == (0, 1, 0)


def test_a_row_broadcast_cannot_merge_with_its_columns() -> None:
    assert reshaped_strides((2, 3, 5), (0, 0, 1), (2, 15)) is None


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3, 5), [(15, 5, 1)], (30,)),
        ((2, 3, 5), [(15, 5, 1), (0, 1, 0)], (2, 3, 5)),
        ((2, 3, 5), [(15, 5, 1), (0, 0, 0)], (30,)),
        ((1, 3, 1), [(3, 1, 1)], (3,)),
        ((2, 3, 5), [(15, 5, 1), (0, 5, 1)], (2, 15)),
        ((), [()], (1,)),
    ],
)
def test_collapsing_merges_what_all_strides_allow(
    shape: tuple[int, ...], strides: list[tuple[int, ...]], expected: tuple[int, ...]
) -> None:
    assert collapsed_shape(shape, strides) == expected
