"""Branches, loops and scans of torch are ops with bodies, which compute what torch does."""

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch._higher_order_ops import while_loop  # noqa: E402
from torch._higher_order_ops.map import map as map_elements  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch.export import Dim, export  # noqa: E402
from trivium.test.unit.compiler.frontends.exported.torch_versions import needs_torch  # noqa: E402

LAYER = nn.Linear(4, 4)
SCALE = torch.linspace(0.5, 1.5, 4)


class Function(nn.Module):
    """A function with weights, some of them used inside of bodies and after them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.layer, self.function = LAYER, function
        self.register_buffer("scale", SCALE)

    def forward(self, x: Any, *more: Any) -> Any:
        return self.function(self, x, *more)


def two_branches(net: Any, x: Any) -> Any:
    first, second = torch.cond(
        x.sum() > 0, lambda x: (net.layer(x), x.sum()), lambda x: (x - net.scale, x.mean()), (x,)
    )
    return first * net.scale, second


def nested(net: Any, x: Any) -> Any:
    def inner(x: Any) -> Any:
        return torch.cond(x.max() > 1, lambda x: x * net.scale, lambda x: net.layer(x), (x,))

    return net.layer(torch.cond(x.sum() > 0, inner, torch.neg, (x,)))


def while_small(net: Any, x: Any) -> Any:
    return while_loop(
        lambda n, y: (n < 6) & (y.abs().sum() < 40),
        lambda n, y: (n + 1, net.layer(y) * 2 + y),
        (torch.tensor(0), x),
    )


def branch_in_loop(net: Any, x: Any) -> Any:
    def step(n: Any, y: Any) -> Any:
        return n + 1, torch.cond(y.sum() > 0, lambda y: y - net.scale, lambda y: y + 3, (y,))

    return while_loop(lambda n, y: n < 4, step, (torch.tensor(0), x))


def recurrence(net: Any, x: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = torch.tanh(net.layer(h) + x)
        return h, h.sum()

    return scan(step, net.scale, x, dim=0, reverse=True)


def each_row(net: Any, x: Any) -> Any:
    return map_elements(lambda row, scale: net.layer(row).cumsum(0) * scale, x, net.scale)


FUNCTIONS = [two_branches, nested, while_small, branch_in_loop, recurrence, each_row]
EACH_ROW = pytest.param(each_row, marks=needs_torch("2.11", "maps no axes of free size"))
KINDS = {"two_branches": "branch", "nested": "branch"}


def agrees(session: trivium.Session, net: Any, *inputs: Any) -> None:
    with torch.no_grad():
        want = net(*inputs)
    made = session.run({p.name: x.numpy() for p, x in zip(session.inputs, inputs, strict=True)})
    for one, other in zip(made.values(), want if isinstance(want, tuple) else [want], strict=True):
        assert one.shape == tuple(other.shape)
        np.testing.assert_allclose(one, other.numpy(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("target", ["cpu", "host"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_bodies_compute_what_torch_does(function: Callable[..., Any], target: str) -> None:
    torch.manual_seed(0)
    net, x = Function(function), torch.randn(3, 4)
    session = trivium.compile(net, x, target=target)
    kind = KINDS.get(function.__name__, "loop")
    assert kind in [step.kind for step in session.manifest.steps]
    for given in (x, -x, x + 2, x * 9):
        agrees(session, net, given)


@pytest.mark.parametrize("function", [*FUNCTIONS[:-1], EACH_ROW], ids=lambda each: each.__name__)
def test_bodies_of_sizes_that_vary(function: Callable[..., Any]) -> None:
    torch.manual_seed(0)
    net, x = Function(function), torch.randn(3, 4)
    session = trivium.compile(net, x, dynamic_shapes={"x": {0: Dim("N", min=2)}})
    assert list(session.symbols) == ["N"]
    for rows in (2, 5):
        agrees(session, net, torch.randn(rows, 4))


def test_a_known_condition_chooses_at_compile_time() -> None:
    def chosen(_: Any, x: Any, up: Any) -> Any:
        return torch.cond(up, lambda x: x + 1, lambda x: x - 1, (x,))

    net, x = Function(chosen), torch.randn(4)
    program = export(net, (x, torch.tensor(True)), strict=False)
    session = trivium.compile(program, constants={"more_0": np.array(False)})
    assert [step.kind for step in session.manifest.steps] == ["cpu"]
    np.testing.assert_allclose(session(x.numpy()), x.numpy() - 1)


@pytest.mark.parametrize("relation", ["gt", "ge", "lt", "le", "eq", "ne"])
def test_a_run_decides_a_condition_on_sizes(relation: str) -> None:
    def sized(_: Any, x: Any) -> Any:
        condition = getattr(operator, relation)(x.shape[0], 4)
        return torch.cond(condition, lambda x: x + 1, lambda x: x - 1, (x,))

    net, free = Function(sized), {"x": {0: Dim("N", min=2)}}
    session = trivium.compile(net, torch.ones(3), dynamic_shapes=free)
    for rows in (3, 4, 5):
        agrees(session, net, torch.ones(rows))


def test_archives_have_bodies(tmp_path: Path) -> None:
    net, x = Function(while_small), torch.randn(3, 4)
    torch.export.save(export(net, (x,), strict=False).run_decompositions({}), tmp_path / "net.pt2")
    agrees(trivium.compile(tmp_path / "net.pt2"), net, x)


# -- what is refused ------------------------------------------------------------------------------


def refusal(function: Callable[..., Any], *inputs: Any, **options: Any) -> str:
    with pytest.raises(trivium.CompileError) as caught:
        trivium.compile(Function(function), inputs, **options)
    return str(caught.value)


def test_operators_in_bodies_are_listed_with_the_others() -> None:
    def unsupported(_: Any, x: Any) -> Any:
        y = torch.cond(x.sum() > 0, torch.special.airy_ai, torch.neg, (x,))
        return torch.linalg.eigvals(y)

    message = refusal(unsupported, torch.eye(3))
    assert "special_airy_ai' operator" in message
    assert "linalg_eig' operator" in message
    assert "test_exported_control_flow.py" in message


def test_loops_that_carry_numbers_are_refused() -> None:
    def counted(_: Any, x: Any) -> Any:
        return while_loop(lambda n, y: n < 5, lambda n, y: (n + 1, y * 2), (0, x))

    assert "takes or returns something that is no tensor" in refusal(counted, torch.ones(3))
