"""Modules of torch, compiled by way of pnnx: their numbers, what is refused, what stays whole."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import trivium
from trivium.compiler.frontends.torch.registry import RULES, Value, torch_op
from trivium.dialects import tri

torch = pytest.importorskip("torch")
pytest.importorskip("pnnx", reason="pnnx of trivium[torch] is missing")
from torch import nn  # noqa: E402

compiled = partial(trivium.compile, converter="pnnx")

SOFTENED = "test_torch_modules.Softened"


class Small(nn.Module):
    """Layers with weights, some that differ in training, and arithmetic."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(8, 5)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm(self.conv(x))) * 2 - 0.5
        return self.head(self.drop(y.mean((2, 3)))).softmax(-1)


class Scaled(nn.Module):
    """Several inputs, one of them a list, one a scalar; two outputs."""

    def forward(
        self, x: torch.Tensor, factors: list[torch.Tensor], keep: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * factors[0] + factors[1]
        return torch.where(keep, y, x), y.sum(0)


class Softened(nn.Module):
    """What pnnx would take apart, unless it is told to keep it."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor([0.5, 2.0, 1.5]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x * self.slope)


def test_module_equals_torch() -> None:
    torch.manual_seed(0)
    net, x = Small(), torch.randn(2, 3, 9, 7)
    session = compiled(net, example_inputs=x)
    assert net.training
    assert net.norm.training
    assert session.manifest.source == "Small"
    want = net.eval()(x).detach().numpy()
    np.testing.assert_allclose(session(x.numpy()), want, atol=1e-6, rtol=0)


def test_inputs_are_flat_and_scalars_are_typed() -> None:
    x, factors = torch.randn(4, 3), [torch.tensor(2.5), torch.tensor([1, -2, 3])]
    keep = torch.tensor([True, False, True])
    session = compiled(Scaled(), (x, factors, keep))
    flat = [each.numpy() for each in (x, *factors, keep)]
    got = session.run({f"in{i}": array for i, array in enumerate(flat)})
    for y, want in zip(got.values(), Scaled()(x, factors, keep), strict=True):
        np.testing.assert_allclose(y, want.numpy(), atol=1e-6, rtol=0)
    assert [port.shape for port in session.inputs][1] == ()


def test_check_takes_modules() -> None:
    placed = trivium.check(Small(), converter="pnnx", example_inputs=(torch.zeros(1, 3, 4, 4),))
    assert {placement.target for placement in placed} == {"cpu"}


def test_module_with_a_rule_stays_whole() -> None:
    x = torch.randn(2, 3)
    net = nn.Sequential(nn.Linear(3, 3), Softened())
    want = net(x).detach().numpy()
    plain = compiled(net, example_inputs=x)
    np.testing.assert_allclose(plain(x.numpy()), want, atol=1e-6, rtol=0)

    seen: list[str] = []

    @torch_op(SOFTENED)
    def softened(input: Value, *, slope: Value) -> tri.Mul:
        seen.append(SOFTENED)
        return tri.Mul.build(input, tri.Sigmoid.build(tri.Mul.build(input, slope).y).y)

    try:
        whole = compiled(net, example_inputs=x)
    finally:
        del RULES[SOFTENED]
    assert seen == [SOFTENED]
    np.testing.assert_allclose(whole(x.numpy()), want, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("example_inputs", "message"),
    [
        (None, "'Small' is a torch module: give example_inputs"),
        ((), "'Small' module cannot be traced: TypeError: Small.forward() missing 1 required"),
        ((3,), "'Small' module cannot be traced: RuntimeError: Type 'Tuple[int]' cannot be traced"),
        (torch.ones(2, 3), "'Small' module cannot be traced: "),
    ],
)
def test_refuses_what_cannot_be_traced(example_inputs: object, message: str) -> None:
    net = Small()
    with pytest.raises(trivium.CompileError) as error:
        compiled(net, example_inputs=example_inputs)
    assert f"error: {message}" in str(error.value)
    assert net.training


def test_failure_has_the_words_of_pnnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "pnnx"
    program.write_text("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do echo line $i; done\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr("pnnx.EXEC_PATH", str(program))
    with pytest.raises(trivium.CompileError) as error:
        compiled(Small(), example_inputs=torch.zeros(1, 3, 4, 4))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.message == "pnnx failed with status 3, its last lines follow"
    assert diagnostic.notes == tuple(f"line {i}" for i in range(2, 10))


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pnnx", None)
    with pytest.raises(trivium.CompileError, match=r"pip install 'trivium\[torch\]'"):
        compiled(Small(), example_inputs=torch.zeros(1, 3, 4, 4))


def test_example_inputs_are_for_modules() -> None:
    with pytest.raises(trivium.CompileError, match=r"the model is 'net\.onnx'"):
        trivium.compile("net.onnx", example_inputs=torch.zeros(1))
    with pytest.raises(trivium.CompileError, match="say target='host' by name"):
        trivium.compile("net.onnx", "host")


def test_unsupported_operators_are_found_by_name() -> None:
    class Drawn(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.poisson(x) + x

    with pytest.raises(trivium.CompileError, match=r"Drawn:\d+: error: '[^']*poisson'"):
        compiled(Drawn(), example_inputs=torch.zeros(2))


def test_torch_is_imported_for_modules_only() -> None:
    """Nothing that compiles other models brings torch in."""
    program = (
        "import sys, trivium, trivium.compiler.driver, trivium.compiler.frontends.pnnx.run_pnnx\n"
        "try: trivium.compile('missing.pnnx.param')\n"
        "except trivium.CompileError: pass\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_layers_of_transformers_are_traced_as_their_parts() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    session = compiled(layer, example_inputs=x)
    assert torch.backends.mha.get_fastpath_enabled()
    np.testing.assert_allclose(session(x.numpy()), layer(x).detach().numpy(), atol=2e-6, rtol=0)


def test_warns_of_what_pnnx_loses() -> None:
    """The converter leaves out that attention is causal."""

    class Causal(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            mask = nn.Transformer.generate_square_subsequent_mask(6)
            options = {"need_weights": False, "is_causal": True}
            return self.attention(x, x, x, attn_mask=mask, **options)[0]

    torch.manual_seed(0)
    x = torch.randn(1, 6, 8)
    with pytest.warns(UserWarning, match=r"output 'out0' differs by \d+% from what the torch mod"):
        compiled(Causal(), example_inputs=x)


def test_compares_what_it_can(recwarn: pytest.WarningsRecorder) -> None:
    class Odd(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x * 0, x / 0, x.bool(), torch.view_as_complex(x)

    x = torch.tensor([[1.0, 0.0], [-1.0, 2.0]])
    session = compiled(Odd(), example_inputs=x)
    assert not [w for w in recwarn.list if "differs" in str(w.message)]
    assert session(x.numpy())[3].dtype == np.complex64
