"""Archives that were saved without run_decompositions: writing in place is renaming, or refused."""

import copy
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.compiler.frontends.exported.aliases import VIEWS
from trivium.compiler.frontends.exported.archive import read_archive
from trivium.compiler.frontends.exported.functional import functional, is_in_place

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import export  # noqa: E402


class Function(nn.Module):
    """A function, with a buffer."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.function = function
        self.register_buffer("state", torch.full((3,), 4.0))

    def forward(self, x: Any) -> Any:
        return self.function(self, x)


class Layers(nn.Module):
    """Layers in training, of which one writes to its buffers and one has none."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True))
        self.last = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3, track_running_stats=False))

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            x = x * 2
        return self.last(self.first(x))


def saved(net: nn.Module, x: Any) -> io.BytesIO:
    archive = io.BytesIO()
    torch.export.save(export(copy.deepcopy(net), (x.clone(),), strict=False), archive)
    archive.seek(0)
    return archive


def compiled(net: nn.Module, x: Any, folder: Path) -> trivium.Session:
    path = folder / "net.pt2"
    path.write_bytes(saved(net, x).getvalue())
    return trivium.compile(path, target="host")


def agrees(net: nn.Module, x: Any, folder: Path) -> trivium.Session:
    """Compare two runs, with what they write."""
    session = compiled(net, x, folder)
    for _ in range(2):
        given = x.clone()
        with torch.no_grad():
            want = net(given)
        made = session.run({"x": x.numpy().copy()})
        listed = want if isinstance(want, tuple) else (want,)
        for number, each in enumerate(listed):
            assert made[f"out{number}"].dtype == each.numpy().dtype
            np.testing.assert_allclose(made[f"out{number}"], each.numpy(), atol=1e-5)
        np.testing.assert_allclose(made.get("x.next", x.numpy()), given.numpy(), atol=1e-5)
    for name, value in net.state_dict().items():
        if name in session.state:
            np.testing.assert_allclose(session.state[name], value.numpy(), atol=1e-5)
    return session


def averaged(net: Any, x: Any) -> Any:
    with torch.no_grad():
        net.state.mul_(0.5)
        with torch.enable_grad():
            net.state.add_(x[0])
        y = x.relu()
    return y + net.state


def counted(net: Any, x: Any) -> Any:
    before = net.state.clone()
    net.state.mul_(2).add_(x[0])
    return x + before, net.state.clone()


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "activations": lambda _, x: torch.relu_(x * 2).clamp_(0, 0.5).add_(x, alpha=2),
    "names of one tensor": lambda _, x: (y := x * 1, y.relu_(), y + 1)[2],
    "zeros": lambda _, x: (x + 1).zero_(),
    "a copy": lambda _, x: torch.empty(3, 3).copy_(x[0]),
    "another type": lambda _, x: (x + 1).add_(torch.ones(3, dtype=torch.float64)),
    "an input": lambda _, x: x.add_(1) * 2,
    "a buffer": counted,
    "a buffer without gradients": averaged,
    "a view that outlives what it is of": lambda _, x: (x * 1).view(-1).add_(1),
    "a slice": lambda _, x: x[:, 1:].clone().mul_(3),
}


