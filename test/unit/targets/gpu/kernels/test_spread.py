"""How elements are spread over programs: in a row, or in rectangles where orders differ."""

import math

import numpy as np
import pytest
from trivium.targets.gpu.kernels.spread import (
    RECTANGLE,
    Sides,
    find_sides,
    sides_of_rectangle,
)
from trivium.targets.gpu.schedule.product_blocks import next_power
from trivium.targets.memory.strides import row_major

Shape = tuple[int, ...]
SHAPE = (2, 16, 30, 40)
LAST = (2, 3, 1, 0)
CHANNELS_LAST = (0, 2, 3, 1)


def strides(shape: Shape, order: Shape) -> Shape:
    """Return the strides of a tensor whose dims lie in memory in an order, as numpy has them."""
    lying = np.zeros([shape[dim] for dim in order], np.int8).transpose(np.argsort(order))
    return tuple(lying.strides)


def test_what_lies_alike_is_walked_in_a_row() -> None:
    for order in ((0, 1, 2, 3), CHANNELS_LAST, LAST):
        assert find_sides(SHAPE, order, [strides(SHAPE, order)]) is None


def test_rows_are_neighbours_in_the_source_and_columns_in_the_result() -> None:
    source = row_major(SHAPE)
    assert find_sides(SHAPE, CHANNELS_LAST, [source]) == Sides((0,), (2, 3), (1,))
    source = strides(SHAPE, CHANNELS_LAST)
    assert find_sides(SHAPE, (0, 1, 2, 3), [source]) == Sides((0,), (1,), (2, 3))


def test_rows_end_where_the_source_has_no_neighbours() -> None:
    source = strides(SHAPE, (0, 2, 1, 3))
    assert find_sides(SHAPE, (0, 1, 3, 2), [source]) == Sides((0,), (1, 3), (2,))
    source = strides(SHAPE, (1, 0, 2, 3))
    assert find_sides(SHAPE, (0, 3, 1, 2), [source]) == Sides((0,), (3,), (1, 2))


def test_dims_of_one_element_do_not_count() -> None:
    shape = (1, 16, 1, 40)
    assert find_sides(shape, CHANNELS_LAST, [row_major(shape)]) == Sides((), (3,), (1,))
    shape = (1, 1, 30, 40)
    assert find_sides(shape, CHANNELS_LAST, [row_major(shape)]) is None


def test_small_sources_and_repeated_ones_are_no_reason() -> None:
    per_channel, per_pixel = (0, 1, 0, 0), (0, 0, 40, 1)
    assert find_sides(SHAPE, (0, 1, 2, 3), [per_channel]) is None
    assert find_sides(SHAPE, CHANNELS_LAST, [per_pixel]) is None
    assert find_sides((2, 3, 4, 5), CHANNELS_LAST, [row_major((2, 3, 4, 5))]) is None


@pytest.mark.parametrize("rows", [1, 2, 3, 17, 32, 1000])
@pytest.mark.parametrize("columns", [1, 2, 3, 17, 64, 1000])
def test_rectangles_fit_tensors(rows: int, columns: int) -> None:
    height, width = sides_of_rectangle(rows, columns, RECTANGLE)
    assert height * width <= RECTANGLE
    assert height < 2 * rows
    assert width < 2 * columns
    full = math.prod(map(next_power, (rows, columns)))
    assert height * width == min(RECTANGLE, full)
