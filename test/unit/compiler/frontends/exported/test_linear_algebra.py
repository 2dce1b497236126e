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

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "solve": linalg.solve,
    "solve_from_the_right": lambda a, b: linalg.solve(a, b.mT, left=False),
    "solve_for_vectors": lambda a, b: linalg.solve(a, b[..., 0]),
    "solve_for_one_vector": lambda a, b: linalg.solve(a[0], b[0, :, 0]),
    "lower": lambda a, b: linalg.solve_triangular(a, b, upper=False),
    "ones_on_the_diagonal": lambda a, b: linalg.solve_triangular(
        a / 9, b, upper=True, unitriangular=True
    ),
    "cholesky_solve": lambda a, b: torch.cholesky_solve(b, a),
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


class Solved(nn.Module):
    """Torch's decomposition checks what the factorisation found, by an operator with an effect."""

    def forward(self, a: Any, b: Any) -> Any:
        return linalg.solve(a, b) + 1


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


@pytest.mark.parametrize("condition", [1e1, 1e3, 1e5])
@pytest.mark.parametrize("left", [True, False])
def test_what_a_solution_leaves_is_as_little_as_of_torch(condition: float, left: bool) -> None:
    draw = torch.Generator().manual_seed(0)
    turns = [linalg.qr(torch.randn(32, 32, dtype=torch.float64, generator=draw))[0] for _ in "uv"]
    sizes = torch.logspace(0, -np.log10(condition), 32, dtype=torch.float64)
    a = (turns[0] * sizes @ turns[1]).float()
    b = torch.randn(32, 32, generator=draw)

    class Solve(nn.Module):
        def forward(self, a: Any, b: Any) -> Any:
            return linalg.solve(a, b, left=left)

    def residual(x: Any) -> float:
        whole = a.double() @ x.double() if left else x.double() @ a.double()
        return float((whole - b.double()).norm() / (a.double().norm() * x.double().norm()))

    made = trivium.compile(Solve(), (a, b))(a.numpy(), b.numpy())
    assert residual(torch.from_numpy(made)) < 3 * residual(linalg.solve(a, b, left=left))
