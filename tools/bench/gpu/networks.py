"""The networks that are measured, in PyTorch and nothing else, with weights that anybody can make.

Architectures are those of the papers. Weights repeat a few thousand random numbers: that changes no
time, and lets packages be compressed to a hundredth for the way to a machine with a GPU.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

IMAGE = (1, 3, 224, 224)
TOKENS = 128
CLASSES = 1000
PERIOD = 4093
"""The period of weights; a prime, so that no two rows of a matrix are equal."""

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

    def __init__(self, features: nn.Module, channels: int, classes: int) -> None:
        super().__init__()
        self.features = features
        self.scores = nn.Linear(channels, classes)

    def forward(self, image: Tensor) -> Tensor:
        return self.scores(self.features(image).mean((2, 3)))


def resnet(stages: Sequence[tuple[int, int, int]] = RESNET_50, classes: int = CLASSES) -> nn.Module:
    """Build a ResNet (He et al., 2015), with strides on 3x3 convolutions as is usual since."""
    inputs = stages[0][1]
    layers: list[nn.Module] = [conv(3, inputs, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for blocks, channels, stride in stages:
        for block in range(blocks):
            layers.append(Bottleneck(inputs, channels, stride if block == 0 else 1))
            inputs = 4 * channels
    return Classifier(nn.Sequential(*layers), inputs, classes)


def mobilenet(
    stages: Sequence[tuple[int, int, int, int]] = MOBILENET_V2,
    first: int = 32,
    last: int = 1280,
    classes: int = CLASSES,
) -> nn.Module:
    """Build a MobileNetV2 (Sandler et al., 2018); `first` and `last` are channels at its ends."""
    layers: list[nn.Module] = [conv(3, first, 3, 2), nn.ReLU6()]
    inputs = first
    for expansion, outputs, blocks, stride in stages:
        for block in range(blocks):
            layers.append(Inverted(inputs, outputs, expansion, stride if block == 0 else 1))
            inputs = outputs
    layers += [conv(inputs, last, 1), nn.ReLU6()]
    return Classifier(nn.Sequential(*layers), last, classes)


Memory = tuple[Tensor, Tensor]
"""Keys and values, of heads of elements of a sequence."""


class Attention(nn.Module):
    """Let each element of a sequence attend to all, to those of a mask, or to those before it.

    `past` has keys and values of elements before the sequence. Returns its output, and the keys and
    values of all.
    """

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.heads, self.causal = heads, causal

    def forward(
        self, x: Tensor, mask: Tensor | None = None, past: Memory | None = None
    ) -> tuple[Tensor, Memory]:
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (f(x).reshape(shape).transpose(1, 2) for f in (self.query, self.key, self.value))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        causal = self.causal and past is None
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width)), (k, v)


class Layer(nn.Module):
    """One layer of a transformer; norms are before the blocks, or behind the sums."""

    def __init__(self, width: int, heads: int, causal: bool, before: bool) -> None:
        super().__init__()
        self.attention = Attention(width, heads, causal)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.before = before

    def forward(
        self, x: Tensor, mask: Tensor | None = None, past: Memory | None = None
    ) -> tuple[Tensor, Memory]:
        if self.before:
            attended, memory = self.attention(self.first(x), mask, past)
            x = x + attended
            return x + self.narrow(F.gelu(self.wide(self.second(x)))), memory
        attended, memory = self.attention(x, mask, past)
        x = self.first(x + attended)
        return self.second(x + self.narrow(F.gelu(self.wide(x)))), memory


class Vision(nn.Module):
    """A vision transformer (Dosovitskiy et al., 2020) of square images of a size."""

    def __init__(
        self,
        width: int,
        heads: int,
        depth: int,
        patch: int = 16,
        size: int = IMAGE[-1],
        classes: int = CLASSES,
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.layers = nn.ModuleList(Layer(width, heads, False, True) for _ in range(depth))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.first, x], 1) + self.places
        for layer in self.layers:
            x, _ = layer(x)
        return self.scores(self.norm(x)[:, 0])


class Text(nn.Module):
    """A transformer of tokens: an encoder (BERT), or a decoder that scores what follows (GPT-2).

    `mask` is added to the scores of attention.
    """

    def __init__(
        self,
        vocabulary: int,
        places: int,
        decoder: bool,
        width: int = 768,
        heads: int = 12,
        depth: int = 12,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(1, places, width))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads, decoder, decoder) for _ in range(depth))
        self.decoder = decoder
        self.scores = nn.Linear(width, vocabulary, bias=False) if decoder else None

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.tokens(tokens) + self.places[:, : tokens.shape[1]]
        x = x if self.decoder else self.norm(x)
        for layer in self.layers:
            x, _ = layer(x, mask)
        return x if self.scores is None else self.scores(self.norm(x))


class Step(nn.Module):
    """Score what follows one more token, by keys and values of all before it, which it extends.

    Both are of all layers, one behind the other: [layers, batch, heads, tokens, width of a head].
    """

    def __init__(self, text: Text) -> None:
        super().__init__()
        self.text = text

    def forward(self, token: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        text, past = self.text, keys.shape[3]
        x = text.tokens(token) + text.places[:, past : past + 1]
        memories: list[Memory] = []
        for number, layer in enumerate(text.layers):
            x, memory = layer(x, None, (keys[number], values[number]))
            memories.append(memory)
        assert text.scores is not None
        new_keys, new_values = (torch.stack(side) for side in zip(*memories, strict=True))
        return text.scores(text.norm(x)), new_keys, new_values


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "resnet_50": resnet,
    "mobilenet_v2": mobilenet,
    "vit_tiny": lambda: Vision(192, 3, 12),
    "bert_base": lambda: Text(30522, 512, decoder=False),
    "gpt_2": lambda: Text(50257, 1024, decoder=True),
}


def network(name: str) -> nn.Module:
    """Build a network of f32 with its weights, ready for inference."""
    return filled(NETWORKS[name]())


def inputs(name: str) -> tuple[np.ndarray, ...]:
    """Return the inputs that a network is measured on."""
    random = np.random.default_rng(1)
    if name in ("bert_base", "gpt_2"):
        return (random.integers(0, 30000, (1, TOKENS)),)
    return (random.standard_normal(IMAGE, np.float32),)


def filled(module: nn.Module) -> nn.Module:
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
    return module.eval()


_NORMS = (nn.BatchNorm2d, nn.LayerNorm)
