"""Factors of matrices by kernels of the CPU, against torch, which calls LAPACK."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import linalg, nn  # noqa: E402
from torch.export import Dim, export  # noqa: E402


def _parts(found: Any) -> Any:
    """Return eigenvalues, and the matrix that eigenvectors are of, whose signs are free."""
    values, vectors = found
    return values, (vectors * values[..., None, :]) @ vectors.mT, vectors.mT @ vectors


def _product(factors: Any) -> Any:
    """Return singular values, and the matrix that these are of."""
    u, s, vh = factors
    size = s.shape[-1]
    return s, (u[..., :size] * s[..., None, :]) @ vh[..., :size, :]


def _orthogonal(factors: Any) -> Any:
    u, _, vh = factors
    return *_product(factors), u.mT @ u, vh @ vh.mT


def _regular(x: Any) -> Any:
    return x @ x.mT / 9 + torch.eye(x.shape[-2], dtype=x.dtype)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda x: tuple(linalg.cholesky_ex(x @ x.mT + torch.eye(x.shape[-2]))),
    "upper cholesky": lambda x: linalg.cholesky(x @ x.mT + torch.eye(x.shape[-2]), upper=True),
    "lu": lambda x: tuple(linalg.lu_factor_ex(x)),
    "qr": lambda x: tuple(linalg.qr(x)),
    "complete qr": lambda x: tuple(linalg.qr(x, "complete")),
    "reflections": lambda x: tuple(torch.geqrf(x)),
    "eigenvalues": lambda x: linalg.eigvalsh(x @ x.mT),
    "eigenvectors": lambda x: _parts(linalg.eigh(x @ x.mT - 3)),
    "singular values": lambda x: linalg.svdvals(x),
    "singular vectors": lambda x: _product(linalg.svd(x, full_matrices=False)),
    "complete singular vectors": lambda x: _orthogonal(linalg.svd(x)),
    "lost rank": lambda x: _product(linalg.svd(x[..., :1] @ x[..., :1, :])),
    "triangle": lambda x: linalg.solve_triangular(_regular(x), x, upper=True),
    "triangle of ones": lambda x: linalg.solve_triangular(
        _regular(x), x, upper=False, unitriangular=True
    ),
    "equations": lambda x: linalg.solve(_regular(x), x),
    "permutation": lambda x: tuple(linalg.lu(x)),
}
"""Functions of a matrix of any shape; torch exports reflections of known sizes alone."""


class Function(nn.Module):
    """Compute one of the functions."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.function = FUNCTIONS[name]

    def forward(self, x: Any) -> Any:
        return self.function(x)


def compiled(name: str, x: Any, **options: Any) -> trivium.Session:
    session = trivium.compile(export(Function(name), (x,), **options), target="cpu", strict=True)
    assert "host" not in {step.kind for step in session.manifest.steps}
    return session


def check(name: str, session: trivium.Session, x: Any, tolerance: float) -> None:
    wanted = FUNCTIONS[name](x)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    made = session.run({"x": x.numpy()}).values()
    for have, want in zip(made, wanted, strict=True):
        assert have.dtype == want.numpy().dtype
        np.testing.assert_allclose(have, want.numpy(), tolerance, tolerance)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "reflections"])
def test_matrices_of_any_size(name: str) -> None:
    torch.manual_seed(0)
    shapes = {"x": {0: Dim("B"), 1: Dim("M", min=1), 2: Dim("N", min=1)}}
    session = compiled(name, torch.randn(2, 6, 4), dynamic_shapes=shapes)
    for shape in ((4, 3, 3), (1, 2, 5), (3, 17, 16), (2, 9, 33), (2, 16, 1)):
        check(name, session, torch.randn(*shape), 1e-4)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (2, 3, 19, 17), (0, 2, 2)])
def test_matrices_of_known_sizes(name: str, shape: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    x = torch.randn(*shape, dtype=torch.float64)
    if name.endswith("cholesky"):
        x = x.float()
    check(name, compiled(name, x), x, 1e-4 if x.dtype == torch.float32 else 1e-9)


def test_info_says_which_matrix_has_no_factors() -> None:
    x = torch.tensor([[[4.0, 2], [2, 1]], [[4, 2], [2, 3]], [[0, 0], [0, 1]], [[1, 2], [2, 1]]])
    program = export(Info(), (x,))
    session = trivium.compile(program, target="cpu", strict=True)
    lower, of_cholesky, of_lu = session.run({"x": x.numpy()}).values()
    wanted = linalg.cholesky_ex(x)
    assert of_cholesky.tolist() == wanted.info.tolist() == [2, 0, 1, 2]
    assert of_lu.tolist() == linalg.lu_factor_ex(x).info.tolist() == [2, 0, 1, 0]
    np.testing.assert_allclose(lower[1], wanted.L[1].numpy(), 1e-6)
    assert np.isnan(lower[[0, 2, 3]]).all()


class Info(nn.Module):
    """Factorise, and return what failed."""

    def forward(self, x: Any) -> Any:
        return (*linalg.cholesky_ex(x), linalg.lu_factor_ex(x).info)
