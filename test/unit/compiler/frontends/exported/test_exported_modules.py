"""Modules of torch, compiled by way of torch.export: names, free sizes, what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402
from trivium.test.unit.compiler.frontends.exported.torch_versions import needs_torch  # noqa: E402

T = Dim("T", min=1, max=64)


class Joined(nn.Module):
    """A list and a tensor in, and one that may be left out; a dictionary out."""

    def forward(self, xs: list[Any], y: Any, *, scale: Any = None) -> dict[str, Any]:
        joined = torch.cat([*xs, y], 1)
        return {"joined": joined if scale is None else joined * scale, "rows": joined.shape[0]}


class Dropped(nn.Module):
    """What is otherwise in training."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.drop, self.head = nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return self.head(self.drop(self.norm(x)))


def compiled(net: nn.Module, example: Any, **options: Any) -> trivium.Session:
    return trivium.compile(net, example, target="host", **options)


def test_a_module_equals_torch_and_stays_as_it_was() -> None:
    torch.manual_seed(0)
    net, x = Dropped(), torch.randn(5, 4)
    session = trivium.compile(net, x)
    assert net.training
    assert session.manifest.source == "Dropped"
    np.testing.assert_allclose(session(x.numpy()), net.eval()(x).detach().numpy(), atol=1e-6)


def test_names_and_ranges_are_those_of_dimensions() -> None:
    x = torch.randn(2, 8)
    shapes = {"xs": [None, {1: 2 * T}], "y": {1: T}}
    session = compiled(Joined(), ([x, torch.zeros(2, 16)], x), dynamic_shapes=shapes)
    assert [(p.name, p.shape) for p in session.inputs] == [
        ("xs_0", (2, "T")),
        ("xs_1", (2, "2*T")),
        ("y", (2, "T")),
    ]
    assert [port.name for port in session.outputs] == ["joined", "rows"]
    assert session.shapes(T=5)["joined"] == (2, 20)
    # Torch makes no program for 0 or 1 where a size is a multiple of another.
    assert {n: (s.low, s.high) for n, s in session.symbols.items()} == {"T": (2, 64)}
    feeds = {"xs_0": np.ones((2, 3), "f"), "xs_1": np.zeros((2, 6), "f"), "y": np.ones((2, 3), "f")}
    assert session.run(feeds)["joined"].sum() == 12
    assert (
        compiled(
            Joined(), ([x, torch.zeros(2, 16)], x), dynamic_shapes=shapes, shapes={"T": 8}
        ).symbols
        == {}
    )


def test_arguments_by_name() -> None:
    x = torch.randn(2, 3)
    session = compiled(Joined(), {"xs": [x], "y": x, "scale": torch.tensor(2.0)})
    made = session.run({"xs_0": x.numpy(), "y": x.numpy(), "scale": np.float32(2)})
    np.testing.assert_allclose(made["joined"], np.concatenate([x, x], 1) * 2)
    assert made["rows"] == 2


def test_programs_have_the_names_of_dimensions() -> None:
    program = torch.export.export(nn.ReLU(), (torch.ones(4, 2),), dynamic_shapes=({0: Dim("N")},))
    session = trivium.compile(program, target="host")
    assert session.inputs[0].shape == ("N", 2)
    assert session.symbols["N"].low == 1  # least of torch is 0, for all dimensions without one


def test_a_multiple_of_a_dimension_that_no_axis_has_is_a_step() -> None:
    shapes = {"input": {1: 32 * Dim("blocks", max=8)}}
    session = compiled(nn.ReLU(), torch.zeros(1, 64), dynamic_shapes=shapes)
    ((name, symbol),) = session.symbols.items()
    assert (symbol.high, symbol.step) == (256, 32)
    assert session.shapes(**{name: 96}) == {"out0": (1, 96)}


def test_sizes_in_which_examples_differ_are_free() -> None:
    session = compiled(nn.ReLU(), torch.zeros(2, 8), example_inputs2=torch.zeros(2, 5))
    assert [type(size) for size in session.inputs[0].shape] == [int, str]
    assert session(np.full((2, 3), -1, "f")).shape == (2, 3)


