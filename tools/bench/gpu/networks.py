"""The networks that are measured, in PyTorch and nothing else, with weights that anybody can make.

Architectures are those of the papers. Weights repeat a few thousand random numbers: that changes no
time, and lets packages be compressed to a hundredth for the way to a machine with a GPU.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

IMAGE = (1, 3, 224, 224)
TOKENS = 128
CLASSES = 1000
PERIOD = 4093
"""How many numbers weights repeat; a prime, so that no two rows of a matrix are the same."""

RESNET_50 = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
"""Stages: blocks, channels inside of a block, stride of the first block."""

MOBILENET_V2 = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)
"""Stages: expansion, channels, blocks, stride of the first block."""


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Return a convolution with the batch norm behind it."""
    layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    """Add to an image what three convolutions make of it."""

    def __init__(self, inputs: int, channels: int, stride: int) -> None:
        super().__init__()
        self.reduce = conv(inputs, channels, 1)
        self.spread = conv(channels, channels, 3, stride)
        self.expand = conv(channels, 4 * channels, 1)
        same = inputs == 4 * channels
        self.shortcut = nn.Identity() if same else conv(inputs, 4 * channels, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.spread(F.relu(self.reduce(x))))
        return F.relu(self.expand(y) + self.shortcut(x))


class Inverted(nn.Module):
    """Widen an image, convolve each channel, and narrow it again."""

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.widen = nn.Sequential(conv(inputs, wide, 1), nn.ReLU6()) if expansion > 1 else None
        self.each = nn.Sequential(conv(wide, wide, 3, stride, groups=wide), nn.ReLU6())
        self.narrow = conv(wide, outputs, 1)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = x if self.widen is None else self.widen(x)
        y = self.narrow(self.each(y))
        return x + y if self.adds else y


class Classifier(nn.Module):
    """Score the classes of an image by what a network of convolutions sees in it."""

    def __init__(self, features: nn.Module, channels: int) -> None:
        super().__init__()
        self.features = features
        self.scores = nn.Linear(channels, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        return self.scores(self.features(image).mean((2, 3)))


def resnet_50() -> nn.Module:
    """Build ResNet-50 (He et al., 2015), with strides on 3x3 convolutions as is usual since."""
    layers: list[nn.Module] = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for blocks, channels, stride in RESNET_50:
        for block in range(blocks):
            layers.append(Bottleneck(inputs, channels, stride if block == 0 else 1))
            inputs = 4 * channels
    return Classifier(nn.Sequential(*layers), inputs)


def mobilenet_v2() -> nn.Module:
    """Build MobileNetV2 of width 1 (Sandler et al., 2018)."""
    layers: list[nn.Module] = [conv(3, 32, 3, 2), nn.ReLU6()]
    inputs = 32
    for expansion, outputs, blocks, stride in MOBILENET_V2:
        for block in range(blocks):
            layers.append(Inverted(inputs, outputs, expansion, stride if block == 0 else 1))
            inputs = outputs
    return Classifier(nn.Sequential(*layers, conv(inputs, 1280, 1), nn.ReLU6()), 1280)


class Attention(nn.Module):
    """Let each element of a sequence attend to all, or to those before it."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.heads, self.causal = heads, causal

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (f(x).reshape(shape).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    """One layer of a transformer; norms come before what they feed, or behind the sums."""

    def __init__(self, width: int, heads: int, causal: bool, before: bool) -> None:
        super().__init__()
        self.attention = Attention(width, heads, causal)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.before = before

    def forward(self, x: Tensor) -> Tensor:
        if self.before:
            x = x + self.attention(self.first(x))
            return x + self.narrow(F.gelu(self.wide(self.second(x))))
        x = self.first(x + self.attention(x))
        return self.second(x + self.narrow(F.gelu(self.wide(x))))


class Vision(nn.Module):
    """A vision transformer (Dosovitskiy et al., 2020)."""

    def __init__(self, width: int, heads: int, depth: int, patch: int = 16) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, (IMAGE[-1] // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(*(Layer(width, heads, False, True) for _ in range(depth)))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.first, x], 1) + self.places
        return self.scores(self.norm(self.layers(x))[:, 0])


class Text(nn.Module):
    """A transformer of tokens: an encoder (BERT), or a decoder that scores what follows (GPT-2)."""

    def __init__(self, vocabulary: int, places: int, decoder: bool) -> None:
        super().__init__()
        width, heads, depth = 768, 12, 12
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(1, places, width))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(*(Layer(width, heads, decoder, decoder) for _ in range(depth)))
        self.decoder = decoder
        self.scores = nn.Linear(width, vocabulary, bias=False) if decoder else None

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.places[:, : tokens.shape[1]]
        if self.scores is None:
            return self.layers(self.norm(x))
        return self.scores(self.norm(self.layers(x)))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "resnet_50": resnet_50,
    "mobilenet_v2": mobilenet_v2,
    "vit_tiny": lambda: Vision(192, 3, 12),
    "bert_base": lambda: Text(30522, 512, decoder=False),
    "gpt_2": lambda: Text(50257, 1024, decoder=True),
}


def network(name: str) -> nn.Module:
    """Build a network of f32 with its weights, ready for inference."""
    module = NETWORKS[name]().eval()
    _fill(module)
    return module


def inputs(name: str) -> tuple[np.ndarray, ...]:
    """Return the inputs that a network is measured on."""
    random = np.random.default_rng(1)
    if name in ("bert_base", "gpt_2"):
        return (random.integers(0, 30000, (1, TOKENS)),)
    return (random.standard_normal(IMAGE, np.float32),)


def _fill(module: nn.Module) -> None:
    """Give all weights numbers; matrices of a size that keeps that of what passes through."""
    numbers = np.random.default_rng(0).standard_normal(PERIOD, np.float32)
    norms = {id(p) for m in module.modules() if isinstance(m, _NORMS) for p in m.parameters()}
    with torch.no_grad():
        for parameter in module.parameters():
            if id(parameter) in norms:
                continue
            fan_in = math.prod(parameter.shape[1:]) if parameter.dim() > 1 else 1
            scale = math.sqrt(1 / fan_in) if parameter.dim() > 1 else 0.02
            flat = np.resize(numbers, parameter.numel()) * np.float32(scale)
            parameter.copy_(torch.as_tensor(flat.reshape(tuple(parameter.shape))))


_NORMS = (nn.BatchNorm2d, nn.LayerNorm)
