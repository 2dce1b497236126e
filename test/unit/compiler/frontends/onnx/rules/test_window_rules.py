"""Rules of convolution and pooling against ONNX Runtime, where ONNX's own cases do not reach."""

import pytest
from trivium.test.unit.compiler.frontends.onnx.graphs import array
from trivium.test.unit.compiler.frontends.onnx.single_node import agree, reference, refused

pytest.importorskip("onnxruntime")

SAME = "SAME_UPPER"


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize(
    ("size", "stride", "kernel"),
    [(7, 1, 2), (7, 1, 3), (8, 2, 2), (7, 2, 3), (8, 2, 4), (9, 3, 3), (8, 3, 4), (5, 4, 4)],
)
def test_windows_pad_by_themselves(auto_pad: str, size: int, stride: int, kernel: int) -> None:
    x, w = array(2, 3, size, size + 1), array(4, 3, kernel, 3, seed=1)
    common = {"auto_pad": auto_pad, "strides": [stride, 1]}
    agree("Conv", [x, w], 11, **common)
    for pool in ("MaxPool", "AveragePool", "LpPool"):
        agree(pool, [x], 11, kernel_shape=[kernel, 3], **common)


@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (2, 3), (1, 3)])
def test_a_pool_cuts_its_only_window_where_the_input_is_smaller(
    size: int, stride: int, ceil_mode: int
) -> None:
    x = array(1, 1, size, 8)
    for pool in ("MaxPool", "AveragePool", "LpPool"):
        options = {} if pool == "LpPool" else {"ceil_mode": ceil_mode}
        agree(pool, [x], 19, kernel_shape=[3, 2], strides=[stride, 2], **options)
    agree("AveragePool", [x], 19, kernel_shape=[3, 2], strides=[stride, 2], count_include_pad=1)


def test_conv_fills_in_all_defaults() -> None:
    agree("Conv", [array(2, 3, 7), array(4, 3, 3, seed=1)], 7)
    agree("ConvTranspose", [array(2, 3, 7), array(3, 4, 3, seed=1)], 7)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize(("kernel", "stride"), [(3, 1), (3, 2), (4, 2), (4, 3)])
def test_transposed_windows_pad_by_themselves(auto_pad: str, kernel: int, stride: int) -> None:
    x, w = array(1, 3, 4, 5), array(3, 2, kernel, kernel, seed=1)
    agree("ConvTranspose", [x, w], 11, auto_pad=auto_pad, strides=[stride] * 2)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("shape", [[10, 11], [9, 9], [8, 10]])
def test_conv_transpose_takes_the_shape_of_its_output(auto_pad: str, shape: list[int]) -> None:
    x, w = array(1, 3, 4, 5), array(3, 2, 4, 4, seed=1)
    agree("ConvTranspose", [x, w], 11, auto_pad=auto_pad, output_shape=shape, strides=[2, 2])


def test_average_pool_counts_what_its_mode_says() -> None:
    for include in (0, 1):
        agree(
            "AveragePool",
            [array(1, 2, 8, 9)],
            19,
            kernel_shape=[3, 2],
            strides=[2, 2],
            pads=[1, 0, 1, 1],
            count_include_pad=include,
            ceil_mode=1,
        )


def test_max_pool_says_where_the_maxima_are() -> None:
    for order in (0, 1):
        agree("MaxPool", [array(2, 3, 6, 7)], 12, 2, kernel_shape=[2, 3], storage_order=order)


def test_same_padding_is_none_where_windows_leave_gaps() -> None:
    (y,) = reference("MaxPool", [array(1, 1, 7)], 11, kernel_shape=[2], strides=[3], auto_pad=SAME)
    assert y.shape == (1, 1, 3)
    (y,) = reference(
        "ConvTranspose", [array(1, 1, 3), array(1, 1, 2)], 11, strides=[3], auto_pad=SAME
    )
    assert y.shape == (1, 1, 8)
    assert not y[0, 0, 2::3].any()


def test_global_pools_reduce_all_pixels() -> None:
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        agree(op, [array(2, 3, 4, 5)], 11)


def test_windows_that_make_no_sense_are_refused() -> None:
    x, w = array(1, 3, 7, 7), array(4, 3, 3, 3)
    refused("has kernel_shape .5, 5., weight has .3, 3.", "Conv", [x, w], 11, kernel_shape=[5, 5])
    given = {"kernel_shape": [3, 3], "auto_pad": "SAME"}
    refused("has auto_pad 'SAME', must be one of NOTSET", "MaxPool", [x], 11, **given)
    given = {"output_shape": [9], "strides": [2, 2]}
    wanted = "output_shape has 1 entries, input has 2 spatial axes"
    refused(wanted, "ConvTranspose", [x, w.swapaxes(0, 1)], 11, **given)
