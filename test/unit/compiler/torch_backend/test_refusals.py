"""Graphs that are refused run in eager torch, for a reason in the logs, or are errors."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from trivium.compiler.torch_backend.report import LOG  # noqa: E402
from trivium.dialects.core.errors import CompileError  # noqa: E402


def _random(x: Any) -> Any:
    return x + torch.rand(3) // 1


def test_a_refused_graph_runs_in_eager_torch(compiled: Any, counted: Any, caplog: Any) -> None:
    made = compiled(_random)
    for _ in range(2):
        assert made(torch.zeros(3)).tolist() == [0, 0, 0]
    assert counted() == {"graphs": 1, "eager": 1, "sessions": 1}
    (line,) = [each.getMessage() for each in caplog.records if each.name == LOG.name]
    assert "1 of 3 calls of a graph run in eager torch: rand: error: 'aten::rand' operator" in line
    assert "test_refusals.py" in line


def test_a_refused_graph_is_an_error_where_strict(compiled: Any) -> None:
    with pytest.raises(CompileError, match="aten::rand"):
        compiled(_random, {"strict": True})(torch.zeros(3))


def test_options_are_those_of_a_compilation(compiled: Any) -> None:
    net, x = nn.Linear(64, 8), torch.randn(2, 64)
    options = {"threads": 1, "math": "strict", "strict": True}
    torch.testing.assert_close(compiled(net, options)(x), net(x))
    half = compiled(nn.Sequential(net), {"precision": "bf16"})(x)
    assert half.dtype == torch.float32
    assert 0 < (half - net(x)).abs().max() < 0.1


WRONG = {
    "threadz": "option 'threadz' is unknown",
    "precision": "precision is 'wrong', must be one of",
    "example_inputs": "option 'example_inputs' is what torch.compile decides",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options_are_errors(name: str, compiled: Any) -> None:
    with pytest.raises(Exception, match=WRONG[name]):
        compiled(torch.relu, {name: "wrong"})(torch.zeros(3))


def test_modes_are_of_inductor(compiled: Any) -> None:
    with pytest.raises(Exception, match="mode is 'max-autotune', which Inductor has"):
        compiled(torch.relu, mode="max-autotune")(torch.zeros(3))


def test_gradients_are_refused_when_they_are_computed(compiled: Any) -> None:
    net, x = nn.Linear(4, 2), torch.randn(3, 4)
    with torch.enable_grad():
        made = compiled(net)(x)
        torch.testing.assert_close(made, net(x))
        assert made.requires_grad
        with pytest.raises(RuntimeError, match="backend 'trivium' computes no gradients"):
            made.sum().backward()


def test_outputs_need_gradients_as_in_torch(compiled: Any) -> None:
    def function(x: Any, w: Any) -> Any:
        return x @ w, x + 1, (x @ w).argmax(), (x @ w).detach() + 1

    w = torch.randn(4, 4, requires_grad=True)
    with torch.enable_grad():
        made = compiled(function)(torch.randn(3, 4), w)
    assert [each.requires_grad for each in made] == [True, False, False, False]


def test_what_is_no_memory_of_the_process_runs_in_eager_torch(compiled: Any, counted: Any) -> None:
    made = compiled(lambda x: x * 2)(torch.empty(3, device="meta"))
    assert made.device.type == "meta"
    assert counted() == {"graphs": 1, "eager": 1}


def test_what_is_not_refused_is_compiled(compiled: Any, counted: Any) -> None:
    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.first(x))
            y.mul_(2)
            counts, places = torch.frexp(y)
            y.add_(1)
            return self.last(y * counts + places), y.view(-1)

    net = Mixed().double()
    for dynamic in (False, True):
        mixed = compiled(net, dynamic=dynamic)
        for rows in (2, 3):
            x = torch.randn(rows, 8).double()
            torch.testing.assert_close(mixed(x), net(x))
        torch._dynamo.reset()
    assert counted() == {"graphs": 3, "eager": 3, "sessions": 6}
