"""Whole networks from torch, through both of its ONNX exporters, against torch itself."""

import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
from torch import nn  # noqa: E402

pytestmark = pytest.mark.slow


def randomised(net: nn.Module) -> nn.Module:
    """Give norms statistics and affine parts that matter."""
    torch.manual_seed(0)
    for module in net.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 2.0)
        for name in ("weight", "bias"):
            parameter = getattr(module, name, None)
            if isinstance(parameter, torch.Tensor) and parameter.dim() == 1:
                parameter.data.uniform_(0.5, 1.5)
    return net.eval()


class Residual(nn.Module):
    """A ResNet bottleneck with a strided shortcut, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3), nn.BatchNorm2d(16), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.a = nn.Sequential(nn.Conv2d(16, 8, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.b = nn.Sequential(nn.Conv2d(8, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.c = nn.Sequential(nn.Conv2d(8, 32, 1, bias=False), nn.BatchNorm2d(32))
        self.shortcut = nn.Sequential(nn.Conv2d(16, 32, 1, 2, bias=False), nn.BatchNorm2d(32))
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.stem(x))
        x = torch.relu(self.c(self.b(self.a(x))) + self.shortcut(x))
        return self.head(x.mean((2, 3)))


class Inverted(nn.Module):
    """MobileNet's inverted residual with squeeze and excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(8, 24, 1), nn.BatchNorm2d(24), nn.Hardswish())
        self.depthwise = nn.Sequential(
            nn.Conv2d(24, 24, 5, 1, 2, groups=24, bias=False), nn.BatchNorm2d(24), nn.ReLU6()
        )
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(24, 6, 1), nn.ReLU(), nn.Conv2d(6, 24, 1)
        )
        self.project = nn.Sequential(nn.Conv2d(24, 8, 1, bias=False), nn.BatchNorm2d(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.depthwise(self.expand(x))
        y = y * nn.functional.hardsigmoid(self.squeeze(y))
        return x + self.project(y)


class Block(nn.Module):
    """A transformer block with causal attention, grouped keys and a gated feed-forward part."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.norm, self.scale = nn.LayerNorm(32), nn.Parameter(torch.rand(32) + 0.5)
        self.q, self.k, self.v = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16)
        self.out = nn.Linear(32, 32)
        self.gate, self.up, self.down = nn.Linear(32, 44), nn.Linear(32, 44), nn.Linear(44, 32)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        batch, length, _ = x.shape
        h = self.norm(x)
        q = self.q(h).view(batch, length, 4, 8).transpose(1, 2)
        k = self.k(h).view(batch, length, 2, 8).transpose(1, 2).repeat_interleave(2, 1)
        v = self.v(h).view(batch, length, 2, 8).transpose(1, 2).repeat_interleave(2, 1)
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(batch, length, 32))
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale
        return x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    """Up and down: transposed convolution, resizing, concatenation, group norm."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = nn.GroupNorm(2, 8)
        self.up = nn.ConvTranspose2d(8, 4, 3, 2, 1, 1)
        self.out = nn.Conv2d(7, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.gelu(self.norm(self.down(x)))
        y = torch.cat([self.up(y), x], 1)
        y = nn.functional.interpolate(y, scale_factor=2, mode="bilinear")
        return self.out(y).softmax(1)


class Recurrent(nn.Module):
    """Two recurrent layers, one in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(10, 17, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(34, 9)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y, (_, c) = self.lstm(x)
        z, _ = self.gru(y.transpose(0, 1))
        return z.log_softmax(-1), c


def image(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


NETWORKS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "residual": lambda: (Residual(), image(2, 3, 33, 47)),
    "inverted": lambda: (Inverted(), image(1, 8, 14, 19)),
    "block": lambda: (Block(), torch.arange(22).reshape(2, 11) % 50),
    "decoder": lambda: (Decoder(), image(1, 3, 18, 26)),
    "recurrent": lambda: (Recurrent(), image(3, 12, 10)),
}


def exported(net: nn.Module, x: torch.Tensor, dynamo: bool) -> bytes:
    if dynamo:
        pytest.importorskip("onnxscript")
    file = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(net, (x,), None if dynamo else file, dynamo=dynamo)
    return program.model_proto.SerializeToString() if dynamo else file.getvalue()


@pytest.mark.parametrize("dynamo", [False, True], ids=["legacy", "dynamo"])
@pytest.mark.parametrize("name", NETWORKS)
def test_network_equals_torch(name: str, dynamo: bool, tmp_path: Path) -> None:
    net, x = NETWORKS[name]()
    net = randomised(net)
    with torch.no_grad():
        expected = net(x)
    expected = expected if isinstance(expected, tuple) else (expected,)
    session = trivium.compile(exported(net, x, dynamo))
    session.save(tmp_path / "net.trv")
    for run in (session, trivium.load(tmp_path / "net.trv")):
        got = run(x.numpy())
        for y, want in zip(got if isinstance(got, tuple) else (got,), expected, strict=True):
            scale = float(want.abs().max())
            np.testing.assert_allclose(y, want.numpy(), atol=1e-5 * scale, rtol=0)
    assert {step.kind for step in session.manifest.steps} == {"cpu"}
