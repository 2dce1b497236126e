import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def close(got, want, tolerance=1e-4):
    np.testing.assert_allclose(got, want, tolerance, tolerance)


# -- dft --------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [4, 7, 10])
@pytest.mark.parametrize("axis", [1, -2])
def test_dft_is_what_torch_computes(axis, length):
    pairs = normal(2, 7, 5, 2)
    complex_signal = torch.view_as_complex(torch.tensor(pairs))
    forward = tri.Dft(axis=axis, length=length).reference(pairs)
    backward = tri.Dft(axis=axis, length=length, inverse=True).reference(pairs)
    along = axis if axis >= 0 else axis + 1  # torch's tensor has no axis of parts
    close(forward, torch.view_as_real(torch.fft.fft(complex_signal, length, along)))
    close(backward, torch.view_as_real(torch.fft.ifft(complex_signal, length, along)))


def test_one_sided_dft_is_what_torch_computes():
    signal, spectrum = normal(2, 7, 1), normal(2, 5, 2)
    half = tri.Dft(axis=1, length=9, onesided=True).reference(signal)
    close(half, torch.view_as_real(torch.fft.rfft(torch.tensor(signal[..., 0]), 9, 1)))
    real = tri.Dft(axis=1, length=9, onesided=True, inverse=True).reference(spectrum)
    close(real[..., 0], torch.fft.irfft(torch.view_as_complex(torch.tensor(spectrum)), 9, 1))
    assert real.shape == (2, 9, 1)


# -- det --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 2, 2), (1, 1)])
def test_det_is_what_torch_computes(shape):
    x = normal(*shape)
    close(tri.Det().reference(x), torch.linalg.det(torch.tensor(x)))


def test_det_of_what_is_no_square_is_refused():
    with pytest.raises(Invalid, match="input is tensor<2x3xf32>, must have square matrices"):
        tri.Det().infer(Tensor((2, 3), "f32"))


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 2, 2), (1, 1), (2, 0, 0)])
def test_inverse_is_what_torch_computes(shape):
    x = normal(*shape)
    close(tri.Inverse().reference(x), torch.linalg.inv(torch.tensor(x)))


def test_inverse_of_singular_matrices_alone_is_not_a_number():
    x = np.float32([[[1, 2], [2, 4]], [[0, 4], [2, 0]], [[0, 0], [0, 0]]])
    first, second, third = tri.Inverse().reference(x)
    assert np.isnan(first).all()
    assert second.tolist() == [[0, 0.5], [0.25, 0]]
    assert np.isnan(third).all()


def test_inverse_of_what_is_no_square_is_refused():
    with pytest.raises(Invalid, match="input is tensor<3xf32>, must have square matrices"):
        tri.Inverse().infer(Tensor((3,), "f32"))


# -- deformable convolution -------------------------------------------------------------------

WINDOW = {"strides": (1, 2), "pads": (1, 0, 2, 1), "dilations": (2, 1)}
X, W, B = normal(2, 4, 7, 8), normal(6, 2, 3, 2, seed=1), normal(6, seed=2)
PLAIN = tri.Conv(**WINDOW, group=2).reference(X, W, B)
PIXELS = PLAIN.shape[2:]


def test_taps_that_stay_in_place_make_a_convolution():
    still = np.zeros((2, 2 * 6 * 2, *PIXELS), np.float32)
    got = tri.DeformConv(**WINDOW, group=2, offset_group=2).reference(X, W, still, B)
    close(got, PLAIN)


def test_taps_that_move_together_move_the_image():
    offset = np.zeros((2, 1, 6, 2, *PIXELS), np.float32)
    offset[:, :, :, 0], offset[:, :, :, 1] = 1, -2  # one down, two to the left
    moved = np.zeros_like(X)
    moved[:, :, :-1, 2:] = X[:, :, 1:, :-2]
    offset = offset.reshape(2, 12, *PIXELS)
    given = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1), "group": 2}
    inner = slice(1, -1), slice(2, -2)
    offset = np.broadcast_to(offset[:, :, :1, :1], (2, 12, 5, 7))
    got = tri.DeformConv(**given).reference(X, W, offset, None)
    want = tri.Conv(**given).reference(moved, W)
    close(got[(..., *inner)], want[(..., *inner)])


def test_half_a_step_takes_the_mean_of_two_elements():
    x = np.array([[[1, 3, 7]]], np.float32)
    offset = np.full((1, 1, 3), 0.5, np.float32)
    given = {"strides": (1,), "pads": (0, 0), "dilations": (1,)}
    got = tri.DeformConv(**given).reference(x, np.ones((1, 1, 1), np.float32), offset)
    assert got.tolist() == [[[2, 5, 3.5]]]


def test_a_mask_multiplies_what_each_tap_reads():
    mask = np.abs(normal(2, 6, *PIXELS, seed=3))
    still = np.zeros((2, 12, *PIXELS), np.float32)
    got = tri.DeformConv(**WINDOW, group=2).reference(X, W, still, None, mask)
    padded = torch.nn.functional.pad(torch.tensor(X), (0, 1, 1, 2))
    taps = [
        padded[:, :, 2 * i :, j:][:, :, : PIXELS[0], : 2 * PIXELS[1] : 2]
        for i in range(3)
        for j in range(2)
    ]
    seen = torch.stack(taps, 2) * torch.tensor(mask)[:, None]  # batch, channels, taps, pixels
    kernels = torch.tensor(W).reshape(2, 3, 2, 6)
    want = torch.einsum("goct,bgctyx->bgoyx", kernels, seen.reshape(2, 2, 2, 6, *PIXELS))
    close(got, want.reshape(2, 6, *PIXELS))


