"""Equations, inverses and determinants of exported programs are those of torch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.compiler.frontends.exported.effects import without_effects
from trivium.compiler.frontends.exported.fx_reader import read_in_memory

torch = pytest.importorskip("torch")
from torch import linalg, nn  # noqa: E402
from torch.export import export  # noqa: E402
from trivium.test.unit.compiler.frontends.exported.torch_versions import needs_torch  # noqa: E402

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "solve": linalg.solve,
    "solve_from_the_right": lambda a, b: linalg.solve(a, b.mT, left=False),
    "solve_for_vectors": lambda a, b: linalg.solve(a, b[..., 0]),
    "solve_for_one_vector": lambda a, b: linalg.solve(a[0], b[0, :, 0]),
    "solve_for_a_batch_of_sides": lambda a, b: linalg.solve(a[0], b),
    "solve_by_factors": lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b),
    "solve_by_factors_of_the_transpose": lambda a, b: linalg.lu_solve(
        *linalg.lu_factor(a), b, adjoint=True
    ),
    "lower": lambda a, b: linalg.solve_triangular(a, b, upper=False),
    "triangle_from_the_right": lambda a, b: linalg.solve_triangular(
        a, b.mT, upper=True, left=False
    ),
    "triangle_for_a_batch_of_sides": lambda a, b: linalg.solve_triangular(a[0], b, upper=True),
    "transposed_triangle": lambda a, b: torch.triangular_solve(b, a, transpose=True)[0],
    "ones_on_the_diagonal": lambda a, b: linalg.solve_triangular(
        a / 9, b, upper=True, unitriangular=True
    ),
    "cholesky_solve": lambda a, b: torch.cholesky_solve(b, a),
    "cholesky_solve_by_the_upper_factor": lambda a, b: torch.cholesky_solve(b, a, upper=True),
    "cholesky_inverse": lambda a, b: torch.cholesky_inverse(a[0], upper=True),
    "tensorsolve": lambda a, b: linalg.tensorsolve(a[0].reshape(2, 3, 6), b[0, :, 0].view(2, 3)),
    "tensorinv": lambda a, b: linalg.tensorinv(a[0].reshape(3, 2, 6)),
    "slogdet": lambda a, b: linalg.slogdet(-a[:, :5, :5])[0],
    "logdet": lambda a, b: torch.logdet(a),
    "logdet_of_a_negative_one": lambda a, b: torch.logdet(-a[:, :5, :5]),
    "logdet_of_nothing": lambda a, b: torch.logdet(a * 0),
}


class Everything(nn.Module):
    """All functions, by their names."""

    def forward(self, a: Any, b: Any) -> Any:
        return {name: function(a, b) for name, function in FUNCTIONS.items()}


@pytest.fixture(scope="module")
def pair() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a session has computed, and torch."""
    torch.manual_seed(0)
    a, b = torch.randn(3, 6, 6) + 5 * torch.eye(6), torch.randn(3, 6, 2)
    session = trivium.compile(Everything(), (a, b))
    return session.run({"a": a.numpy(), "b": b.numpy()}), Everything()(a, b)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_that_of_torch(pair: Any, name: str) -> None:
    made, wanted = (each[name] for each in pair)
    np.testing.assert_allclose(made, wanted.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e7])
def test_equations_are_solved_as_exactly_as_rows_allow(condition: float) -> None:
    """Products with an inverse would have residuals that grow with the condition.

    The bound is that of elimination with pivots: Higham, Accuracy and Stability, 9.3.
    """
    generator = np.random.default_rng(0)
    size = 40
    (left, _), (right, _) = (np.linalg.qr(generator.normal(size=(size, size))) for _ in range(2))
    a = ((left * np.geomspace(1, 1 / condition, size)) @ right).astype(np.float32)
    b = (a @ generator.normal(size=(size, 3))).astype(np.float32)
    session = trivium.compile(Equations(), (torch.from_numpy(a), torch.from_numpy(b)))
    for x in session.run({"a": a, "b": b}).values():
        error = np.linalg.norm(a.astype(np.float64) @ x - b, np.inf)
        scale = np.linalg.norm(a, np.inf) * np.linalg.norm(x, np.inf)
        assert error <= size * np.finfo(np.float32).eps * scale


class Equations(nn.Module):
    """Solve equations at once, and by factors."""

    def forward(self, a: Any, b: Any) -> Any:
        return linalg.solve(a, b), linalg.lu_solve(*linalg.lu_factor(a), b)


class Exponential(nn.Module):
    """Compute exponentials of matrices."""

    def forward(self, x: Any) -> Any:
        return torch.matrix_exp(x)


