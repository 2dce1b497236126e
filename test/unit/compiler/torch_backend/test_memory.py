"""Inputs that are changed, outputs that share memory, and weights that change between calls."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402


def _changed(x: Any) -> Any:
    x.add_(1)
    return x * 2, x


def _changed_slice(x: Any) -> Any:
    x[:, 1] = 5
    return x.sum()


def _changed_view(x: Any) -> Any:
    y = x.view(-1)
    y.mul_(3)
    return y[2:] + 1


CHANGES: dict[str, Callable[[Any], Any]] = {
    "whole": _changed,
    "slice": _changed_slice,
    "view": _changed_view,
}


@pytest.mark.parametrize("name", CHANGES)
def test_inputs_are_changed(name: str, compiled: Any, counted: Any) -> None:
    function = CHANGES[name]
    ours, theirs = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    change = compiled(function)
    for _ in range(2):
        torch.testing.assert_close(change(ours), function(theirs))
        assert torch.equal(ours, theirs)
    assert counted() == {"graphs": 1, "sessions": 1}


def test_an_input_of_other_strides_is_changed(compiled: Any) -> None:
    base = torch.zeros(3, 4)
    compiled(_changed)(base.T)
    assert torch.equal(base, torch.ones(3, 4))


def test_inputs_that_overlap_are_changed(compiled: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    write = compiled(function)
    assert write(torch.zeros(4), torch.zeros(2)).tolist() == [0, 0]
    memory = torch.zeros(6)
    assert (
        write(memory[:4], memory[2:4]).tolist() == function(torch.zeros(4), torch.ones(2)).tolist()
    )


def test_two_changed_inputs_that_overlap(compiled: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        x.add_(1)
        y.mul_(2)
        return x + y

    write = compiled(function)
    write(torch.zeros(4), torch.zeros(4))
    ours, theirs = torch.ones(6), torch.ones(6)
    torch.testing.assert_close(write(ours[:4], ours[2:]), function(theirs[:4], theirs[2:]))
    assert torch.equal(ours, theirs)


def test_an_input_that_overlaps_a_weight_is_changed(compiled: Any) -> None:
    net = nn.Linear(4, 4, bias=False)

    def function(x: Any, y: Any) -> Any:
        y.mul_(2)
        return net(x)

    write, x = compiled(function), torch.ones(1, 4)
    write(x, torch.zeros(4))
    weight = net.weight.clone()
    made = write(x, net.weight[0])
    weight[0] *= 2
    assert torch.equal(net.weight, weight)
    torch.testing.assert_close(made, x @ weight.T)


def test_a_buffer_that_the_model_changes_is_no_constant(compiled: Any, counted: Any) -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(2))

        def forward(self, x: Any) -> Any:
            self.total.add_(x)
            return self.total * 2

    net = Sum()
    add = compiled(net)
    assert [add(torch.ones(2))[0].item() for _ in range(4)] == [2, 4, 6, 8]
    assert net.total.tolist() == [4, 4]
    assert counted() == {"graphs": 1, "sessions": 1}


VIEWS: dict[str, Callable[[Any], Any]] = {
    "of an input": lambda x: (x.view(-1), x[1:], x.T, x + 1),
    "the input": lambda x: (x.contiguous(), x.sum()),
    "of a result": lambda x: (lambda y: (y[1:], y, y.T))(x + 1),
    "of what is no result": lambda x: (x + 1).chunk(2, 1),
    "twice the same": lambda x: (lambda y: (y, y))(x + 1),
    "nothing else": lambda x: x[1:],
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", VIEWS)
def test_outputs_share_memory_as_in_torch(name: str, dynamic: bool, compiled: Any) -> None:
    function = VIEWS[name]
    view = compiled(function, dynamic=dynamic)
    for rows in (3, 5):
        x, other = torch.randn(rows, 4), torch.empty(rows, 4)
        other.copy_(x)
        ours, theirs = _listed(view(x)), _listed(function(other))
        for index in range(len(ours)):
            torch.testing.assert_close([*ours, x], [*theirs, other])
            ours[index].add_(index + 1)
            theirs[index].add_(index + 1)
        torch.testing.assert_close([*ours, x], [*theirs, other])


def test_a_view_of_part_of_the_memory(compiled: Any) -> None:
    memory = torch.arange(8.0)
    (made, _) = compiled(lambda x: (x[1:], x + 1))(memory[3:])
    assert made.tolist() == [4, 5, 6, 7]
    assert made.storage_offset() == 4


def _listed(outputs: Any) -> list[Any]:
    return [outputs] if isinstance(outputs, torch.Tensor) else [*outputs]


def _double(weight: Any) -> None:
    weight.mul_(2)


def _double_data(weight: Any) -> None:
    weight.data.mul_(2)


def _replace_data(weight: Any) -> None:
    weight.data = weight.data * 2


CHANGED_WEIGHTS: dict[str, Callable[[Any], None]] = {
    "in place": lambda net: _double(net.weight),
    "by its data": lambda net: _double_data(net.weight),
    "other data": lambda net: _replace_data(net.weight),
    "another": lambda net: setattr(net, "weight", nn.Parameter(net.weight * 2)),
    "state": lambda net: net.load_state_dict({k: v * 2 for k, v in net.state_dict().items()}),
    "assigned": lambda net: net.load_state_dict(
        {k: v * 2 for k, v in net.state_dict().items()}, assign=True
    ),
}


@pytest.mark.parametrize("name", CHANGED_WEIGHTS)
def test_changed_weights_are_noticed(name: str, compiled: Any, counted: Any) -> None:
    net, x = nn.Linear(16, 4), torch.randn(2, 16)
    infer = compiled(net)
    infer(x)
    CHANGED_WEIGHTS[name](net)
    torch.testing.assert_close(infer(x), net(x))
    torch.testing.assert_close(infer(x), net(x))
    assert counted() == {"graphs": 1, "sessions": 2}


def test_weights_that_change_often_become_inputs(compiled: Any, counted: Any) -> None:
    net, x = nn.Linear(16, 4), torch.randn(2, 16)
    infer = compiled(net)
    for _ in range(8):
        torch.testing.assert_close(infer(x), net(x))
        net.weight.add_(0.5)
        net.bias.add_(0.5)
    assert counted() == {"graphs": 1, "sessions": 4}


def test_tied_weights(compiled: Any) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    second.weight = first.weight
    net, x = nn.Sequential(first, second), torch.randn(2, 4)
    torch.testing.assert_close(compiled(net)(x), net(x))
