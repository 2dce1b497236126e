"""Programs of torch.export, and their archives, are compiled to what torch computes."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.dialects.core.errors import CompileError

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import Dim, export  # noqa: E402
from torch.nn import functional  # noqa: E402
from trivium.test.unit.compiler.frontends.exported.torch_versions import needs_torch  # noqa: E402


class Layers(nn.Module):
    """Layers with weights, tied ones, buffers, constants, a dictionary in and one out."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 4)
        self.again = self.head
        self.register_buffer("shift", torch.arange(4.0), persistent=False)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x: Any, more: dict[str, Any]) -> dict[str, Any]:
        y = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        y = self.again(y) + self.head(y) + self.shift * torch.tensor([1.0, 2.0, 3.0, 4.0])
        first, second = torch.split(y, 3, dim=1)
        return {
            "first": first * more["scale"],
            "half": second.to(torch.float16),
            "rows": x.shape[0] * 2,
            "flat": x.reshape(x.shape[0], -1)[:, 1:-1:2],
        }


class Recurrent(nn.Module):
    """Layers whose weights come as a list."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 3)

    def forward(self, x: Any) -> tuple[Any, Any]:
        y, (hidden, _) = self.lstm(x)
        z, _ = self.gru(y)
        return z, hidden


def _compare(session: Any, feeds: dict[str, Any], wanted: dict[str, Any]) -> None:
    made = session.run({name: value.numpy() for name, value in feeds.items()})
    assert list(made) == list(wanted)
    for name, want in wanted.items():
        array = want.detach().numpy() if isinstance(want, torch.Tensor) else np.array(want)
        assert made[name].dtype == array.dtype
        np.testing.assert_allclose(made[name], array, atol=2e-5, rtol=1e-3)


def _layers(batch: Any) -> Any:
    shapes = {"x": {0: batch}, "more": {"scale": {0: batch}}}
    example = (torch.randn(3, 3, 6, 6), {"scale": torch.randn(3, 1)})
    return export(Layers().eval(), example, dynamic_shapes=shapes, strict=False)


def test_a_program_keeps_its_symbols_and_the_names_of_its_outputs() -> None:
    torch.manual_seed(0)
    net = Layers().eval()
    batch = Dim("batch", min=2, max=9)
    shapes = {"x": {0: batch}, "more": {"scale": {0: batch}}}
    example = (torch.randn(3, 3, 6, 6), {"scale": torch.randn(3, 1)})
    session = trivium.compile(export(net, example, dynamic_shapes=shapes, strict=False))
    for rows in (2, 5):
        x, scale = torch.randn(rows, 3, 6, 6), torch.randn(rows, 1)
        _compare(session, {"x": x, "more_scale": scale}, net(x, {"scale": scale}))
    with pytest.raises(trivium.RunError, match=r"compiled for 2 to 9"):
        session.run({"x": np.zeros((10, 3, 6, 6), "f"), "more_scale": np.zeros((10, 1), "f")})


def test_tied_weights_are_one() -> None:
    package = trivium.build(_layers(Dim("batch", min=2, max=9)))
    net = Layers()
    once = sum(weight.numel() for weight in net.parameters()) + 4 * 8 + 8
    assert len(package.weights) < 4 * once + 64 * 12


def test_recurrent_layers_with_lists_of_weights() -> None:
    torch.manual_seed(0)
    net, x = Recurrent().eval(), torch.randn(2, 7, 4)
    session = trivium.compile(export(net, (x,)))
    wanted = net(x)
    _compare(session, {"x": x}, {"out0": wanted[0], "out1": wanted[1]})


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "indices": lambda x: x[:, torch.tensor([2, 0]), torch.tensor([1, 1])],
    "assignment": lambda x: torch.index_put(x, (torch.tensor([1]),), torch.tensor(2.5)),
    "scalars": lambda x: torch.add(x, 1, alpha=2) / 3 - torch.rsub(x, 2),
    "rounding": lambda x: torch.div(x, 0.3, rounding_mode="floor") + torch.round(x, decimals=1),
    "comparison": lambda x: torch.where(x > 0, x, -1.0) + (x != float("inf")),
    "pools": lambda x: functional.max_pool2d(x, 2, return_indices=True)[1],
    "resized": lambda x: functional.interpolate(
        x[None], scale_factor=1.7, mode="bilinear", align_corners=True
    ),
    "padded": lambda x: functional.pad(x, (1, 2), mode="replicate"),
    "sampled": lambda x: functional.grid_sample(
        x[None], torch.tanh(x[None, 0, :, :2, None].expand(1, 4, 2, 2)), align_corners=False
    ),
    "attention": lambda x: functional.scaled_dot_product_attention(x, x, x, is_causal=True),
    "sorted": lambda x: torch.sort(x, stable=True, descending=True)[1],
    "spectrum": lambda x: torch.stft(
        x.reshape(2, -1), 8, return_complex=True, window=torch.hann_window(8)
    ),
    "variance": lambda x: torch.var(x, dim=(0, 1), correction=0) + torch.std(x),
    "ranges": lambda x: torch.arange(1, 9, 2) * torch.linspace(0, 1, 4) + x.sum(),
    "meshes": lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="xy")[1],
    "windows": lambda x: x.unfold(1, 2, 1) + torch.diff(x, dim=1)[..., None],
    "exponents": lambda x: torch.log2(torch.exp2(x)) + torch.fmax(x, torch.full_like(x, torch.nan)),
    "inverses": lambda x: torch.linalg.inv(x) + torch.inverse(x + 5 * torch.eye(4)),
    "determinants": lambda x: torch.linalg.det(x) + torch.det(2 * x),
    "distance": lambda x: torch.linalg.vector_norm(x, 3.0, dim=-1),
    "similarity": lambda x: functional.cosine_similarity(x[:, :1], x, dim=1),
    "number": lambda x: x[0, 0, 0].half().item(),
    "bools": lambda x: torch.index_put(x > 1, (torch.tensor([1, 1]),), x > 0, accumulate=True),
    "histogram": lambda x: torch.histc(x, 7),
}


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_torch(name: str) -> None:
    torch.manual_seed(1)
    net, x = Function(FUNCTIONS[name]), torch.randn(2, 4, 4)
    session = trivium.compile(export(net, (x,), strict=False))
    _compare(session, {"x": x}, {"out0": net(x)})


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.linalg.vector_norm(x),
        lambda x: torch.sum(x) + torch.amax(x),
        lambda x: functional.cosine_similarity(x, x * 3, dim=0),
        lambda x: torch.var(x, correction=0),
    ],
)
def test_reductions_of_rank_0_compute_their_function(function: Callable[[Any], Any]) -> None:
    net, x = Function(function), torch.tensor(-2.0)
    session = trivium.compile(export(net, (x,), strict=False))
    np.testing.assert_allclose(session(x.numpy()), net(x).numpy(), atol=1e-6)


def test_an_archive_is_read_without_torch(tmp_path: Path) -> None:
    net, x = Layers().eval(), torch.randn(2, 3, 6, 6)
    program = export(net, (x, {"scale": torch.ones(2, 1)})).run_decompositions({})
    torch.export.save(program, tmp_path / "net.pt2")
    np.save(tmp_path / "x.npy", x.numpy())
    code = """import sys, numpy as np, trivium