@pytest.mark.parametrize("name", WRITES)
def test_writing_is_a_new_name(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    agrees(Function(WRITES[name]), torch.randn(3, 3), tmp_path)


def test_layers_in_training_write_to_their_buffers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    session = agrees(Layers().train(), torch.randn(6, 3), tmp_path)
    assert "first.1.running_var" in session.state


def test_programs_that_write_nothing_are_left_alone() -> None:
    program = read_archive(saved(Function(lambda _, x: x + 1), torch.ones(3)))
    assert functional(program)[0] is program


@pytest.mark.parametrize(
    ("function", "faults"),
    [
        (lambda _, x: (y := x * 1, y.view(-1).add_(1))[0], ["an output is 'mul', which 'add_'"]),
        (lambda _, x: (y := x * 1, y.detach().add_(1), y * 2)[2], ["uses 'mul', which 'add_' has"]),
        (lambda _, x: (y := x * 1, z := y.t(), y.add_(1), z + 1)[3], ["uses '.*', which 'add_'"]),
        (lambda _, x: (x[0].fill_(1), x + 1)[1], ["writes to 'x' by way of a view"]),
        (
            lambda n, x: (n.state[:1].copy_(x[0, :1]), x)[1],
            ["writes to 'b_state' by way of a view"],
        ),
        (
            lambda _, x: torch.special.airy_ai((x + 1).cauchy_()),
            [r"'aten::cauchy_' operator .* writes in place", "'aten::special_airy_ai'"],
        ),
    ],
)
def test_views_of_what_is_written_are_refused(
    function: Callable[[Any, Any], Any], faults: list[str], tmp_path: Path
) -> None:
    for fault in faults:
        with pytest.raises(trivium.CompileError, match=fault) as caught:
            compiled(Function(function), torch.randn(3, 3), tmp_path)
    notes = [note for each in caught.value.diagnostics for note in each.notes]
    assert "call run_decompositions({}) of the program before it is saved" in notes


def test_decomposed_programs_have_none_of_these_limits() -> None:
    net, x = Function(lambda n, x: (n.state[:1].copy_(x[0, :1]), n.state * 2)[1]), torch.ones(3, 3)
    session = trivium.compile(net, x, target="host")
    assert session(x.numpy()).tolist() == [2, 8, 8]
    assert session.state["state"].tolist() == [1, 4, 4]


def test_the_list_of_views_is_that_of_the_schemas() -> None:
    schemas = torch._C._jit_get_all_schemas()
    returned = ((s.name, [r.alias_info for r in s.returns]) for s in schemas)
    views = {name for name, infos in returned if any(i and not i.is_write for i in infos)}
    others = ("_autocast", "_nested", "_make_dual", "_unpack", "_fw", "_test", "_ncf", "_grad")
    of_tensors = {
        name
        for name in views
        if name.startswith("aten::")
        and not name.removeprefix("aten::").startswith((*others, "__", "_sparse", "_unwrap"))
        and name.removeprefix("aten::") not in NOT_OF_DENSE_TENSORS
    }
    assert of_tensors <= VIEWS, sorted(of_tensors - VIEWS)


NOT_OF_DENSE_TENSORS = {
    *("ccol_indices", "col_indices", "crow_indices", "row_indices", "indices", "_indices"),
    *("coalesce", "cuda", "as_tensor", "get", "keys", "local_value", "pop", "setdefault"),
    *("slice_inverse", "to_here", "_values"),
}


@pytest.mark.parametrize(
    ("type_", "writes"),
    [("aten::add_.Tensor", True), ("aten::__and__.Tensor", False), ("aten::relu", False)],
)
def test_names_of_operators_in_place(type_: str, writes: bool) -> None:
    assert is_in_place(type_) is writes


def _not_wanted(*_: Any) -> Any:
    raise AssertionError("torch is asked to decompose a program")


def test_a_program_in_memory_with_rules_for_all_operators_is_not_decomposed(
    monkeypatch: pytest.MonkeyPatch,
):
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(inplace=True), nn.Dropout())
    x = torch.randn(1, 2, 5, 5)
    program = export(net.eval(), (x,))
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", _not_wanted)
    made = trivium.compile(program, target="host")(x.numpy())
    np.testing.assert_allclose(made, net(x).detach().numpy(), atol=1e-5)


def added_to_another(_: Any, x: Any) -> Any:
    y = torch.empty_like(x)
    torch.add(x, x, out=y)
    return y * 2


def unsqueezed(_: Any, x: Any) -> Any:
    y = x * 2
    return y + y.unsqueeze_(0)


def written_by_way_of_a_view(_: Any, x: Any) -> Any:
    y = x * 2
    y[1:].mul_(3)
    return y


@pytest.mark.parametrize("function", [added_to_another, unsqueezed, written_by_way_of_a_view])
def test_torch_makes_programs_in_memory_functional_that_only_it_can(function: Any):
    x = torch.arange(3.0)
    made = trivium.compile(export(Function(function), (x,)), target="host")(x.numpy())
    np.testing.assert_array_equal(made, function(None, x).numpy())


def test_a_change_of_shape_in_place_is_refused_in_an_archive(tmp_path: Path):
    with pytest.raises(trivium.CompileError) as raised:
        compiled(Function(unsqueezed), torch.ones(3), tmp_path)
    assert "'unsqueeze_' changes the type of what it writes to" in str(raised.value)


def test_weights_in_memory_are_copied_into_the_code():
    net = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    x = torch.ones(2, 3)
    session = trivium.compile(export(net, (x,)), target="host")
    want = net(x).detach().numpy()
    with torch.no_grad():
        net[0].weight.zero_()
    np.testing.assert_allclose(session(x.numpy()), want, atol=1e-6)


def test_a_weight_that_is_no_plain_tensor_is_refused():
    program = export(nn.Linear(3, 2, device="meta"), (torch.ones(1, 3, device="meta"),))
    with pytest.raises(trivium.CompileError) as raised:
        trivium.compile(program)
    assert "'weight' is torch.strided, on meta, must be a plain tensor" in str(raised.value)