def test_examples_of_size_1_leave_sizes_free() -> None:
    """Torch makes 1 a constant: it sees an example that is twice as large."""
    shapes = {"xs": [{0: Dim("N"), 1: T}], "y": (Dim("N"), 2 * T)}
    x, y = torch.zeros(1, 1), torch.zeros(1, 2)
    session = compiled(Joined(), ([x], y), dynamic_shapes=shapes)
    assert [port.shape for port in session.inputs] == [("N", "T"), ("N", "2*T")]
    hints = {"input": (Dim.AUTO, Dim.STATIC)}
    session = compiled(nn.ReLU(), torch.zeros(1, 8), dynamic_shapes=hints)
    assert session(np.ones((3, 8), "f")).shape == (3, 8)


def test_a_size_in_a_branch_of_python_is_not_baked_in() -> None:
    """Tracing would take the branch of the example for all sizes: torch refuses to."""

    class Baked(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.flip(1) if x.shape[1] > 8 else x + torch.arange(x.shape[1])

    with pytest.raises(trivium.CompileError, match=r"'Baked' module cannot be exported: .*\(T\)"):
        compiled(Baked(), torch.zeros(1, 8), dynamic_shapes=({1: T},))


@pytest.mark.parametrize(
    ("example", "shapes", "fault"),
    [
        (None, None, "'Dropped' is a torch module: give example_inputs"),
        ((), None, "'Dropped' module cannot be exported: TypeError: missing a required"),
        (torch.ones(2, 3), None, "'Dropped' module cannot be exported: "),
        (torch.ones(2, 4), {"z": None}, r"must be the arg names \['x'\]"),
        (torch.ones(2, 4), {"x": {0: Dim("N", max=1)}}, "cannot be exported: "),
        (torch.ones(2, 4), {"x": {1: T}}, r"cannot be exported: .*\(T\)"),
    ],
)
def test_refuses_what_cannot_be_exported(example: Any, shapes: Any, fault: str) -> None:
    net = Dropped()
    with pytest.raises(trivium.CompileError, match=fault) as caught:
        compiled(net, example, dynamic_shapes=shapes)
    assert example is None or "converter='pnnx' traces it instead" in str(caught.value)
    assert net.training


def test_a_size_that_no_axis_has_must_be_a_multiple() -> None:
    shapes = {"input": {1: 2 * Dim("k") + 2}}
    with pytest.raises(trivium.CompileError, match="of a symbol that must be that of an axis"):
        compiled(nn.ReLU(), torch.zeros(1, 8), dynamic_shapes=shapes)


def test_a_converter_is_for_modules() -> None:
    with pytest.raises(trivium.CompileError, match=r"converter are for torch modules"):
        trivium.compile("net.onnx", converter="pnnx")
    with pytest.raises(trivium.CompileError, match="converter"):
        trivium.compile(nn.ReLU(), torch.zeros(1), converter="onnx")


ROWS = torch.randn(4, 6), torch.randn(7, 6)
FOUND: dict[str, Callable[[Any], Any]] = {
    "rows by a mask": lambda x: x[x[:, 0] > 0],
    "places": lambda x: torch.where(x > 0)[1],
    "a range": lambda x: torch.arange((x > 0).sum()),
    "a part": lambda x: x[: (x[:, 0] > 0).sum()],
    "a number": lambda x: x * x.sum().item(),
}
A_PART = pytest.param("a part", marks=needs_torch("2.13", "exports no slices that data end"))


@pytest.mark.parametrize("name", [A_PART if name == "a part" else name for name in FOUND])
def test_sizes_that_data_decide(name: str) -> None:
    class Function(nn.Module):
        def forward(self, x: Any) -> Any:
            return FOUND[name](x)

    session = compiled(Function(), ROWS[:1], example_inputs2=ROWS[1:])
    for x in ROWS:
        found, wanted = session(x.numpy()), FOUND[name](x).numpy()
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)