session = trivium.compile(sys.argv[1])
made = session.run({"x": np.load(sys.argv[2]), "more_scale": np.ones((2, 1), np.float32)})
assert "torch" not in sys.modules
np.save(sys.argv[3], made["first"])
"""
    paths = [str(tmp_path / name) for name in ("net.pt2", "x.npy", "y.npy")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    want = net(x, {"scale": torch.ones(2, 1)})["first"].detach().numpy()
    np.testing.assert_allclose(np.load(paths[2]), want, atol=1e-6)


# -- what is refused ------------------------------------------------------------------------------


def _archive(function: Callable[[Any], Any]) -> dict[str, bytes]:
    """Return the files of an archive."""
    held = io.BytesIO()
    torch.export.save(export(Function(function), (torch.randn(2, 3),), strict=False), held)
    with zipfile.ZipFile(held) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _written(files: dict[str, bytes], path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


class Deep(nn.Module):
    """A module whose operators stand in modules of modules."""

    def __init__(self) -> None:
        super().__init__()
        functions = (torch.special.airy_ai, torch.linalg.eigvals)
        self.layers = nn.ModuleList(Function(each) for each in functions)

    def forward(self, x: Any) -> Any:
        return self.layers[1](self.layers[0](x))


def test_unsupported_operators_are_listed_by_module_and_line() -> None:
    with pytest.raises(CompileError) as caught:
        trivium.compile(export(Deep(), (torch.eye(3),), strict=False))
    message = str(caught.value)
    assert "layers.1: error: 'aten::linalg_eig' operator" in message
    assert "test_exported_programs.py" in message
    assert "layers.0: error:" in message


class Mixed(nn.Module):
    """An operator of the user, one that writes, and one of torch without a rule."""

    def __init__(self, *functions: Callable[[Any], Any]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(map(Function, functions))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


@torch.library.custom_op("test_exported::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.library.custom_op("test_exported::doubled_in_place", mutates_args=("x",))
def doubled_in_place(x: torch.Tensor) -> None:
    x.mul_(2)


doubled.register_fake(lambda x: torch.empty_like(x))


def copied(x: Any) -> Any:
    doubled_in_place(made := x.clone())
    return made


def test_operators_of_the_user_are_listed_with_what_to_do() -> None:
    net = Mixed(doubled, copied, torch.poisson)
    with pytest.raises(CompileError) as caught:
        trivium.compile(net, torch.ones(3))
    first, second, third = caught.value.diagnostics
    assert first.where == "layers.0"
    assert first.message.startswith("'test_exported::doubled' operator 'doubled'")
    assert "write a rule for it, which torch_op('test_exported::doubled') registers" in first.notes
    assert second.where == "layers.1"
    assert "'higher_order::auto_functionalized_v2' operator" in second.message
    assert third.where == "layers.2"
    assert "'aten::poisson' operator 'poisson' is not supported" in third.message
    assert all("test_exported_programs.py" in each.notes[0] for each in (first, second, third))


def test_branches_of_python_on_data_are_refused_by_their_line() -> None:
    net = Function(lambda x: x + 1 if x.sum() > 0 else x - 1)
    with pytest.raises(CompileError) as caught:
        trivium.compile(net, torch.ones(3))
    message = str(caught.value)
    assert "'Function' module cannot be exported: GuardOnDataDependentSymNode" in message
    assert "test_exported_programs.py" in message
    assert "write branches on data by torch.cond" in message


def test_operators_with_graphs_of_other_kinds_are_refused_by_name() -> None:
    from torch.nn.attention.flex_attention import flex_attention

    net = Function(lambda x: flex_attention(x, x, x))
    with pytest.raises(CompileError, match=r"'higher_order::flex_attention' operator 'flex_att"):
        trivium.compile(net, torch.ones(1, 1, 128, 16))


def test_statistics_that_change_unseen_are_refused() -> None:
    """torch does not say of instance normalisation that it writes to its buffers."""
    net = nn.InstanceNorm1d(3, track_running_stats=True)
    with pytest.raises(CompileError, match="changes its running statistics"):
        trivium.compile(export(net.train(), (torch.randn(2, 3, 5),)))
    trivium.compile(net, torch.randn(2, 3, 5), target="host")


def test_results_that_no_operator_computes_are_refused() -> None:
    program = export(
        Function(lambda x: torch.embedding_bag(x, torch.tensor([0, 1]), torch.tensor([0]))),
        (torch.ones(2, 3),),
        strict=False,
    )
    with pytest.raises(CompileError, match="which its operator does not compute"):
        trivium.compile(program)


def test_products_of_no_elements_are_zeros() -> None:
    program = export(Function(lambda x: x @ torch.ones(0, 2)), (torch.ones(5, 3, 0),))
    (made,) = trivium.compile(program).run({"x": np.ones((5, 3, 0), np.float32)}).values()
    np.testing.assert_array_equal(made, np.zeros((5, 3, 2), np.float32))


def test_scalar_constants_have_no_axes() -> None:
    program = export(Function(lambda x: (x, torch.tensor(2.0).clone())), (torch.ones(2),))
    made = trivium.compile(program, target="host")(np.ones(2, np.float32))
    assert [y.shape for y in made] == [(2,), ()]


@needs_torch("2.12", "saves no programs with unsigned integers")
def test_element_types_that_are_not_read_are_refused(tmp_path: Path) -> None:
    program = export(Function(lambda x: x.to(torch.uint32)), (torch.ones(2),))
    with pytest.raises(CompileError, match=r"'to' asks for element type torch\.uint32, must be"):
        trivium.compile(program)
    path = tmp_path / "net.pt2"
    torch.export.save(program, path)
    with pytest.raises(CompileError, match=r"net\.pt2' has element type \d+ of torch's schema"):
        trivium.compile(path)


def test_other_versions_of_the_schema_are_refused(tmp_path: Path) -> None:
    files = _archive(torch.relu)
    (name,) = [each for each in files if each.endswith("model.json")]
    model = json.loads(files[name])
    model["schema_version"]["major"] = 9
    files[name] = json.dumps(model).encode()
    with pytest.raises(
        CompileError, match=r"which torch 2\.\S+ has saved, has schema version 9, must be 8"
    ):
        trivium.compile(_written(files, tmp_path / "new.pt2"))


@pytest.mark.parametrize("damage", ["cut", "no zip", "no model", "no json"])
def test_broken_archives_are_refused(tmp_path: Path, damage: str) -> None:
    files = _archive(lambda x: x * torch.arange(3.0))
    (name,) = [each for each in files if each.endswith("model.json")]
    if damage == "no model":
        del files[name]
    if damage == "no json":
        files[name] = files[name][:100]
    path = _written(files, tmp_path / "net.pt2")
    if damage in ("cut", "no zip"):
        path.write_bytes(path.read_bytes()[:200] if damage == "cut" else b"no zip at all")
    with pytest.raises(CompileError, match=r"is no archive of torch\.export|cannot be read"):
        trivium.compile(path)


def _written_in_place(x: Any) -> Any:
    y = (x * 2).relu_()
    with torch.no_grad():
        y.add_(x)
    return torch.cond(y.sum() > 0, lambda y: y + 1, lambda y: y * 2, (y,))


FUZZED = {
    "functional": lambda x: torch.cat([x.softmax(1), x[:, 1:]], 1),
    "in place": _written_in_place,
}


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", FUZZED)
def test_mutated_programs_are_refused_or_run(tmp_path: Path, name: str, seed: int) -> None:
    files = _archive(FUZZED[name])
    (entry,) = [each for each in files if each.endswith("model.json")]
    random = np.random.default_rng(seed)
    model = json.loads(files[entry])
    places = list(_places(model["graph_module"]["graph"]["nodes"]))
    holder, key = places[random.integers(len(places))]
    holder[key] = [None, -1, "x", [], {}, 1 << 40, "as_int"][random.integers(7)]
    files[entry] = json.dumps(model).encode()
    try:
        session = trivium.compile(_written(files, tmp_path / "net.pt2"), target="host")
        session.run({port.name: np.zeros((2, 3), np.float32) for port in session.inputs})
    except (CompileError, trivium.RunError):
        pass


def _places(json_: Any) -> Any:
    """Find all places in JSON that hold something."""
    items = json_.items() if isinstance(json_, dict) else enumerate(json_)
    for key, value in items:
        yield json_, key
        if isinstance(value, (dict, list)):
            yield from _places(value)
