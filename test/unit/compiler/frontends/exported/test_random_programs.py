"""Random numbers of exported programs: their statistics, and how they go on from run to run."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch.export import export  # noqa: E402
from torch.nn import functional  # noqa: E402

COUNT = 100_000
X = torch.linspace(-2, 2, COUNT)
ROOT = np.sqrt(COUNT)


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: Any) -> Any:
        return self.function(*tensors)


def drawn(function: Callable[..., Any], *tensors: Any) -> Any:
    return results(function, *tensors)[0]


def results(function: Callable[..., Any], *tensors: Any) -> list[Any]:
    session = trivium.compile(Function(function), tensors)
    feeds = {f"tensors_{index}": each.numpy() for index, each in enumerate(tensors)}
    return list(session.run(feeds).values())


# A mean and a deviation, as the distribution has them, and the least and greatest number.
MOMENTS: dict[str, tuple[Callable[[Any], Any], float, float, float, float]] = {
    "rand": (lambda x: torch.rand(COUNT), 0.5, 12**-0.5, 0, 1),
    "rand_like": (torch.rand_like, 0.5, 12**-0.5, 0, 1),
    "uniform_": (lambda x: torch.empty(COUNT).uniform_(-1, 3), 1, 4 * 12**-0.5, -1, 3),
    "randn": (lambda x: torch.randn(COUNT), 0, 1, -9, 9),
    "randn_like": (torch.randn_like, 0, 1, -9, 9),
    "normal_": (lambda x: x.clone().normal_(3, 2), 3, 2, -20, 20),
    "normal": (lambda x: torch.normal(x, 2.0) - x, 0, 2, -20, 20),
    "exponential_": (lambda x: x.clone().exponential_(0.5), 2, 2, 0, 80),
    "randint": (lambda x: torch.randint(2, 7, (COUNT,)), 4, 2**0.5, 2, 6),
    "randint_like": (lambda x: torch.randint_like(x, 5), 2, 2**0.5, 0, 4),
    "many": (lambda x: torch.randint(0, 10**9, (COUNT,)) / 1e9, 0.5, 12**-0.5, 0, 1),
    "bernoulli": (lambda x: torch.bernoulli(x * 0 + 0.2), 0.2, 0.4, 0, 1),
    "bernoulli_": (lambda x: x.clone().bernoulli_(0.8), 0.8, 0.4, 0, 1),
    "dropout": (lambda x: functional.dropout(x * 0 + 1, 0.2, True), 1, 0.5, 0, 1.25),
    "alpha_dropout": (
        lambda x: functional.alpha_dropout(torch.where(x > 0, 1.0, -1.0), 0.3, True),
        0,
        1,
        -2,
        2,
    ),
    "rrelu": (lambda x: functional.rrelu(-torch.ones(COUNT), 0, 1, True), -0.5, 12**-0.5, -1, 0),
}


@pytest.fixture(scope="module")
def moments() -> dict[str, Any]:
    """Return what one run of all functions has drawn, in one program."""
    functions = {name: each[0] for name, each in MOMENTS.items()}
    every = Function(lambda x: {name: function(x) for name, function in functions.items()})
    return trivium.compile(every, (X,)).run({"tensors_0": X.numpy()})


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_are_those_of_the_distribution(moments: dict[str, Any], name: str) -> None:
    _, mean, deviation, least, greatest = MOMENTS[name]
    y = moments[name].astype(np.float64)
    assert y.shape == (COUNT,)
    assert abs(y.mean() - mean) < 5 * deviation / ROOT
    assert abs(y.std() - deviation) < 0.02 * deviation
    assert least <= y.min() < y.max() <= greatest


def test_integers_are_alike_likely() -> None:
    y = drawn(lambda x: torch.randint(3, 13, (COUNT,)), X)
    counts = np.bincount(y, minlength=13)
    assert not counts[:3].any()
    # Of 10 cells, chi squared has mean 9 and deviation 4.2.
    assert ((counts[3:] - COUNT / 10) ** 2 / (COUNT / 10)).sum() < 9 + 5 * 4.2


def test_permutations_have_each_number_once() -> None:
    first, second = results(lambda x: (torch.randperm(1000), torch.randperm(1000)), X)
    assert not np.array_equal(first, second)
    for y in (first, second):
        assert sorted(y) == list(range(1000))
        assert abs(np.corrcoef(y, np.arange(1000))[0, 1]) < 5 / np.sqrt(1000)


WEIGHTS = torch.tensor([[1.0, 2.0, 3.0, 4.0, 0.0], [0.0, 0.5, 0.0, 0.5, 7.0]])


def test_classes_are_drawn_by_their_weights() -> None:
    y = drawn(lambda w: torch.multinomial(w, 50_000, replacement=True), WEIGHTS)
    for row, weights in zip(y, WEIGHTS.numpy(), strict=True):
        part = weights / weights.sum()
        counts = np.bincount(row, minlength=5)
        np.testing.assert_allclose(counts / 50_000, part, atol=5 * 0.5 / np.sqrt(50_000))
        assert not counts[part == 0].any()


def test_classes_are_drawn_once_without_replacement() -> None:
    rows = WEIGHTS[:1].expand(20_000, 5).clone()
    y = drawn(lambda w: torch.multinomial(w, 2), rows)
    assert (y[:, 0] != y[:, 1]).all()
    assert (y != 4).all()
    part = np.array([1, 2, 3, 4]) / 10
    np.testing.assert_allclose(np.bincount(y[:, 0]) / 20_000, part, atol=5 * 0.5 / np.sqrt(20_000))
    # The second class is drawn by the weights of those that are left.
    second = [sum(part[j] * part[k] / (1 - part[j]) for j in range(4) if j != k) for k in range(4)]
    np.testing.assert_allclose(np.bincount(y[:, 1]) / 20_000, second, atol=5 * 0.5 / 141)


def test_features_are_dropped_as_a_whole() -> None:
    y = drawn(lambda x: functional.dropout2d(x, 0.25, True), torch.ones(100, 200, 3, 2))
    np.testing.assert_array_equal(y, y[..., :1, :1] + np.zeros_like(y))
    kept = y[..., 0, 0] > 0
    np.testing.assert_allclose(y[..., 0, 0][kept], 4 / 3)
    assert abs(kept.mean() - 0.75) < 5 * 0.44 / np.sqrt(20_000)


def test_elements_are_kept_or_dropped() -> None:
    y = drawn(lambda x: functional.dropout(x, 0.2, True), X)
    kept = y != 0
    np.testing.assert_allclose(y[kept], X.numpy()[kept] / 0.8, rtol=1e-6)


def test_each_run_draws_others_and_each_session_the_same() -> None:
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x: Any) -> Any:
            return functional.dropout(x + torch.randn(8), 0.5, True), self.drop(x)

    x = torch.ones(8)
    program = export(Noisy().eval(), (x,)).run_decompositions({})
    session, again = trivium.compile(program), trivium.compile(program)
    runs = [session.run({"x": x.numpy()}) for _ in range(2)]
    np.testing.assert_array_equal(runs[0]["out1"], 1)  # modules are in inference
    assert not np.array_equal(runs[0]["out0"], runs[1]["out0"])
    for each in runs:
        np.testing.assert_array_equal(again.run({"x": x.numpy()})["out0"], each["out0"])
    session.reset_state()
    np.testing.assert_array_equal(session.run({"x": x.numpy()})["out0"], runs[0]["out0"])


def test_each_iteration_draws_others() -> None:
    def body(carry: Any, x: Any) -> Any:
        return carry + 1, x + torch.rand_like(x)

    function = lambda x: scan(body, torch.zeros(()), x)[1]  # noqa: E731
    y = drawn(function, torch.zeros(4, 1000))
    assert 0 <= y.min() < y.max() < 1
    assert abs(np.corrcoef(y) - np.eye(4)).max() < 5 / np.sqrt(1000)
