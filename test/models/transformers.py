"""Small transformers with random weights, in the forms that ONNX Runtime's optimiser looks for."""

import math
import warnings
from io import BytesIO
from typing import Any

import onnx
import torch
from torch import nn

Tensor = torch.Tensor
HIDDEN, HEADS, SIZE, LAYERS, WORDS, LONGEST = 32, 4, 8, 2, 60, 64


def apart(x: Tensor) -> Tensor:
    return x.view((*x.size()[:-1], HEADS, SIZE)).permute(0, 2, 1, 3)


def together(x: Tensor) -> Tensor:
    x = x.permute(0, 2, 1, 3).contiguous()
    return x.view((*x.size()[:-2], HIDDEN))


class Attention(nn.Module):
    """Attend with a product for each of queries, keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = self.q(x), apart(self.k(x)), apart(self.v(x))
        scores = torch.matmul(apart(q), k.transpose(-1, -2)) / math.sqrt(SIZE)
        scores = scores if mask is None else scores + mask
        return self.out(together(torch.matmul(torch.softmax(scores, -1), v)))


class EncoderLayer(nn.Module):
    """Attend and feed forward, with norms after the sums, as BERT, or before the parts, as ViT."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.first, self.attention = first, Attention()
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)
        self.a, self.b = nn.LayerNorm(HIDDEN, eps=1e-12), nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        if self.first:
            x = self.attention(self.a(x), mask) + x
            return self.down(nn.functional.gelu(self.up(self.b(x)))) + x
        x = self.a(self.attention(x, mask) + x)
        return self.b(self.down(nn.functional.gelu(self.up(x))) + x)


class Bert(nn.Module):
    """Encode words of two segments, some of which pad."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.segment = nn.Embedding(WORDS, HIDDEN), nn.Embedding(2, HIDDEN)
        self.position = nn.Embedding(LONGEST, HIDDEN)
        self.register_buffer("ids", torch.arange(LONGEST)[None])
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer(first=False) for _ in range(LAYERS))
        self.pool = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Any:
        mask = attention_mask.unsqueeze(1).unsqueeze(2).to(torch.float32)
        x = self.word(input_ids) + self.segment(token_type_ids)
        x = self.norm(x + self.position(self.ids[:, : input_ids.size(1)]))
        for layer in self.layers:
            x = layer(x, (1.0 - mask) * -10000.0)
        return x, torch.tanh(self.pool(x[:, 0]))


class Product(nn.Module):
    """Multiply by a matrix of columns, as GPT-2's layers do."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__()
        self.columns = columns
        self.weight = nn.Parameter(torch.randn(rows, columns) * rows**-0.5)
        self.bias = nn.Parameter(torch.randn(columns) * 0.1)

    def forward(self, x: Tensor) -> Tensor:
        flat = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return flat.view((*x.size()[:-1], self.columns))


class DecoderLayer(nn.Module):
    """Attend to the past and feed forward, as GPT-2 does."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.qkv, self.out = Product(3 * HIDDEN, HIDDEN), Product(HIDDEN, HIDDEN)
        self.up, self.down = Product(4 * HIDDEN, HIDDEN), Product(HIDDEN, 4 * HIDDEN)
        seen = torch.tril(torch.ones(LONGEST, LONGEST, dtype=torch.bool))
        self.register_buffer("seen", seen.view(1, 1, LONGEST, LONGEST))

    def forward(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (apart(part) for part in self.qkv(self.a(x)).split(HIDDEN, 2))
        k, v = torch.cat((past[0], k), -2), torch.cat((past[1], v), -2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(SIZE)
        new, total = q.size(-2), k.size(-2)
        seen = self.seen[:, :, total - new : total, :total]
        weights = torch.softmax(torch.where(seen, scores, torch.tensor(-10000.0)), -1)
        x = x + self.out(together(torch.matmul(weights, v)))
        h = self.up(self.b(x))
        wave = torch.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * torch.pow(h, 3.0)))
        return x + self.down(0.5 * h * (1.0 + wave)), torch.stack((k, v))


class Gpt2(nn.Module):
    """Decode words, given the keys and values of those before."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.position = nn.Embedding(WORDS, HIDDEN), nn.Embedding(LONGEST, HIDDEN)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(HIDDEN)

    def forward(self, input_ids: Tensor, position_ids: Tensor, *pasts: Tensor) -> Any:
        x, presents = self.word(input_ids) + self.position(position_ids), []
        for layer, past in zip(self.layers, pasts, strict=True):
            x, present = layer(x, past)
            presents.append(present)
        return torch.matmul(self.norm(x), self.word.weight.t()), *presents


class Vit(nn.Module):
    """Classify an image by its patches."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, HIDDEN, 8, 8)
        self.start = nn.Parameter(torch.randn(1, 1, HIDDEN))
        self.position = nn.Parameter(torch.randn(1, 17, HIDDEN))
        self.layers = nn.ModuleList(EncoderLayer(first=True) for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, 10)

    def forward(self, pixel_values: Tensor) -> Tensor:
        x = self.patch(pixel_values).flatten(2).transpose(1, 2)
        x = torch.cat((self.start.expand(x.shape[0], -1, -1), x), 1) + self.position
        for layer in self.layers:
            x = layer(x, None)
        return self.head(self.norm(x)[:, 0])


def bert() -> tuple[nn.Module, dict[str, Tensor], dict[str, Any]]:
    ids, segments = torch.randint(0, WORDS, (2, 7)), torch.randint(0, 2, (2, 7))
    mask = torch.ones(2, 7, dtype=torch.long)
    mask[1, 5:] = 0
    feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}
    return Bert(), feeds, {name: {0: "batch", 1: "length"} for name in feeds}


def gpt2() -> tuple[nn.Module, dict[str, Tensor], dict[str, Any]]:
    feeds = {"input_ids": torch.randint(0, WORDS, (1, 3)), "position_ids": torch.arange(5, 8)[None]}
    axes: dict[str, Any] = {name: {0: "batch", 1: "length"} for name in feeds}
    for number in range(LAYERS):
        feeds[f"past_{number}"] = torch.randn(2, 1, HEADS, 5, SIZE)
        axes[f"past_{number}"] = {1: "batch", 3: "past"}
    return Gpt2(), feeds, axes


def vit() -> tuple[nn.Module, dict[str, Tensor], dict[str, Any]]:
    return Vit(), {"pixel_values": torch.randn(2, 3, 32, 32)}, {"pixel_values": {0: "batch"}}


MODELS = {"bert": bert, "gpt2": gpt2, "vit": vit}


def exported(name: str) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Return a model and its inputs."""
    torch.manual_seed(0)
    net, feeds, axes = MODELS[name]()
    file = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            net.eval(),
            tuple(feeds.values()),
            file,
            input_names=[*feeds],
            dynamic_axes=axes,
            dynamo=False,
            opset_version=17,
        )
    model = onnx.load_from_string(file.getvalue())
    return model, {name: value.numpy() for name, value in feeds.items()}