def f32(*shape):
    return Tensor(shape, "f32")


@pytest.mark.parametrize(
    ("offset", "mask", "offset_group", "message"),
    [
        (f32(2, 12, 4, 4), None, 1, "offset is tensor<2x12x4x4xf32>, must have shape 2x12x6x4"),
        (f32(2, 12, 6, 4), f32(2, 12, 6, 4), 1, "mask is .*, must have shape 2x6x6x4"),
        (f32(2, 36, 6, 4), None, 3, "4 channels do not split in 3 offset groups"),
    ],
)
def test_deformable_convolution_refuses_what_does_not_fit(offset, mask, offset_group, message):
    types = [Tensor.of(X), Tensor.of(W), offset, None, mask]
    with pytest.raises(Invalid, match=message):
        tri.DeformConv(**WINDOW, group=2, offset_group=offset_group).infer(*types)


# -- linear attention -------------------------------------------------------------------------

Q, K, V = normal(2, 5, 4, 3), normal(2, 5, 2, 3, seed=1), normal(2, 5, 2, 6, seed=2)


def test_linear_attention_is_causal_attention_without_softmax():
    y, state = tri.LinearAttention(scale=0.5).reference(Q, K, V)
    keys, values = np.repeat(K, 2, axis=2), np.repeat(V, 2, axis=2)
    scores = np.einsum("bthk,bshk->bhts", Q, keys) * np.tri(5)
    close(y, 0.5 * np.einsum("bhts,bshv->bthv", scores, values))
    close(state, np.einsum("btgk,btgv->bgkv", K, V))


def test_decay_fades_what_was_seen_before():
    decay = np.full((2, 5, 2, 1), np.log(0.5), np.float32)
    y, _ = tri.LinearAttention(scale=1.0).reference(Q, K, V, decay)
    keys, values = np.repeat(K, 2, axis=2), np.repeat(V, 2, axis=2)
    age = np.arange(5)[:, None] - np.arange(5)
    scores = np.einsum("bthk,bshk->bhts", Q, keys) * np.where(age >= 0, 0.5**age, 0)
    close(y, np.einsum("bhts,bshv->bthv", scores, values))


def test_the_delta_rule_replaces_the_value_of_a_key():
    key = np.zeros((1, 2, 1, 3), np.float32)
    key[..., 1] = 1  # the same key twice
    values = np.array([[[[1, 2]], [[5, 7]]]], np.float32)
    rate = np.array([[[[1]], [[0.25]]]], np.float32)
    y, state = tri.LinearAttention(scale=1.0).reference(key, key, values, None, rate)
    assert y[0, :, 0].tolist() == [[1, 2], [2, 3.25]]
    assert state[0, 0].tolist() == [[0, 0], [2, 3.25], [0, 0]]


def test_a_sequence_goes_on_from_a_state():
    decay, rate = -np.abs(normal(2, 5, 2, 3, seed=3)), np.abs(normal(2, 5, 1, 1, seed=4))
    whole, last = tri.LinearAttention(scale=1.0).reference(Q, K, V, decay, rate)
    parts, state = [], None
    for part in (slice(0, 2), slice(2, 5)):
        operands = [operand[:, part] for operand in (Q, K, V, decay, rate)]
        y, state = tri.LinearAttention(scale=1.0).reference(*operands, state)
        parts.append(y)
    close(np.concatenate(parts, 1), whole)
    close(state, last)


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        ([f32(2, 5, 4), f32(2, 5, 2, 3), f32(2, 5, 2, 6)], "ranks 3, 4, 4, must all have 4"),
        ([f32(2, 5, 4, 3), f32(2, 5, 2, 4), f32(2, 5, 2, 6)], "which do not fit each other"),
        ([f32(2, 5, 3, 3), f32(2, 5, 2, 3), f32(2, 5, 2, 6)], "3 query heads do not share 2 key"),
        (
            [f32(2, 5, 4, 3), f32(2, 5, 2, 3), f32(2, 5, 2, 6), f32(2, 5, 2, 3, 1)],
            "do not broadcast",
        ),
        (
            [f32(1, 1, 4, 3), f32(1, 1, 2, 3), f32(1, 1, 2, 6), f32(5, 2, 3)],
            "decay is tensor<5x2x3xf32>, must broadcast to 1x1x2x3",
        ),
        (
            [f32(2, 5, 4, 3), f32(2, 5, 2, 3), f32(2, 5, 2, 6), None, None, f32(2, 2, 6, 3)],
            "state is tensor<2x2x6x3xf32>, must be tensor<2x2x3x6xf32>",
        ),
    ],
)
def test_linear_attention_refuses_what_does_not_fit(operands, message):
    with pytest.raises(Invalid, match=message):
        tri.LinearAttention(scale=1.0).infer(*operands)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_pairs_of_known_probabilities_give_these(classes: int) -> None:
    p = np.random.default_rng(classes).dirichlet(np.full(classes, 3.0), 7)
    pairs = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    made = tri.CouplePairs().reference(pairs)
    np.testing.assert_allclose(made.sum(1), 1, rtol=1e-9)
    np.testing.assert_allclose(made, p, atol=0.02)


def test_pairs_end_where_equal_probabilities_are_near_enough() -> None:
    pairs = np.array([[[0, 0.501], [0.499, 0]], [[0, 0.9], [0.1, 0]]])
    made = tri.CouplePairs().reference(pairs)
    assert made[0].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(made[1], [0.9, 0.1], atol=0.005)
