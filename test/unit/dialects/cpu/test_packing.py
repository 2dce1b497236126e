"""Columns in panels: every element is in its place, whatever the order of axes in memory."""

import numpy as np
import pytest
from trivium.dialects.core.tensor import dense
from trivium.dialects.cpu.packing import pack_columns, pack_last_axis, unpack_columns


@pytest.mark.parametrize("columns", [0, 1, 3, 4, 11])
@pytest.mark.parametrize("transposed", [False, True])
def test_panels_are_filled_up_with_zeros(columns: int, transposed: bool) -> None:
    matrix = np.random.default_rng(0).random((3, columns), np.float32)
    matrix = np.asfortranarray(matrix) if transposed else matrix
    packed = pack_columns(matrix, 4)
    assert packed.shape == (-(-columns // 4), 3, 4)
    assert packed.flags.c_contiguous
    for panel, start in zip(packed, range(0, columns, 4), strict=True):
        found = matrix[:, start : start + 4]
        np.testing.assert_array_equal(panel[:, : found.shape[1]], found)
        assert not panel[:, found.shape[1] :].any()
    np.testing.assert_array_equal(unpack_columns(packed, columns), matrix)


def test_all_but_the_last_axis_stay_in_order() -> None:
    array = np.arange(2 * 3 * 5).reshape(2, 3, 5)
    packed = pack_last_axis(array, 2)
    assert packed.shape == (3, 2, 3, 2)
    assert packed[1, 1, 2].tolist() == array[1, 2, 2:4].tolist()
    assert packed[2, 1, 2].tolist() == [array[1, 2, 4], 0]


def test_arrays_are_copied_unless_their_elements_fill_their_memory() -> None:
    array = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    for whole in (array, array.T, array.transpose(1, 0, 2), array[:, None]):
        assert dense(whole) is whole
    for part in (array[:, :, :2], array[::-1], np.broadcast_to(array[0], (5, 3, 4))):
        assert dense(part) is not part
        np.testing.assert_array_equal(dense(part), part)
        assert dense(part).flags.c_contiguous
