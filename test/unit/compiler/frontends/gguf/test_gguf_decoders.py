"""Decoders of GGUF files: the logits of prompts and of words after them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.compiler.frontends.gguf import import_gguf
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.test.unit.compiler.frontends.gguf.gguf_models import Model, logits, weights, write

SHAPES = {"past_sequence_length": trivium.Range(0, 600, likely=16)}
TEXT = np.random.default_rng(7).integers(0, 40, 14)

Step = Callable[[dict[str, Any]], Any]


def empty(model: Model, rows: int = 0) -> dict[str, Any]:
    shape = (1, model.shared, rows, model.size)
    parts = [(i, part) for i in range(model.layers) for part in ("key", "value")]
    return {f"past_key_values.{i}.{part}": np.zeros(shape, np.float32) for i, part in parts}


@contextmanager
def interpreted(path: Path, model: Model, rows: int = 0, **shapes: Any) -> Iterator[Step]:
    """Give a function that takes words and a mask, and keeps the cache from call to call."""
    with new_context():
        module = import_gguf(path, shapes={**SHAPES, **shapes})
        past = [*empty(model, rows).values()]

        def step(feeds: dict[str, Any]) -> Any:
            made = run(module, [feeds["input_ids"], feeds["attention_mask"], *past])
            past[:] = made[1:]
            return made[0]

        yield step


def read_in_chunks(step: Step, text: Any, chunks: tuple[int, ...] = (5, 1, 6, 1, 1)) -> Any:
    """Return the logits of a text of which some words are given at once, then others."""
    found, at = [], 0
    for size in chunks:
        mask = np.ones((1, at + size), np.int64)
        feeds = {"input_ids": text[None, at : at + size], "attention_mask": mask}
        found.append(step(feeds)[0])
        at += size
    assert at == len(text)
    return np.concatenate(found)


MODELS = {
    "llama": (Model(bias=True), {}),
    "llama tied": (Model(tied=True), {}),
    "mistral": (Model(window=5), {}),
    "qwen 2": (Model("qwen2", bias=True), {}),
    "qwen 3": (Model("qwen3", heads=4, size=24), {}),
    "phi 2": (Model("phi2", shared=4, bias=True, joined=True, rotated=8), {}),
    "phi 3": (Model("phi3", joined=True, rotated=12), {}),
    "gemma": (Model("gemma", tied=True, shared=1, size=32), {}),
    "gemma 2": (
        Model(
            "gemma2",
            tied=True,
            window=4,
            period=2,
            keys={"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
        ),
        {"softcap": 2.0, "last_softcap": 3.0},
    ),
    "gemma 3": (Model("gemma3", layers=3, tied=True, window=4, period=3, local_base=10000.0), {}),
    "a scale": (Model(layers=1, keys={"attention.scale": 0.5}), {"scale": 0.5}),
}


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_those_of_numpy(name: str, tmp_path: Path) -> None:
    model, given = MODELS[name]
    kept = write(tmp_path / "model.gguf", model, weights(model))
    wanted = logits(model, kept, TEXT, **given)
    with interpreted(tmp_path / "model.gguf", model) as step:
        got = read_in_chunks(step, TEXT)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
