"""Small GGUF files with random weights, and what their decoders compute, in numpy."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import trivium
from gguf import GGMLQuantizationType as Type
from trivium.runtime.package import Package


@dataclass(frozen=True)
class Model:
    """Describe a decoder: its architecture, sizes, and what not all of them have."""

    arch: str = "llama"
    layers: int = 2
    hidden: int = 64
    heads: int = 4
    shared: int = 2
    size: int = 16
    inner: int = 96
    words: int = 40
    context: int = 600
    rotated: int = 0
    bias: bool = False
    joined: bool = False
    tied: bool = False
    window: int = -1
    period: int = 0
    base: float = 100.0
    local_base: float = 0.0
    keys: Mapping[str, Any] = field(default_factory=dict)
    experts: int = 0
    used: int = 2
    expert_inner: int = 0
    shared_inner: int = 0

    @property
    def gemma(self) -> bool:
        return self.arch.startswith("gemma")

    @property
    def pairs(self) -> int:
        return (self.rotated or self.size) // 2

    def is_local(self, layer: int) -> bool:
        return self.window > 0 and (not self.period or layer % self.period < self.period - 1)


Weights = dict[str, Any]


def weights(model: Model, seed: int = 0) -> Weights:
    """Draw the tensors of a model in f32, by name."""
    random, made = np.random.default_rng(seed), dict[str, Any]()

    def matrix(name: str, rows: int, columns: int, bias: bool = False) -> None:
        drawn = random.standard_normal((rows, columns)) * columns**-0.5
        made[f"{name}.weight"] = drawn.astype(np.float32)
        if bias:
            made[f"{name}.bias"] = random.standard_normal(rows).astype(np.float32)

    def norm(name: str, size: int) -> None:
        made[f"{name}.weight"] = (1 + 0.1 * random.standard_normal(size)).astype(np.float32)
        if model.arch == "phi2":
            made[f"{name}.bias"] = (0.1 * random.standard_normal(size)).astype(np.float32)

    hidden, queries, keys = model.hidden, model.heads * model.size, model.shared * model.size
    matrix("token_embd", model.words, hidden)
    norm("output_norm", hidden)
    if not model.tied:
        matrix("output", model.words, hidden, bias=model.arch == "phi2")
    for layer in range(model.layers):
        prefix = f"blk.{layer}."
        norm(f"{prefix}attn_norm", hidden)
        if model.joined:
            matrix(f"{prefix}attn_qkv", queries + 2 * keys, hidden, model.bias)
        else:
            for part, rows in (("q", queries), ("k", keys), ("v", keys)):
                matrix(f"{prefix}attn_{part}", rows, hidden, model.bias)
        matrix(f"{prefix}attn_output", hidden, queries, model.arch == "phi2")
        if model.arch in ("qwen3", "qwen3moe", "gemma3"):
            norm(f"{prefix}attn_q_norm", model.size)
            norm(f"{prefix}attn_k_norm", model.size)
        if model.arch in ("gemma2", "gemma3"):
            norm(f"{prefix}post_attention_norm", hidden)
            norm(f"{prefix}post_ffw_norm", hidden)
        if model.arch != "phi2":
            norm(f"{prefix}ffn_norm", hidden)
        if model.experts:
            _draw_experts(model, random, made, prefix)
            continue
        if model.arch not in ("phi2", "phi3"):
            matrix(f"{prefix}ffn_gate", model.inner, hidden)
        wide = 2 if model.arch == "phi3" else 1
        matrix(f"{prefix}ffn_up", wide * model.inner, hidden, model.arch == "phi2")
        matrix(f"{prefix}ffn_down", hidden, model.inner, model.arch == "phi2")
    return made


def _draw_experts(model: Model, random: Any, made: Weights, prefix: str) -> None:
    hidden, count, inner = model.hidden, model.experts, model.expert_inner or model.inner
    shapes: dict[str, tuple[int, ...]] = {"ffn_gate_inp": (count, hidden)}
    shapes |= {f"ffn_{part}_exps": (count, inner, hidden) for part in ("gate", "up")}
    shapes["ffn_down_exps"] = (count, hidden, inner)
    if model.shared_inner:
        shapes |= {f"ffn_{part}_shexp": (model.shared_inner, hidden) for part in ("gate", "up")}
        shapes["ffn_down_shexp"] = (hidden, model.shared_inner)
        shapes["ffn_gate_inp_shexp"] = (hidden,)
    for name, shape in shapes.items():
        drawn = random.standard_normal(shape) * shape[-1] ** -0.5
        made[f"{prefix}{name}.weight"] = drawn.astype(np.float32)


K_TYPES = (Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K, Type.IQ4_NL, Type.IQ4_XS)
"""Types that the package takes apart but does not make: their bytes are drawn."""


def drawn_blocks(kind: Type, count: int, seed: int = 0) -> Any:
    """Draw blocks of a type whose elements are about as large as weights are."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    random = np.random.default_rng(seed)
    raw = random.integers(0, 256, (count, size), dtype=np.uint8)
    places = {
        Type.Q2_K: ((80, 2e-2), (82, 2e-2)),
        Type.Q3_K: ((108, 2e-3),),
        Type.Q4_K: ((0, 5e-4), (2, 4e-3)),
        Type.Q5_K: ((0, 2e-4), (2, 3e-3)),
        Type.Q6_K: ((208, 5e-5),),
        Type.IQ4_NL: ((0, 1e-3),),
        Type.IQ4_XS: ((0, 5e-5),),
    }
    for at, scale in places[kind]:
        scales = (scale * random.uniform(0.5, 1.5, count)).astype(np.float16)
        raw[:, at : at + 2] = scales[:, None].view(np.uint8)
    return raw


