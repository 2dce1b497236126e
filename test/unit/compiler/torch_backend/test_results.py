"""Compiled graphs return what eager torch does, also of unusual types and shapes."""

import subprocess
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from trivium.compiler.torch_backend import variant  # noqa: E402
from trivium.test.unit.compiler.frontends.exported.torch_versions import needs_torch  # noqa: E402

GRAPH = {"graphs": 1, "sessions": 1}


class Net(nn.Module):
    """Layers with weights, buffers and constants; a dictionary with a number and None."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Any) -> dict[str, Any]:
        y = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        return {"y": torch.softmax(self.head(y), 1), "none": None, "rows": x.shape[0] * 2}


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "relu": (torch.relu, (torch.randn(4, 4),)),
    "several": (lambda x, y: (x @ y, x - 1, [y.sum()]), (torch.randn(3, 4), torch.randn(4, 3))),
    "indices": (lambda table, i: table[i], (torch.randn(5, 4), torch.tensor([1, 4]))),
    "no axes": (lambda x: x.sum() + 1, (torch.randn(3),)),
    "no elements": (lambda x: x * 2, (torch.empty(0, 3),)),
    "truth": (lambda x, m: (x > 0) & m, (torch.randn(4), torch.tensor([True, False, True, True]))),
    "bfloat16": (lambda x: x * 2 + 1, (torch.randn(3, 8).bfloat16(),)),
    "float64": (lambda x: torch.exp(x), (torch.randn(3, 8).double(),)),
    "complex": (lambda x: torch.view_as_real(torch.fft.rfft(x)), (torch.randn(3, 8),)),
    "complex output": (lambda x: torch.fft.rfft(x), (torch.randn(3, 8),)),
    "non-contiguous": (lambda x: x * 2, (torch.randn(4, 6).T,)),
    "strided": (lambda x: x + 1, (torch.randn(4, 6)[:, ::2],)),
    "expanded": (lambda x: x + 1, (torch.randn(1, 6).expand(4, 6),)),
    "constant": (lambda x: x + torch.tensor([1.0, 2.0]), (torch.randn(3, 2),)),
    "int argument": (lambda x, n: x * n, (torch.randn(3), 4)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, compiled: Any, counted: Any) -> None:
    function, arguments = FUNCTIONS[name]
    torch.testing.assert_close(compiled(function)(*arguments), function(*arguments))
    assert counted() == GRAPH


def test_a_module_returns_its_dictionary(compiled: Any, counted: Any) -> None:
    net, x = Net().eval(), torch.randn(2, 3, 8, 8)
    made, wanted = compiled(net)(x), net(x)
    torch.testing.assert_close(made.pop("y"), wanted.pop("y"))
    assert made == wanted
    assert counted() == GRAPH


def test_outputs_are_new_in_each_call(compiled: Any) -> None:
    double = compiled(lambda x: x * 2)
    first = double(torch.ones(3))
    double(torch.zeros(3))
    assert first.tolist() == [2, 2, 2]


@pytest.mark.parametrize("layer", [nn.LSTM(4, 5, 2), nn.GRU(4, 5, bidirectional=True)])
def test_recurrent_layers_are_compiled(layer: Any, compiled: Any, counted: Any) -> None:
    x = torch.randn(6, 2, 4)
    torch.testing.assert_close(compiled(layer)(x), layer(x))
    assert counted() == GRAPH


def test_one_compilation_serves_all_sizes(compiled: Any, counted: Any) -> None:
    net = Net().eval()
    dynamic = compiled(net, dynamic=True)
    for rows, size in ((2, 8), (3, 8), (7, 11), (4, 9)):
        x = torch.randn(rows, 3, size, size)
        torch.testing.assert_close(dynamic(x), net(x))
    assert counted() == GRAPH


def test_sizes_become_symbols_when_they_change(compiled: Any, counted: Any) -> None:
    net = Net().eval()
    automatic = compiled(net)
    for rows in (2, 3, 4, 5, 2):
        x = torch.randn(rows, 3, 8, 8)
        torch.testing.assert_close(automatic(x), net(x))
    assert counted() == {"graphs": 2, "sessions": 2}


def test_numbers_are_operands(compiled: Any, counted: Any) -> None:
    scale = compiled(lambda x, n: x * n + n, dynamic=True)
    for number in (2.5, 3.5, -0.5, 1e-3):
        made, wanted = scale(torch.ones(2), number), torch.ones(2) * number + number
        torch.testing.assert_close(made, wanted)
    assert counted() == GRAPH


def test_whole_numbers_are_sizes(compiled: Any, counted: Any) -> None:
    def function(x: Any, n: int) -> Any:
        return torch.arange(n) + x * (n + 1), x.expand(n, 1), n * 2

    count = compiled(function, dynamic=True)
    for number in (3, 4, 9, 30):
        torch.testing.assert_close(count(torch.ones(1), number), function(torch.ones(1), number))
    assert counted() == GRAPH
    for number in (-3, 5):
        scale = compiled(lambda x, n: x * n, dynamic=True)
        assert scale(torch.ones(1), number).item() == number


def test_numbers_of_operators_are_constants_of_the_code(compiled: Any, counted: Any) -> None:
    clip = compiled(lambda x, n: torch.clamp(x, max=n), dynamic=True)
    for number in (2.5, 3.5, 2.5):
        assert clip(torch.full((2,), 9.0), number).tolist() == [number] * 2
    assert counted() == {"graphs": 1, "sessions": 2}
    for number in range(20):
        assert clip(torch.full((2,), 99.0), number + 0.5).tolist() == [number + 0.5] * 2
    assert counted() == {"graphs": 1, "sessions": 8, "eager": 1}


def test_graphs_that_symbols_do_not_fit_are_compiled_for_each_size(
    compiled: Any, counted: Any, monkeypatch: Any
) -> None:

    def compile_static(program: Any, **options: Any) -> Any:
        if program.ranges:
            raise RuntimeError("no symbols")
        return compile_program(program, **options)

    compile_program = variant.compile
    monkeypatch.setattr(variant, "compile", compile_static)
    double = compiled(lambda x: x * 2, dynamic=True)
    for rows in (2, 3, 2):
        assert double(torch.ones(rows)).tolist() == [2] * rows
    assert counted() == {"graphs": 1, "sessions": 2}


@needs_torch("2.13", "traces no encoder layers of symbolic sizes as one operator")
def test_attention_of_symbolic_sizes_is_compiled_once(compiled: Any, counted: Any) -> None:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    attend = compiled(net, dynamic=True)
    for rows, length in ((2, 5), (3, 7)):
        x = torch.randn(rows, length, 16)
        torch.testing.assert_close(attend(x), net(x), atol=1e-5, rtol=1e-5)
    assert counted() == GRAPH


def test_what_no_target_runs_is_left_to_torch(compiled: Any, counted: Any) -> None:
    """A roll of an axis whose size is a symbol."""

    def function(x: Any) -> Any:
        return (x * 2).roll(2, 1) + 1

    roll = compiled(function, dynamic=True)
    for rows, length in ((2, 5), (3, 7)):
        x = torch.randn(rows, length)
        torch.testing.assert_close(roll(x), function(x))
    assert counted() == {"graphs": 1, "eager": 1, "sessions": 2}


def test_nothing_is_compiled_for_views(compiled: Any, counted: Any) -> None:
    x = torch.arange(6.0)
    assert compiled(lambda x: x[2:])(x).data_ptr() == x[2:].data_ptr()
    assert compiled(lambda: torch.ones(2) * 2)().tolist() == [2, 2]
    assert counted() == {"graphs": 2, "sessions": 2}


def test_graph_breaks_give_several_graphs(compiled: Any, counted: Any) -> None:
    def function(x: Any) -> Any:
        y = x * 2
        return y + 1 if y.sum() > 0 else y - 1

    broken = compiled(function)
    for x in (torch.ones(3), -torch.ones(3)):
        torch.testing.assert_close(broken(x), function(x))
    assert counted() == {"graphs": 3, "sessions": 3}


def test_inference_mode(compiled: Any, counted: Any) -> None:
    with torch.inference_mode():
        net, x = Net().eval(), torch.randn(2, 3, 8, 8)
        made = compiled(net)(x)["y"]
        torch.testing.assert_close(made, net(x)["y"])
        assert made.is_inference()
    assert counted() == GRAPH


def test_autocast_is_part_of_the_graph(compiled: Any) -> None:
    net, x = nn.Linear(8, 4), torch.randn(2, 8)
    with torch.autocast("cpu", torch.bfloat16):
        made, wanted = compiled(net)(x), net(x)
    assert made.dtype == wanted.dtype == torch.bfloat16
    torch.testing.assert_close(made, wanted)


@pytest.mark.parametrize("dynamic", [False, True])
def test_threads_call_at_once(dynamic: bool, compiled: Any, counted: Any) -> None:
    net = Net().eval()
    shared = compiled(net, dynamic=dynamic)
    inputs = [torch.randn(2, 3, 32, 32) for _ in range(4)]
    wanted = [net(x)["y"] for x in inputs]
    shared(inputs[0])
    wrong: list[int] = []

    def call(number: int) -> None:
        with torch.no_grad():
            for _ in range(50):
                made = shared(inputs[number])["y"]
                if not torch.allclose(made, wanted[number], atol=1e-5):
                    wrong.append(number)

    threads = [Thread(target=call, args=(number,)) for number in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert counted() == GRAPH


def test_dynamo_finds_the_backend_by_its_name() -> None:
    code = (
        "import sys, torch\n"
        "f = torch.compile(torch.relu, backend='trivium')\n"
        "assert f(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]\n"
        "assert torch._dynamo.utils.counters['trivium']['sessions'] == 1\n"
        "assert 'onnx' not in sys.modules and 'trivium.targets.gpu.target' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_trivium_imports_no_torch() -> None:
    code = "import sys, trivium; trivium.compile; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
