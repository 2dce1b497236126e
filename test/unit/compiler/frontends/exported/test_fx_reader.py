"""A program in memory is read as the archive is that torch.export.save makes of it."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trivium.compiler.frontends.exported.archive import read_archive
from trivium.compiler.frontends.exported.fx_reader import read_in_memory
from trivium.compiler.frontends.exported.graph import Graph, ProgramNode

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import Dim, export  # noqa: E402
from trivium.test.unit.compiler.frontends.exported.torch_versions import before, needs_torch  # noqa: E402


class Function(nn.Module):
    """A function with a layer, its tied twin and buffers of which one is not saved."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function, self.layer = function, nn.Linear(4, 4)
        self.twin = self.layer
        self.register_buffer("count", torch.tensor(2))
        self.register_buffer("scale", torch.arange(4.0), persistent=False)

    def forward(self, x: Any, *more: Any) -> Any:
        return self.function(self, x, *more)


def layers(net: Any, x: Any, more: dict[str, Any], nothing: None, number: int) -> Any:
    y = net.twin(net.layer(x)) * net.scale + torch.tensor([1.0, 2.0, 3.0, float("-inf")])
    return {"y": y.to(torch.float16), "more": (more["a"] * number, 7), "size": x.shape[0]}


def lists(_: Any, x: Any) -> Any:
    first, *_, last = torch.split(x, 1, dim=1)
    values, _ = torch.max(x, dim=1)
    return first, torch.cat([last, first]), values, x[:, torch.tensor([2, 1])]


def in_place(net: Any, x: Any) -> Any:
    net.count += 1
    return x.add_(net.count).relu_()


class Sizes(nn.Module):
    """Sizes that depend on that of an axis."""

    def forward(self, x: Any) -> Any:
        return x.reshape(x.shape[0] * 4), x.new_zeros(x.shape[0] * 2 + 1)


def branches(net: Any, x: Any) -> Any:
    def inner(x: Any) -> Any:
        return torch.cond(x.max() > 1, lambda x: x * net.scale, lambda x: net.layer(x), (x,))

    return torch.cond(x.sum() > 0, inner, torch.neg, (x,))


class Solved(nn.Module):
    """A solution whose check has an effect once it is decomposed."""

    def forward(self, a: Any, b: Any) -> Any:
        return torch.linalg.solve(a, b)


class Recurrent(nn.LSTM):
    """Recurrent layers, whose weights are lists."""


X = torch.ones(3, 4)
PROGRAMS = {
    "layers": lambda: export(Function(layers), (X, {"a": X}, None, 3)),
    "lists": lambda: export(Function(lists), (X,)),
    "in_place": lambda: export(Function(in_place), (X,)),
    "in_place, decomposed": lambda: export(Function(in_place), (X,)).run_decompositions({}),
    "sizes": lambda: export(Sizes(), (torch.ones(8, 4),), dynamic_shapes=[{0: Dim("N", max=64)}]),
    "branches": lambda: export(Function(branches), (X,)),
    "effects": lambda: export(Solved(), (torch.eye(3), X)).run_decompositions(),
    "recurrent": lambda: export(Recurrent(4, 5, num_layers=2), (X,)),
}


def _fields(node: ProgramNode) -> dict[str, Any]:
    """Return what a node is, with the nodes of graphs in it as such fields, too.

    The arguments of functions of Python have no names that mean anything.
    """
    named = node.type.startswith("aten::")
    arguments: dict[Any, Any] = {}
    for index, (key, each) in enumerate(node.arguments.items()):
        inner = isinstance(each, Graph) and [each.inputs, *map(_fields, each.nodes), each.outputs]
        arguments[key if named else index] = inner or each
    fields = {**vars(node), "arguments": arguments}
    if before("2.11"):  # archives have no names of nodes: the reader names them by their results
        del fields["name"]
    return fields


BRANCHES = pytest.param(
    "branches", marks=needs_torch("2.11", "traces no branches of modules with tied layers")
)


@pytest.mark.parametrize("name", [BRANCHES if name == "branches" else name for name in PROGRAMS])
def test_a_program_is_what_its_archive_has(name: str) -> None:
    program, archive = PROGRAMS[name](), io.BytesIO()
    made = read_in_memory(program)
    torch.export.save(program, archive)
    want = read_archive(archive)
    assert made.outputs == want.outputs
    assert made.types == want.types
    assert made.ranges == want.ranges
    assert made.output_names == want.output_names
    assert list(map(_fields, made.nodes)) == list(map(_fields, want.nodes))
    ports = [each for each in made.inputs if each.kind != "constant_input"]
    assert ports == [each for each in want.inputs if each.kind != "constant_input"]
    for name, weight in want.weights.items():
        np.testing.assert_array_equal(made.weights[name].array(), weight.array())


def test_constant_inputs_have_their_values() -> None:
    ports = read_in_memory(PROGRAMS["layers"]()).inputs
    assert [port.value for port in ports if port.kind == "constant_input"] == [None, 3]


def test_tied_weights_are_one() -> None:
    weights = read_in_memory(PROGRAMS["layers"]()).weights
    assert weights["layer.weight"] is weights["twin.weight"]
    assert weights["layer.weight"] is not weights["layer.bias"]
