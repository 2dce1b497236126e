"""Eigenvalues, singular values, and what torch makes of them, of exported programs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import linalg, nn  # noqa: E402


def _whole(factors: Any) -> Any:
    """Multiply factors, whose signs are free, to what they are of."""
    u, s, vh = factors
    return (u[..., : s.shape[-1]] * s[..., None, :]) @ vh[..., : s.shape[-1], :]


def _symmetric(x: Any) -> Any:
    return x[:, :3] + x[:, :3].mT


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "eigenvalues": lambda x: linalg.eigvalsh(_symmetric(x)),
    "eigenvalues_of_the_upper_triangle": lambda x: linalg.eigvalsh(x[:, :3], "U"),
    "eigenvectors": lambda x: linalg.eigh(_symmetric(x)).eigenvectors.abs(),
    "singular_values": lambda x: linalg.svdvals(x),
    "singular_vectors": lambda x: _whole(linalg.svd(x)),
    "complete_singular_vectors": lambda x: linalg.svd(x)[0].abs(),
    "of_some": lambda x: torch.svd(x)[2].abs(),
    "values_alone": lambda x: torch.svd(x, compute_uv=False)[1],
    "condition": lambda x: linalg.cond(x),
    "rank": lambda x: linalg.matrix_rank(x[:, :, :1] @ x[:, :1]),
    "nuclear_norm": lambda x: linalg.matrix_norm(x, "nuc"),
    "pinverse": lambda x: torch.pinverse(x),
    "pinv": lambda x: linalg.pinv(x),
    "pinv_above_a_size": lambda x: linalg.pinv(x, atol=1.5),
    "pinv_above_sizes": lambda x: linalg.pinv(x, atol=torch.tensor([0.0, 1.5])),
    "pinv_above_a_share": lambda x: linalg.pinv(x, rtol=0.5),
    "pinv_above_the_larger": lambda x: linalg.pinv(x, atol=0.1, rtol=0.7),
    "pinv_of_a_symmetric_matrix": lambda x: linalg.pinv(_symmetric(x), hermitian=True),
}


class Everything(nn.Module):
    """All functions, by their names."""

    def forward(self, x: Any) -> Any:
        return {name: function(x) for name, function in FUNCTIONS.items()}


@pytest.fixture(scope="module")
def pair() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a session has computed, and torch."""
    torch.manual_seed(0)
    x = torch.randn(2, 4, 3)
    return trivium.compile(Everything(), x).run({"x": x.numpy()}), Everything()(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_that_of_torch(pair: Any, name: str) -> None:
    made, wanted = (each[name] for each in pair)
    np.testing.assert_allclose(made, wanted.numpy(), rtol=1e-4, atol=1e-5)


def test_numbers_that_are_not_finite_make_nan() -> None:
    x = torch.tensor([[[1.0, 2], [3, torch.inf]], [[2, 0], [0, 1]]])
    session = trivium.compile(Values(), x)
    eigenvalues, values = session.run({"x": x.numpy()}).values()
    assert np.isnan(eigenvalues[0]).all()
    assert np.isnan(values[0]).all()
    np.testing.assert_allclose([eigenvalues[1], values[1]], [[1, 2], [2, 1]], rtol=1e-6)


class Values(nn.Module):
    """Eigenvalues and singular values."""

    def forward(self, x: Any) -> Any:
        return linalg.eigvalsh(x), linalg.svdvals(x)
