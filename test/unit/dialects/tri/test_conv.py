import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")
functional = torch.nn.functional

CONVS = [functional.conv1d, functional.conv2d, functional.conv3d]
TRANSPOSES = [
    functional.conv_transpose1d,
    functional.conv_transpose2d,
    functional.conv_transpose3d,
]
SIZES = (9, 8, 7)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def close(got, want, tolerance=1e-5):
    np.testing.assert_allclose(got, want.numpy(), tolerance, tolerance * 10)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "dilation", "group"),
    [
        (1, 1, 0, 1, 1),
        (1, 3, 0, 1, 2),
        (2, 1, 1, 1, 1),
        (3, 1, 1, 1, 1),
        (3, 2, 0, 2, 1),
        (3, 5, 1, 1, 2),
        (3, 1, 1, 1, 4),
        (3, 2, 2, 3, 4),
    ],
)
def test_conv_is_what_torch_computes(rank, kernel, stride, pad, dilation, group):
    x = normal(3, 4, *SIZES[:rank])
    w, b = normal(8, 4 // group, *[kernel] * rank, seed=1), normal(8, seed=2)
    got = tri.Conv(
        strides=(stride,) * rank,
        pads=(pad,) * (2 * rank),
        dilations=(dilation,) * rank,
        group=group,
    ).reference(x, w, b)
    tensors = map(torch.tensor, (x, w, b))
    close(got, CONVS[rank - 1](*tensors, stride, pad, dilation, group))


def test_conv_with_different_values_for_each_axis_and_side():
    x, w = normal(2, 3, 9, 8), normal(4, 3, 3, 2, seed=1)
    got = tri.Conv(strides=(1, 3), pads=(2, 0, 1, 3), dilations=(2, 1)).reference(x, w)
    padded = functional.pad(torch.tensor(x), (0, 3, 2, 1))
    close(got, functional.conv2d(padded, torch.tensor(w), None, (1, 3), 0, (2, 1)))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "dilation", "group", "extra"),
    [
        (1, 1, 0, 1, 1, 0),
        (1, 3, 0, 1, 2, 2),
        (3, 1, 1, 1, 1, 0),
        (3, 2, 1, 1, 2, 1),
        (3, 5, 0, 1, 1, 4),
        (2, 1, 1, 2, 4, 1),
        (3, 2, 2, 3, 4, 0),
    ],
)
def test_conv_transpose_is_what_torch_computes(rank, kernel, stride, pad, dilation, group, extra):
    x = normal(3, 4, *(5, 4, 3)[:rank])
    w, b = normal(4, 3, *[kernel] * rank, seed=1), normal(3 * group, seed=2)
    got = tri.ConvTranspose(
        strides=(stride,) * rank,
        pads=(pad,) * (2 * rank),
        dilations=(dilation,) * rank,
        group=group,
        output_padding=(extra,) * rank,
    ).reference(x, w, b)
    tensors = map(torch.tensor, (x, w, b))
    close(got, TRANSPOSES[rank - 1](*tensors, stride, pad, extra, group, dilation))


def test_half_types_are_summed_in_f32():
    x, w = np.full((1, 4096, 1), 1, np.float16), np.full((1, 4096, 1), 1, np.float16)
    y = tri.Conv(strides=(1,), pads=(0, 0), dilations=(1,)).reference(x, w)
    assert y.dtype == np.float16
    assert y.item() == 4096  # a sum in f16 stops at 2048


def test_integers_stay_integers():
    x, w = np.arange(6, dtype=np.int32).reshape(1, 2, 3), np.full((1, 2, 2), 3, np.int32)
    y = tri.Conv(strides=(1,), pads=(0, 0), dilations=(1,)).reference(x, w)
    assert y.dtype == np.int32
    assert y.tolist() == [[[24, 36]]]


X = Tensor((1, 6, 8, 8), "f32")
GOOD = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}


@pytest.mark.parametrize(
    ("x", "w", "b", "group", "message"),
    [
        (X, (4, 4, 3, 3), None, 1, "input has 6 channels, weight with 1 groups takes 4"),
        (X, (4, 4, 3, 3), None, 2, "input has 6 channels, weight with 2 groups takes 8"),
        (X, (5, 3, 3, 3), None, 2, "6 to 5 channels do not split in 2 groups"),
        (X, (4, 6, 3, 3), None, 0, "group is 0, must be at least 1"),
        (X, (4, 6, 3, 3), (3,), 1, "bias is tensor<3xf32>, must have one axis of 4 elements"),
        (X, (4, 6, 3), None, 1, "weight has rank 3, input has 4, must be the same"),
        (Tensor((1, 6), "f32"), (4, 6), None, 1, "input has rank 2, must have 3 to 5"),
        (X, (4, 6, 9, 3), None, 1, "kernel spans 9 elements of spatial axis 0, padded input has 8"),
    ],
)
def test_conv_refuses_operands_that_do_not_fit(x, w, b, group, message):
    bias = None if b is None else Tensor(b, "f32")
    with pytest.raises(Invalid, match=message):
        tri.Conv(group=group, **GOOD).infer(x, Tensor(w, "f32"), bias)


def test_conv_refuses_operands_of_two_types():
    with pytest.raises(Invalid, match="element types f32, f16, must be the same"):
        tri.Conv(**GOOD).infer(X, Tensor((4, 6, 3, 3), "f16"))


@pytest.mark.parametrize(
    ("w", "changed", "message"),
    [
        ((5, 4, 3, 3), {}, "input has 6 channels, weight with 1 groups takes 5"),
        ((6, 4, 3, 3), {"output_padding": (1,)}, "output_padding has 1 entries, must have 2"),
        (
            (6, 4, 3, 3),
            {"output_padding": (0, -1)},
            r"output_padding is \(0, -1\), must be at least",
        ),
        (
            (6, 4, 3, 3),
            {"pads": (0, 5, 0, 6)},
            r"pads \(0, 5, 0, 6\) leave an output of sizes \(10, -1\)",
        ),
    ],
)
def test_conv_transpose_refuses_what_does_not_fit(w, changed, message):
    attributes = GOOD | {"output_padding": (0, 0)} | changed
    with pytest.raises(Invalid, match=message):
        tri.ConvTranspose(**attributes).infer(X, Tensor(w, "f32"))
