import dataclasses

import pytest
from trivium.dialects.core.errors import Invalid
from trivium.dialects.tri.image.window import Window


def window(kernel, strides=1, pads=(0, 0), dilations=1, *, ceil_mode=False):
    return Window((kernel,), (strides,), pads, (dilations,), ceil_mode)


@pytest.mark.parametrize(
    ("made", "size", "count"),
    [
        (window(3), 7, 5),
        (window(3, strides=2), 7, 3),
        (window(3, strides=2), 8, 3),
        (window(3, strides=5), 7, 1),
        (window(3, dilations=3), 7, 1),
        (window(3, pads=(1, 2)), 7, 8),
        (window(7), 7, 1),
    ],
)
def test_windows_are_counted_on_the_padded_input(made, size, count):
    assert made.output_sizes((size,)) == (count,)


@pytest.mark.parametrize(
    ("made", "size", "count"),
    [
        (window(3, strides=2, ceil_mode=True), 8, 4),
        (window(3, strides=2, ceil_mode=True), 7, 3),
        (window(2, strides=3, pads=(0, 1), ceil_mode=True), 6, 2),
        (window(1, strides=2, pads=(0, 1), ceil_mode=True), 2, 2),
        (window(1, strides=2, pads=(1, 0), ceil_mode=True), 1, 1),
    ],
)
def test_in_ceil_mode_a_last_window_counts_when_it_starts_before_the_end_padding(made, size, count):
    assert made.output_sizes((size,)) == (count,)


@pytest.mark.parametrize(
    ("strides", "size", "count"), [(3, 2, 1), (2, 2, 1), (3, 1, 1), (3, 3, 1), (3, 6, 2)]
)
def test_a_partial_window_counts_where_no_whole_one_fits(strides, size, count):
    made = dataclasses.replace(window(3, strides), allows_partial=True)
    assert made.output_sizes((size,)) == (count,)


def test_a_partial_window_hangs_over_the_end_by_less_than_a_stride():
    made = dataclasses.replace(window(3, strides=2), allows_partial=True)
    with pytest.raises(Invalid, match="kernel spans 3 elements of spatial axis 0, padded input ha"):
        made.output_sizes((1,))


def test_input_sizes_undo_output_sizes_where_windows_fit_exactly():
    made = Window((3, 2), (2, 3), (1, 0, 0, 2), (2, 1))
    sizes = (10, 6)
    assert made.input_sizes(made.output_sizes(sizes)) == sizes


@pytest.mark.parametrize(
    ("made", "sizes", "message"),
    [
        (Window((3,), (1, 1), (0, 0), (1,)), (7,), "strides has 2 entries, must have 1"),
        (Window((3,), (1,), (0,), (1,)), (7,), "pads has 1 entries, must have 2"),
        (window(3, strides=0), (7,), r"strides is \(0,\), must be at least 1"),
        (window(3, pads=(-1, 0)), (7,), r"pads is \(-1, 0\), must be at least 0"),
        (window(0), (7,), r"kernel is \(0,\), must be at least 1"),
        (window(3), (7, 7), "kernel has 1 axes, input has 2 spatial ones"),
        (
            window(5, dilations=2, pads=(1, 0)),
            (7,),
            "kernel spans 9 elements of spatial axis 0, padded input has 8",
        ),
    ],
)
def test_a_window_that_does_not_fit_is_refused(made, sizes, message):
    with pytest.raises(Invalid, match=message):
        made.output_sizes(sizes)
