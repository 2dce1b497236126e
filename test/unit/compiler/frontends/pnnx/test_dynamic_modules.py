"""Modules of torch whose sizes are free: compiled once, equal to torch at every size."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.compiler.frontends.torch.registry import RULES
from trivium.dialects.core.mlir import new_context
from trivium.passes.bind_sizes import bind_sizes
from trivium.test.unit.compiler.frontends.canonical import canonical

torch = pytest.importorskip("torch")
pytest.importorskip("pnnx", reason="pnnx of trivium[torch] is missing")
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402
from trivium.compiler.frontends.pnnx.examples import read_examples  # noqa: E402
from trivium.compiler.frontends.pnnx.run_pnnx import convert_module  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")

TARGETS = ["host", pytest.param("cpu", marks=pytest.mark.slow)]


class Cnn(nn.Module):
    """Strides, a pool, resizing, a slice as large as another tensor, and a mean of all pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.norm = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8)
        self.pool, self.head = nn.MaxPool2d(2), nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.relu(self.norm(self.down(x)))
        z = nn.functional.interpolate(self.pool(y), scale_factor=2, mode="bilinear")
        y = y[:, :, : z.shape[2], : z.shape[3]] + z
        return self.head(y.mean((2, 3))), y.flatten(2).transpose(1, 2)


class Encoder(nn.Module):
    """Rows of a table, attention, heads that are split, and a mean over what is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Parameter(torch.randn(64, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, ids: torch.Tensor, keep: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n, t = ids.shape
        y = self.layers(self.words(ids) + self.places[:t]) * keep.unsqueeze(-1)
        heads = y.view(n, t, 4, 4).permute(0, 2, 1, 3).reshape(n * 4, -1, 4)
        rest = y[:, t // 2 :] + torch.arange(t - t // 2).unsqueeze(1)
        return y.sum(1) / keep.sum(1, keepdim=True), heads, y[:, -1], rest


def image(n: int, h: int, w: int) -> tuple[torch.Tensor, ...]:
    return (torch.randn(n, 3, h, w),)


def sentence(n: int, t: int) -> tuple[torch.Tensor, ...]:
    return torch.randint(0, 50, (n, t)), torch.ones(n, t)


H, W = Dim("H", min=4, max=512), Dim("W", min=4, max=512)
N, T = Dim("N"), Dim("T", min=1, max=64)
IMAGE = {"x": {0: Dim.AUTO, 2: H, 3: W}}
SENTENCE = ({0: N, 1: T}, (N, T))


def equal(session: trivium.Session, net: nn.Module, given: Sequence[torch.Tensor]) -> None:
    got = session.run({f"in{i}": each.numpy() for i, each in enumerate(given)})
    with torch.no_grad():
        wanted = net(*given)
    for y, want in zip(got.values(), wanted, strict=True):
        assert y.shape == want.shape
        np.testing.assert_allclose(y, want.numpy(), atol=5e-6, rtol=0)


Converted = tuple[nn.Module, Any, dict[str, Any]]


def converted(net: nn.Module, example: Any, **options: Any) -> Converted:
    examples = read_examples(net, example, **options)
    return net.eval(), convert_module(net, examples, RULES), dict(examples.ranges)


@pytest.fixture(scope="module")
def cnn() -> Converted:
    torch.manual_seed(0)
    return converted(Cnn(), image(1, 32, 32), dynamic_shapes=IMAGE)


@pytest.fixture(scope="module")
def encoder() -> Converted:
    torch.manual_seed(0)
    return converted(Encoder(), sentence(1, 8), dynamic_shapes=SENTENCE)


@pytest.mark.parametrize("target", TARGETS)
def test_a_network_of_images_runs_at_all_sizes(cnn: Converted, target: str) -> None:
    net, graph, ranges = cnn
    session = trivium.compile(graph, shapes=ranges, target=target)
    for size in ((1, 32, 32), (2, 48, 40), (1, 33, 35), (3, 8, 9), (1, 64, 4)):
        equal(session, net, image(*size))


@pytest.mark.parametrize("target", TARGETS)
def test_an_encoder_runs_at_all_lengths(encoder: Converted, target: str) -> None:
    net, graph, ranges = encoder
    session = trivium.compile(graph, shapes=ranges, target=target)
    for size in ((1, 8), (2, 12), (3, 64), (1, 1), (4, 7)):
        equal(session, net, sentence(*size))


@pytest.mark.parametrize(
    ("network", "sizes"),
    [("cnn", {"in0_0": 2, "H": 32, "W": 20}), ("encoder", {"N": 2, "T": 8})],
)
def test_bound_sizes_give_the_static_module(
    network: str, sizes: dict[str, int], request: pytest.FixtureRequest
) -> None:
    _, graph, ranges = request.getfixturevalue(network)
    with new_context():
        module = import_pnnx(graph, shapes=ranges)
        bind_sizes(module, sizes)
        bound = canonical(module)
    with new_context():
        static = canonical(import_pnnx(graph, shapes=sizes))
    assert bound == static


def session_of(net: nn.Module, example: Any, **options: Any) -> trivium.Session:
    return trivium.compile(net, example, target="host", converter="pnnx", **options)


def ranges_of(net: nn.Module, example: Any, **options: Any) -> dict[str, tuple[int, int | None]]:
    symbols = session_of(net, example, **options).symbols
    return {name: (each.low, each.high) for name, each in symbols.items()}


class Sum(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class Joined(nn.Module):
    def forward(self, xs: list[torch.Tensor], y: torch.Tensor) -> torch.Tensor:
        return torch.cat([*xs, y], 1)


def test_names_and_ranges_are_those_of_dimensions() -> None:
    x = torch.zeros(2, 8)
    shapes = {"xs": [None, {1: 2 * T}], "y": (None, T)}
    session = session_of(Joined(), ([x, torch.zeros(2, 16)], x), dynamic_shapes=shapes)
    assert [port.shape for port in session.inputs] == [(2, 8), (2, "2*T"), (2, "T")]
    assert session.shapes(T=5) == {"out0": (2, 23)}
    assert {name: each.high for name, each in session.symbols.items()} == {"T": 64}


def test_a_multiple_of_a_dimension_that_no_axis_has_is_a_step() -> None:
    (shapes,) = [{"input": {1: 32 * Dim("blocks", max=8)}}]
    session = session_of(nn.ReLU(), torch.zeros(1, 64), dynamic_shapes=shapes)
    ((name, symbol),) = session.symbols.items()
    assert (symbol.low, symbol.high, symbol.step) == (32, 256, 32)
    assert session.shapes(**{name: 96}) == {"out0": (1, 96)}


def test_sizes_in_which_examples_differ_are_free_and_tied_by_the_model() -> None:
    given, other = (torch.zeros(2, 8), torch.zeros(2, 8)), (torch.zeros(2, 5), torch.zeros(2, 5))
    assert ranges_of(Sum(), given, example_inputs2=other) == {"in0_1": (1, None)}
    named = {"in0": (None, "T"), "T": trivium.Range(1, 16)}
    session = session_of(Sum(), given, example_inputs2=other, shapes=named)
    assert [port.shape for port in session.inputs] == [(2, "T"), (2, "T")]
    assert session_of(Sum(), given, example_inputs2=other, shapes={"in0_1": 3}).symbols == {}


class Baked(nn.Module):
    """Sizes that a trace takes for numbers, in three ways."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = int(x.shape[1])
        if self.way == "scaled":
            return x / size
        if self.way == "cut":
            return x[:, : size - 1]
        return x.flip(1) if size > 8 else x + torch.arange(size)


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("scaled", r"'aten::div' node is traced with 8(\.0)?, and with 16(\.0)? for other sizes"),
        ("cut", "'aten::slice' node is traced with 7, and with 15 for other sizes"),
        ("branch", "node is 'prim::ListConstruct' for other sizes|more nodes|'aten::"),
    ],
)
def test_sizes_that_tracing_makes_numbers_are_refused(way: str, fault: str) -> None:
    with pytest.raises(trivium.CompileError, match=fault):
        session_of(Baked(way), torch.zeros(1, 8), dynamic_shapes=({1: T},))


