import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")
functional = torch.nn.functional


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


X = normal(3, 6, 5, 4)
SCALE, BIAS, MEAN, VAR = (normal(6, seed=i) for i in range(1, 5))
VAR = np.abs(VAR)


def close(got, want):
    np.testing.assert_allclose(got, want, 1e-5, 2e-6)


def tensors(*arrays):
    return [torch.tensor(a) for a in arrays]


@pytest.mark.parametrize("shape", [(3, 6), (3, 6, 5), (3, 6, 5, 4), (3, 6, 2, 5, 4)])
def test_batch_norm_is_what_torch_computes(shape):
    x, mean, var, scale, bias = tensors(normal(*shape), MEAN, VAR, SCALE, BIAS)
    got = tri.BatchNorm(epsilon=1e-3).reference(x.numpy(), SCALE, BIAS, MEAN, VAR)
    close(got, functional.batch_norm(x, mean, var, scale, bias, eps=1e-3))


@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_layer_norm_is_what_torch_computes(axis):
    shape = X.shape[axis % 4 :]
    scale, bias = normal(*shape, seed=1), normal(*shape, seed=2)
    x, *affine = tensors(X, scale, bias)
    close(tri.LayerNorm(axis=axis).reference(X), functional.layer_norm(x, shape))
    got = tri.LayerNorm(axis=axis).reference(X, scale, bias)
    close(got, functional.layer_norm(x, shape, *affine))


@pytest.mark.parametrize("axis", [-1, 2])
def test_rms_norm_is_what_torch_computes(axis):
    shape = X.shape[axis % 4 :]
    scale = normal(*shape, seed=1)
    got = tri.RmsNorm(axis=axis, epsilon=1e-3).reference(X, scale)
    close(got, functional.rms_norm(torch.tensor(X), shape, torch.tensor(scale), 1e-3))


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_group_norm_is_what_torch_computes(groups):
    x, scale, bias = tensors(X, SCALE, BIAS)
    got = tri.GroupNorm(groups=groups).reference(X, SCALE, BIAS)
    close(got, functional.group_norm(x, groups, scale, bias))


def test_instance_norm_is_what_torch_computes():
    x, scale, bias = tensors(X, SCALE, BIAS)
    got = tri.InstanceNorm().reference(X, SCALE, BIAS)
    close(got, functional.instance_norm(x, weight=scale, bias=bias))


@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalize_is_what_torch_computes(p):
    got = tri.LpNormalize(axis=1, p=p).reference(X)
    close(got, functional.normalize(torch.tensor(X), p, 1))


def test_lp_normalize_of_zeros_is_zeros():
    assert tri.LpNormalize().reference(np.zeros((2, 3), np.float32)).tolist() == [[0] * 3] * 2


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 13])
def test_lrn_sums_the_squares_of_neighbouring_channels(size):
    got = tri.Lrn(size=size, alpha=0.1, beta=0.5, bias=2.0).reference(X)
    for channel in range(6):
        first, last = channel - (size - 1) // 2, channel + size // 2
        around = X[:, max(first, 0) : last + 1]
        total = (around.astype(np.float64) ** 2).sum(1)
        close(got[:, channel], X[:, channel] / np.sqrt(2 + 0.1 / size * total))


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: tri.LayerNorm().reference(x),
        lambda x: tri.RmsNorm().reference(x),
        lambda x: tri.LpNormalize().reference(x),
        lambda x: tri.InstanceNorm().reference(x[None], *[np.ones(1, x.dtype)] * 2),
    ],
)
def test_half_types_are_computed_in_f32(compute):
    x = np.full((1, 4096), 100, np.float16)
    x[0, 0] = -100  # squares add up to more than the greatest f16
    y = compute(x)
    assert y.dtype == np.float16
    assert np.isfinite(y).all()
    assert y.any()


def f32(*shape):
    return Tensor(shape, "f32")


C = f32(6)


@pytest.mark.parametrize(
    ("infer", "message"),
    [
        (
            lambda: tri.BatchNorm().infer(f32(6), C, C, C, C),
            "input has rank 1, must have 2 or more",
        ),
        (
            lambda: tri.BatchNorm().infer(f32(2, 6), C, C, C, f32(5)),
            "var is tensor<5xf32>, must have one axis of 6 elements",
        ),
        (
            lambda: tri.LayerNorm().infer(f32(2, 6), f32(5)),
            "shapes 5 and 2x6 do not broadcast",
        ),
        (
            lambda: tri.LayerNorm().infer(f32(2, 6), None, f32(3, 1, 6)),
            "bias is tensor<3x1x6xf32>, must broadcast to tensor<2x6xf32>",
        ),
        (lambda: tri.LayerNorm(axis=2).infer(f32(2, 6)), r"axis 2 is outside \[-2, 2\)"),
        (lambda: tri.RmsNorm().infer(Tensor((2,), "i32")), "element type is i32, must be a float"),
        (
            lambda: tri.GroupNorm(groups=4).infer(f32(2, 6, 3), C, C),
            "6 channels do not split in 4 groups",
        ),
        (
            lambda: tri.GroupNorm(groups=3).infer(f32(2, 6), C, C),
            "input has rank 2, must have 3 or more",
        ),
        (
            lambda: tri.InstanceNorm().infer(f32(2, 6, 3), C, f32(1)),
            "bias is tensor<1xf32>, must have one axis of 6 elements",
        ),
        (lambda: tri.LpNormalize(p=3).infer(C), "p is 3, must be 1 or 2"),
        (lambda: tri.Lrn(size=0).infer(f32(2, 6)), "size is 0, must be at least 1"),
        (lambda: tri.Lrn(size=1).infer(C), "input has rank 1, must have 2 or more"),
    ],
)
def test_normalisation_refuses_what_does_not_fit(infer, message):
    with pytest.raises(Invalid, match=message):
        infer()