def stored(array: Any, kind: Type, seed: int = 0) -> Any:
    """Return a matrix as bytes of a type, [rows, bytes of one]."""
    if kind not in K_TYPES:
        return gguf.quants.quantize(array, kind)
    elements = gguf.GGML_QUANT_SIZES[kind][0]
    return drawn_blocks(kind, array.size // elements, seed).reshape(len(array), -1)


def write(
    path: Path,
    model: Model,
    given: Weights,
    kinds: Mapping[str, Type] | Type = Type.F32,
    *,
    per_file: int = 0,
) -> Weights:
    """Write a file; return the weights that it has, in f32, as the package takes them apart.

    Matrices are of the type in `kinds` whose key their name contains. With `per_file`, there are
    several files of so many tensors each.
    """
    writer = gguf.GGUFWriter(path, model.arch, split_max_tensors=per_file)
    writer.add_context_length(model.context)
    writer.add_embedding_length(model.hidden)
    writer.add_block_count(model.layers)
    writer.add_feed_forward_length(model.inner)
    writer.add_head_count(model.heads)
    writer.add_head_count_kv(model.shared)
    writer.add_key_length(model.size)
    writer.add_value_length(model.size)
    writer.add_rope_freq_base(model.base)
    writer.add_vocab_size(model.words)
    writer.add_tokenizer_model("no_vocab")
    writer.add_token_list([f"word {i}" for i in range(model.words)])
    writer.add_array("tokenizer.ggml.scores", [0.5] * model.words)
    if model.arch == "phi2":
        writer.add_layer_norm_eps(1e-5)
    else:
        writer.add_layer_norm_rms_eps(1e-6)
    if model.rotated:
        writer.add_rope_dimension_count(model.rotated)
    if model.window > 0:
        writer.add_sliding_window(model.window)
    if model.experts:
        writer.add_expert_count(model.experts)
        writer.add_expert_used_count(model.used)
    if model.expert_inner:
        writer.add_expert_feed_forward_length(model.expert_inner)
    if model.shared_inner:
        writer.add_expert_shared_feed_forward_length(model.shared_inner)
    if model.period:
        writer.add_uint32(f"{model.arch}.attention.sliding_window_pattern", model.period)
    for key, value in model.keys.items():
        add = {
            bool: writer.add_bool,
            float: writer.add_float32,
            int: writer.add_uint32,
            str: writer.add_string,
        }
        add[type(value)](f"{model.arch}.{key}", value)
    kept: Weights = {}
    for number, (name, array) in enumerate(given.items()):
        kind = (
            kinds
            if isinstance(kinds, Type)
            else next((each for part, each in kinds.items() if part in name), Type.F32)
        )
        if array.ndim == 1 or "ffn_gate_inp" in name or kind == Type.F32:
            writer.add_tensor(name, array)
            kept[name] = array
            continue
        raw = stored(array, kind, number)
        writer.add_tensor(name, raw, raw_dtype=kind)
        kept[name] = gguf.quants.dequantize(raw, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return kept


# -- the decoder in numpy, in f64, on a whole text ------------------------------------------------


def _norm(model: Model, x: Any, kept: Weights, name: str) -> Any:
    if model.arch == "phi2":
        centered = x - x.mean(-1, keepdims=True)
        normed = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
        return normed * kept[f"{name}.weight"] + kept[f"{name}.bias"]
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * kept[f"{name}.weight"]


def _product(x: Any, kept: Weights, name: str) -> Any:
    return x @ kept[f"{name}.weight"].T.astype(np.float64) + kept.get(f"{name}.bias", 0)


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def plain_frequencies(model: Model, layer: int) -> Any:
    base = model.local_base if model.local_base and model.is_local(layer) else model.base
    return base ** (-np.arange(model.pairs) / model.pairs)


def _rotated(model: Model, x: Any, layer: int, frequencies: Any, magnitude: float) -> Any:
    """Rotate [length, heads, size] by the angles of places."""
    angles = np.arange(len(x))[:, None] * frequencies(model, layer)
    cos, sin = magnitude * np.cos(angles)[:, None], magnitude * np.sin(angles)[:, None]
    y, pairs = x.copy(), model.pairs
    if model.arch == "llama":
        first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    else:
        first, second = slice(0, pairs), slice(pairs, 2 * pairs)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., second] * cos + x[..., first] * sin
    return y


def _silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def _expert_fed(model: Model, kept: Weights, prefix: str, row: Any) -> Any:
    """Feed one row through the experts that are most likely for it, and the shared one."""
    chances = np.exp(kept[f"{prefix}ffn_gate_inp.weight"] @ row)
    chances /= chances.sum()
    chosen = np.argsort(-chances)[: model.used]
    if model.arch != "qwen2moe":
        chances /= chances[chosen].sum()
    made = np.zeros_like(row)
    for expert in chosen:
        gate, up, down = (
            kept[f"{prefix}ffn_{part}_exps.weight"][expert] for part in ("gate", "up", "down")
        )
        made += chances[expert] * (down @ (_silu(gate @ row) * (up @ row)))
    if model.shared_inner:
        gate, up, down = (
            kept[f"{prefix}ffn_{part}_shexp.weight"] for part in ("gate", "up", "down")
        )
        weight = 1 / (1 + np.exp(-kept[f"{prefix}ffn_gate_inp_shexp.weight"] @ row))
        made += weight * (down @ (_silu(gate @ row) * (up @ row)))
    return made


def logits(
    model: Model,
    kept: Weights,
    words: Any,
    *,
    frequencies: Any = plain_frequencies,
    magnitude: float = 1.0,
    scale: float = 0.0,
    softcap: float = 0.0,
    last_softcap: float = 0.0,
) -> Any:
    """Return the logits after each word of one text: [length, words]."""
    heads, shared, size, length = model.heads, model.shared, model.size, len(words)
    x = kept["token_embd.weight"][words].astype(np.float64)
    x *= math.sqrt(model.hidden) if model.gemma else 1
    for layer in range(model.layers):
        prefix = f"blk.{layer}."
        normed = _norm(model, x, kept, f"{prefix}attn_norm")
        if model.joined:
            parts = np.split(
                _product(normed, kept, f"{prefix}attn_qkv"),
                [heads * size, (heads + shared) * size],
                -1,
            )
        else:
            parts = [_product(normed, kept, f"{prefix}attn_{part}") for part in "qkv"]
        q, k, v = (part.reshape(length, -1, size) for part in parts)
        if f"{prefix}attn_q_norm.weight" in kept:
            q, k = (
                _norm(model, y, kept, f"{prefix}attn_{part}_norm")
                for part, y in (("q", q), ("k", k))
            )
        q, k = (_rotated(model, y, layer, frequencies, magnitude) for y in (q, k))
        k, v = (np.repeat(y, heads // shared, axis=1) for y in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) * (scale or size**-0.5)
        scores = softcap * np.tanh(scores / softcap) if softcap else scores
        place = np.arange(length)
        distance = place[:, None] - place
        unseen = (distance < 0) | (model.is_local(layer) & (distance >= model.window))
        scores = np.where(unseen, -np.inf, scores)
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        chances /= chances.sum(-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", chances, v).reshape(length, -1)
        attended = _product(attended, kept, f"{prefix}attn_output")
        if f"{prefix}post_attention_norm.weight" in kept:
            attended = _norm(model, attended, kept, f"{prefix}post_attention_norm")
        if model.arch == "phi2":
            up = _gelu(_product(normed, kept, f"{prefix}ffn_up"))
            x = x + attended + _product(up, kept, f"{prefix}ffn_down")
            continue
        x = x + attended
        normed = _norm(model, x, kept, f"{prefix}ffn_norm")
        if model.experts:
            x = x + np.stack([_expert_fed(model, kept, prefix, row) for row in normed])
            continue
        up = _product(normed, kept, f"{prefix}ffn_up")
        if model.arch == "phi3":
            gate, up = np.split(up, 2, -1)
        else:
            gate = _product(normed, kept, f"{prefix}ffn_gate")
        gate = _gelu(gate) if model.gemma else gate / (1 + np.exp(-gate))
        fed = _product(gate * up, kept, f"{prefix}ffn_down")
        if f"{prefix}post_ffw_norm.weight" in kept:
            fed = _norm(model, fed, kept, f"{prefix}post_ffw_norm")
        x = x + fed
    x = _norm(model, x, kept, "output_norm")
    y = _product(x, kept, "token_embd" if model.tied else "output")
    return last_softcap * np.tanh(y / last_softcap) if last_softcap else y


def read_in_pieces(package: Package, text: Any) -> Any:
    """Return the logits of a text of 14 tokens, the same bits for any pieces and threads."""
    whole, *others = (
        np.concatenate([read.append_each(text[read.length :][:n]) for n in chunks])
        for threads, chunks in ((1, (14,)), (2, (5, 1, 8)), (1, (1,) * 14))
        for read in [trivium.Generator(package, threads=threads).sequence()]
    )
    assert all(np.array_equal(whole, each) for each in others)
    return whole
