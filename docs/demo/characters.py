"""A small Llama of characters, trained on the docstrings of Python's own library."""

import importlib
import inspect
import json
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

MODULES = (
    *("argparse", "asyncio", "collections", "datetime", "decimal", "difflib", "email.message"),
    *("fractions", "http.client", "inspect", "io", "logging", "pathlib", "random", "re"),
    *("socket", "statistics", "string", "tarfile", "threading", "typing", "unittest", "zipfile"),
)
CHARACTERS = "\n" + "".join(map(chr, range(32, 127)))
HELD_OUT = 10
"""One of so many docstrings is not trained on."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the model."""

    vocabulary: int = len(CHARACTERS)
    hidden: int = 128
    layers: int = 3
    heads: int = 4
    shared: int = 2
    inner: int = 352
    base: float = 10000.0

    @property
    def head(self) -> int:
        return self.hidden // self.heads


def texts() -> tuple[str, str]:
    """Return the text to train on, and other text to test with."""
    listed = list(dict.fromkeys(_docstrings()))
    trained = [text for i, text in enumerate(listed) if i % HELD_OUT]
    return "\n".join(trained), "\n".join(listed[::HELD_OUT])


def _docstrings() -> Iterator[str]:
    for name in MODULES:
        module = importlib.import_module(name)
        for _, member in [("", module), *inspect.getmembers(module)]:
            inner = inspect.getmembers(member) if inspect.isclass(member) else []
            for each in (member, *(value for _, value in inner)):
                text = inspect.getdoc(each) if callable(each) or each is module else None
                if text and len(text) > 60:
                    yield re.sub(rf"[^{re.escape(CHARACTERS)}]", "", text)


def encode(text: str) -> list[int]:
    """Return the tokens of a text: the places of its characters in `CHARACTERS`."""
    return [CHARACTERS.index(character) for character in text]


def write_tokenizer(path: Path) -> None:
    """Write the same as the file of a tokenizer of Hugging Face."""
    split = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated"}
    vocabulary = {character: i for i, character in enumerate(CHARACTERS)}
    written = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {**split, "invert": False},
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "?"},
    }
    path.write_text(json.dumps(written))


class Layer(nn.Module):
    """Attention and a gated product, each with a norm before it."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        columns = (sizes.heads + 2 * sizes.shared) * sizes.head
        self.attention_norm = nn.RMSNorm(sizes.hidden, eps=1e-6)
        self.qkv = nn.Linear(sizes.hidden, columns, bias=False)
        self.o = nn.Linear(sizes.hidden, sizes.hidden, bias=False)
        self.norm = nn.RMSNorm(sizes.hidden, eps=1e-6)
        self.gate = nn.Linear(sizes.hidden, sizes.inner, bias=False)
        self.up = nn.Linear(sizes.hidden, sizes.inner, bias=False)
        self.down = nn.Linear(sizes.inner, sizes.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        heads, shared, head = self.sizes.heads, self.sizes.shared, self.sizes.head
        qkv = self.qkv(self.attention_norm(x)).unflatten(-1, (-1, head)).transpose(1, 2)
        q, k, v = qkv.split((heads, shared, shared), 1)
        angles = torch.from_numpy(angles_of(self.sizes, x.shape[1])).float()
        q, k = rotated(q, angles), rotated(k, angles)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).flatten(2))
        normed = self.norm(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed))


def angles_of(sizes: Sizes, length: int):
    """Return the angles of rotary embedding, [positions, half of a head]."""
    rates = sizes.base ** -(torch.arange(0, sizes.head, 2, dtype=torch.float64) / sizes.head)
    return torch.outer(torch.arange(length, dtype=torch.float64), rates).numpy()


def rotated(x: Tensor, angles: Tensor) -> Tensor:
    """Turn pairs of the first and the second half of heads, [batch, heads, length, size]."""
    a, b = x.chunk(2, -1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Llama(nn.Module):
    """The model: logits of the next character for each character."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.embed = nn.Embedding(sizes.vocabulary, sizes.hidden)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = nn.RMSNorm(sizes.hidden, eps=1e-6)
        self.head = nn.Linear(sizes.hidden, sizes.vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def train(seconds: float, text: str, sizes: Sizes, length: int = 96, batch: int = 16) -> Llama:
    """Train a model for some seconds of one CPU."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, data = Llama(sizes), torch.tensor(encode(text))
    for weight in model.parameters():
        if weight.ndim == 2:
            nn.init.normal_(weight, std=0.02)
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3, betas=(0.9, 0.95))
    begin = time.process_time()
    while (spent := (time.process_time() - begin) / seconds) < 1:
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * (0.05 + 0.95 * math.cos(spent * math.pi / 2))
        starts = torch.randint(0, len(data) - length - 1, (batch,))
        rows = torch.stack([data[i : i + length + 1] for i in starts])
        logits = model(rows[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()