@pytest.mark.parametrize(("dtype", "precision"), [("float32", 3e-6), ("float64", 3e-14)])
def test_exponentials_of_matrices(dtype: str, precision: float) -> None:
    """Each matrix of a batch is scaled by a power of its own; the bound is relative to its norm."""
    torch.manual_seed(0)
    scales = torch.tensor([0, 1e-6, 0.1, 1, 3]).reshape(5, 1, 1)
    x = (torch.randn(5, 6, 6) * scales).to(getattr(torch, dtype))
    free = {"x": {0: torch.export.Dim("B"), 1: torch.export.Dim("N"), 2: torch.export.Dim("N")}}
    session = trivium.compile(Exponential(), x, dynamic_shapes=free)
    for each in (x, x[3:, :2, :2].contiguous(), x[:2, :1, :1].contiguous()):
        made = session.run({"x": each.numpy()})["out0"]
        want = torch.matrix_exp(each.double()).numpy()
        norms = np.linalg.norm(want, axis=(1, 2), keepdims=True)
        np.testing.assert_allclose(made / norms, want / norms, rtol=0, atol=precision)


def test_exponentials_of_matrices_that_are_large_or_no_numbers() -> None:
    x = np.zeros((4, 2, 2), np.float32)
    x[0, 0, 1], x[1, 0, 0], x[2, 1, 0] = 1e38, -1e30, np.nan
    session = trivium.compile(Exponential(), torch.from_numpy(x))
    made = session.run({"x": x})["out0"]
    assert made[0].tolist() == [[1, np.float32(1e38)], [0, 1]]
    assert made[1].tolist() == [[0, 0], [0, 1]]
    assert np.isnan(made[2]).any()
    assert made[3].tolist() == [[1, 0], [0, 1]]


class Slogdet(nn.Module):
    """Signs, and logarithms of absolute values."""

    def forward(self, x: Any) -> Any:
        return tuple(linalg.slogdet(x))


def test_the_logarithm_of_a_large_determinant_is_finite() -> None:
    """Determinants of 200 rows are beyond f32 by far, those of 400 beyond f64."""
    torch.manual_seed(0)
    large = torch.randn(400, 400) * 3
    session = trivium.compile(Slogdet(), (large,))
    sign, logs = session.run({"x": large.numpy()}).values()
    wanted = linalg.slogdet(large.double())
    assert sign == wanted.sign
    np.testing.assert_allclose(logs, wanted.logabsdet.numpy(), rtol=1e-5)


CHECKS = needs_torch("2.13", "decomposes equations without an operator that checks them")


class Solved(nn.Module):
    """Torch's decomposition checks what the factorisation found, by an operator with an effect."""

    def forward(self, a: Any, b: Any) -> Any:
        return linalg.solve(a, b) + 1


@CHECKS
def test_operators_with_effects_are_checks_that_are_dropped(tmp_path: Path) -> None:
    a, b = torch.eye(3) * 2, torch.randn(3, 2)
    program = export(Solved(), (a, b)).run_decompositions()
    assert "with_effects" in program.graph_module.code
    torch.export.save(program, tmp_path / "net.pt2")
    for model in (program, tmp_path / "net.pt2"):
        session = trivium.compile(model)
        made = session.run({"a": a.numpy(), "b": b.numpy()})
        assert list(made) == ["out0"]
        np.testing.assert_allclose(made["out0"], b.numpy() / 2 + 1, rtol=1e-6)
        assert np.isnan(session.run({"a": 0 * a.numpy(), "b": b.numpy()})["out0"]).all()


@CHECKS
def test_operators_with_effects_keep_the_names_of_their_arguments() -> None:
    a, b = torch.eye(3), torch.ones(3, 2)
    read = without_effects(read_in_memory(export(Solved(), (a, b)).run_decompositions()))
    (check,) = (node for node in read.nodes if node.type == "aten::_linalg_check_errors")
    info, *_ = check.arguments.values()
    assert check.arguments == {"0": info, "1": "torch.linalg.solve", "is_matrix": True}


class Telling(nn.Module):
    """Print something, which has an effect."""

    def forward(self, x: Any) -> Any:
        torch.ops.aten._print("here")
        return x + 1


def test_other_operators_with_effects_are_refused_by_name() -> None:
    program = export(Telling(), (torch.ones(2),)).run_decompositions()
    assert "with_effects" in program.graph_module.code
    with pytest.raises(trivium.CompileError, match="'aten::_print' operator") as caught:
        trivium.compile(program)
    assert len(caught.value.diagnostics) == 1
