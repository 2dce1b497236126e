import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")
functional = torch.nn.functional

MAX_POOLS = [functional.max_pool1d, functional.max_pool2d, functional.max_pool3d]
AVERAGE_POOLS = [functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d]
LP_POOLS = [functional.lp_pool1d, functional.lp_pool2d, functional.lp_pool3d]
CASES = [(2, 1, 0), (2, 3, 1), (3, 1, 1), (3, 2, 0), (3, 2, 1), (3, 5, 1), (1, 2, 0)]


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def attributes(rank, kernel, stride, pad, dilation=1, ceil_mode=False):
    return {
        "kernel": (kernel,) * rank,
        "strides": (stride,) * rank,
        "pads": (pad,) * (2 * rank),
        "dilations": (dilation,) * rank,
        "ceil_mode": ceil_mode,
    }


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize(("kernel", "stride", "pad"), CASES)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_max_pool_is_what_torch_computes(rank, kernel, stride, pad, dilation, ceil_mode):
    x = normal(3, 2, *(9, 8, 7)[:rank])
    given = attributes(rank, kernel, stride, pad, dilation, ceil_mode)
    pool = MAX_POOLS[rank - 1]
    want, places = pool(
        torch.tensor(x), kernel, stride, pad, dilation, ceil_mode, return_indices=True
    )
    y, indices = tri.MaxPoolIndices(**given).reference(x)
    planes = np.arange(6).reshape(3, 2, *[1] * rank) * x[0, 0].size
    np.testing.assert_array_equal(tri.MaxPool(**given).reference(x), want)
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(indices - planes, places)


def test_column_major_indices_count_the_first_spatial_axis_fastest():
    x = np.array([[[[1, 2, 9], [3, 4, 5]]]], np.float32)
    given = attributes(2, 2, 1, 0)
    assert tri.MaxPoolIndices(**given).reference(x)[1].tolist() == [[[[4, 2]]]]
    indices = tri.MaxPoolIndices(**given, storage_order=1).reference(x)[1]
    assert indices.tolist() == [[[[3, 4]]]]


def test_max_pool_of_integers_never_takes_padding():
    x = np.full((1, 1, 2), -128, np.int8)
    y = tri.MaxPool(**attributes(1, 2, 1, 1)).reference(x)
    assert y.dtype == np.int8
    assert y.tolist() == [[[-128, -128, -128]]]


@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("kernel", "stride", "pad"), CASES)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_average_pool_is_what_torch_computes(
    rank, kernel, stride, pad, ceil_mode, count_include_pad
):
    x = normal(3, 2, *(9, 8, 7)[:rank])
    given = attributes(rank, kernel, stride, pad, ceil_mode=ceil_mode)
    got = tri.AveragePool(**given, count_include_pad=count_include_pad).reference(x)
    pool = AVERAGE_POOLS[rank - 1]
    want = pool(torch.tensor(x), kernel, stride, pad, ceil_mode, count_include_pad)
    np.testing.assert_allclose(got, want, 1e-6, 1e-6)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_lp_pool_is_what_torch_computes(rank, p):
    x = np.abs(normal(3, 2, *(9, 8, 7)[:rank]))
    got = tri.LpPool(**attributes(rank, 3, 2, 0), p=p).reference(x)
    np.testing.assert_allclose(got, LP_POOLS[rank - 1](torch.tensor(x), p, 3, 2), 1e-5)


def test_half_types_are_summed_in_f32():
    x = np.ones((1, 1, 4096), np.float16)
    y = tri.AveragePool(**attributes(1, 4096, 1, 0)).reference(x)
    assert y.dtype == np.float16
    assert y.item() == 1


X = Tensor((1, 2, 4), "f32")


@pytest.mark.parametrize(
    ("op", "x", "changed", "message"),
    [
        (tri.MaxPool, Tensor((1, 2), "f32"), {}, "input has rank 2, must have 3 or more"),
        (tri.MaxPool, X, {"kernel": (5,)}, "kernel spans 5 elements of spatial axis 0"),
        (tri.MaxPool, X, {"kernel": (2, 2)}, "strides has 1 entries, must have 2"),
        (tri.MaxPoolIndices, X, {"storage_order": 2}, "storage_order is 2, must be 0 or 1"),
        (tri.AveragePool, Tensor((1, 2, 4), "i8"), {}, "element type is i8, must be a float"),
        (tri.LpPool, X, {"p": 0}, "p is 0, must be at least 1"),
    ],
)
def test_pooling_refuses_what_does_not_fit(op, x, changed, message):
    with pytest.raises(Invalid, match=message):
        op(**attributes(1, 2, 1, 0) | changed).infer(x)