def test_a_table_that_is_too_short_needs_a_range() -> None:
    """A check that one of the sizes of the examples fails is an error, which names the node."""

    class Table(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[:, :8] + 1

    net, x = Table(), torch.zeros(1, 16)
    assert ranges_of(net, x, dynamic_shapes=({1: Dim("T", min=8)},)) == {"T": (8, None)}
    session = session_of(net, x, dynamic_shapes=({1: T},))
    with pytest.raises(Exception, match=r"Tensor\.slice' operator makes"):
        session(np.zeros((1, 7), np.float32))


@pytest.mark.parametrize(
    ("shapes", "fault"),
    [
        ({"z": None}, "dynamic_shapes has 'z', the module takes x, y"),
        (({0: T},), "has 1 shapes, the module takes 2 arguments"),
        (7, "must have shapes by argument"),
        ({"x": {5: T}}, "of x names axis 5 of a tensor of rank 2"),
        ({"x": (T,)}, "of x has 1 sizes for a tensor of rank 2"),
        ({"x": {1: 9}}, r"of x\[1\] is 9, the example has 8"),
        ({"x": {1: "T"}}, r"of x\[1\] is 'T', must be a Dim of torch.export"),
        ({"x": {1: Dim("T", max=4)}}, "in0.1: error: has size 8, must be from 1 to 4"),
        ({"x": {0: T, 1: T}}, "T: error: dimension has sizes 2 and 8 in the example"),
        ({"x": {1: 3 * T}}, r"in0.1: error: has size 8, must be 3\*T"),
        ({"x": {1: 2 * T + 2}}, r"2\*T \+ 2: error: dimension depends on T, which must be"),
        ({"x": {1: T}}, "cannot be traced: RuntimeError: The size of tensor a"),
    ],
)
def test_faults_of_dynamic_shapes(shapes: Any, fault: str) -> None:
    x = torch.zeros(2, 8)
    with pytest.raises(trivium.CompileError, match=fault):
        session_of(Sum(), (x, x), dynamic_shapes=shapes)


def test_faults_of_two_examples() -> None:
    x = torch.zeros(2, 8)
    with pytest.raises(trivium.CompileError, match="must have the types and ranks"):
        session_of(nn.ReLU(), x, example_inputs2=torch.zeros(2))
    with pytest.raises(trivium.CompileError, match="T: error: dimension has size 8 in both"):
        session_of(nn.ReLU(), x, example_inputs2=x, dynamic_shapes=({1: T},))
    other, shapes = torch.zeros(3, 9), ({1: T},)
    with pytest.raises(trivium.CompileError, match=r"in0\.0: error: has sizes 2 and 3 in the exa"):
        session_of(nn.ReLU(), x, example_inputs2=other, dynamic_shapes=shapes)
    with pytest.raises(trivium.CompileError, match="dynamic_shapes are for torch modules"):
        trivium.compile("net.onnx", dynamic_shapes={})


def test_static_dimensions_are_as_without() -> None:
    shapes = ({0: Dim.STATIC, 1: 8},)
    assert session_of(nn.ReLU(), torch.zeros(2, 8), dynamic_shapes=shapes).symbols == {}
    fixed = ({1: Dim.DYNAMIC(min=8, max=8)},)
    assert session_of(nn.ReLU(), torch.zeros(2, 8), dynamic_shapes=fixed).symbols == {}
