"""Functions of complex numbers in exported programs are those of torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda z, w: z.abs(),
    "angle": lambda z, w: z.angle(),
    "conjugate": lambda z, w: torch.conj_physical(z),
    "product": lambda z, w: z * w,
    "product with a real tensor": lambda z, w: z * w.imag,
    "numbers": lambda z, w: 1 - z * (2 + 1j) / 3,
    "quotient": lambda z, w: z / w,
    "exponential": lambda z, w: z.exp(),
    "logarithm": lambda z, w: z.log(),
    "square": lambda z, w: z**2,
    "cube": lambda z, w: z**3,
    "difference": lambda z, w: torch.sub(z, w, alpha=2),
    "sum": lambda z, w: z.sum(),
    "sums of rows": lambda z, w: z.sum(-1, keepdim=True),
    "mean": lambda z, w: z.mean(0),
    "norms": lambda z, w: torch.linalg.vector_norm(z, dim=1),
    "matrices": lambda z, w: z @ w.mH,
    "batches": lambda z, w: torch.bmm(z[None], w[None]),
    "inner product": lambda z, w: torch.vdot(z[0], w[0]),
    "equation": lambda z, w: torch.einsum("ij,kj->ik", z, w),
    "equation with a real tensor": lambda z, w: torch.einsum("ij,jk->ik", z, w.real + 0j),
    "zeros": lambda z, w: torch.zeros(2, 4, dtype=torch.complex64) + z[:2],
    "zeros of a shape": lambda z, w: z - torch.zeros_like(w),
    "equal numbers": lambda z, w: z.new_full((4,), 1 - 2j) * w,
    "ones": lambda z, w: torch.full((4,), 1j) * w - z.new_ones(4),
    "choice": lambda z, w: torch.where(z.real > 0, z, w),
    "choice of a number": lambda z, w: z.masked_fill(z.imag > 0, 2),
    "equality": lambda z, w: z == torch.where(z.real > 0, z, w),
    "inequality": lambda z, w: z != z.real,
    "parts": lambda z, w: torch.view_as_real(z).flip(-1),
}


class Everything(nn.Module):
    """All functions of two complex tensors, whose results are real tensors."""

    def forward(self, a: Any, b: Any) -> Any:
        z, w = torch.view_as_complex(a), torch.view_as_complex(b)
        made = {name: function(z, w) for name, function in FUNCTIONS.items()}
        return {k: torch.view_as_real(y) if y.is_complex() else y for k, y in made.items()}


@pytest.fixture(scope="module")
def pair() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a session has computed, and torch."""
    torch.manual_seed(0)
    a, b = torch.randn(4, 4, 2), torch.randn(4, 4, 2)
    session = trivium.compile(Everything(), (a, b))
    return session.run({"a": a.numpy(), "b": b.numpy()}), Everything()(a, b)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_that_of_torch(pair: Any, name: str) -> None:
    made, wanted = (each[name] for each in pair)
    np.testing.assert_allclose(made, wanted.numpy(), rtol=1e-4, atol=1e-5)


class Rotary(nn.Module):
    """Rotate pairs of features by complex numbers, as Llama's first code does."""

    def forward(self, x: Any) -> Any:
        length, width = x.shape[1], x.shape[-1]
        rates = 1 / 10000 ** (torch.arange(0, width, 2) / width)
        turns = torch.outer(torch.arange(length), rates)
        turned = torch.polar(torch.ones_like(turns), turns)[:, None]
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turned).flatten(3)


def test_rotary_embeddings_by_complex_numbers() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 5, 3, 8)
    (made,) = trivium.compile(Rotary(), x).run({"x": x.numpy()}).values()
    np.testing.assert_allclose(made, Rotary()(x).numpy(), atol=1e-5)


class SpectralLayer(nn.Module):
    """Multiply the lowest frequencies by weights, as Fourier neural operators do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 2, 4, dtype=torch.complex64))

    def forward(self, x: Any) -> Any:
        found = torch.fft.rfft(x)
        kept = torch.zeros(x.shape[0], 2, found.shape[-1], dtype=torch.complex64)
        kept[:, :, :4] = torch.einsum("bix,iox->box", found[:, :, :4], self.weight)
        return torch.fft.irfft(kept, n=x.shape[-1])


def test_fourier_neural_operators() -> None:
    torch.manual_seed(0)
    net, x = SpectralLayer(), torch.randn(2, 3, 16)
    (made,) = trivium.compile(net, x).run({"x": x.numpy()}).values()
    np.testing.assert_allclose(made, net(x).detach().numpy(), rtol=1e-4, atol=1e-5)


class Spectrogram(nn.Module):
    """Return the powers of frequencies."""

    def forward(self, x: Any) -> Any:
        window = torch.hann_window(16)
        return torch.stft(x, 16, 4, window=window, return_complex=True).abs() ** 2


def test_powers_of_frequencies() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 64)
    (made,) = trivium.compile(Spectrogram(), x).run({"x": x.numpy()}).values()
    np.testing.assert_allclose(made, Spectrogram()(x).numpy(), rtol=1e-4, atol=1e-4)


def test_functions_without_complex_parts_are_refused() -> None:
    class Root(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.view_as_complex(x).tan().real

    with pytest.raises(trivium.CompileError, match="'tan' of complex numbers, must be of real"):
        trivium.compile(Root(), torch.ones(3, 2))
