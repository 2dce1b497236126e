"""Build the `tri` function of a decoder: words, a mask and a cache in, logits and a cache out."""

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cached_property

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import CompileError, Invalid, Unsupported
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.sizes.checks import need
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.tensor import Array, Bindings
from ..core.bindings import input_types
from ..core.inputs import Input
from ..core.main_function import MainFunction
from ..core.results import fault_diagnostic, name_results
from ..core.values import Value, constant, tensor
from ..decoding.cache import (
    Step,
    appended,
    attend_to_cache,
    positions,
    seen,
    step_of,
)
from ..decoding.capped_attention import capped_attention
from ..decoding.heads import first_rows, heads_apart, merge_heads
from ..decoding.rotary import rotate
from .angles import AngleTables, frequencies, is_beyond
from .experts import ExpertLayer
from .file import GgufTensor
from .hyperparameters import Hyperparameters, RopeScaling
from .tensors import FREQUENCIES, LONG, SHORT
from .weights import MadeWeights, Weights

WORDS, MASK, LOGITS = "input_ids", "attention_mask", "logits"
PARTS = ("key", "value")

LIKELY_ROWS = 512
"""For how many rows of a cache costs are estimated; the user may say another number."""


def past_name(layer: int, part: str) -> str:
    return f"past_key_values.{layer}.{part}"


def declared_inputs(decoder: Hyperparameters) -> list[Input]:
    """Return the inputs of a decoder, named as those of onnxruntime-genai's models are."""
    rows = ("batch_size", decoder.shared, "past_sequence_length", decoder.head_size)
    return [
        Input(WORDS, "i64", ("batch_size", "sequence_length")),
        Input(MASK, "i64", ("batch_size", "total_sequence_length")),
        *(Input(past_name(i, part), "f32", rows) for i in range(decoder.layers) for part in PARTS),
    ]


def default_ranges(decoder: Hyperparameters) -> dict[str, Range]:
    """Return how many rows a cache may have: from none before a text to the model's context."""
    context = decoder.context
    likely = min(LIKELY_ROWS, context)
    return {
        "past_sequence_length": Range(0, context, likely),
        "total_sequence_length": Range(1, context, likely),
    }


class DecoderBuilder:
    """Build the function of one decoder."""

    def __init__(
        self, decoder: Hyperparameters, tensors: Mapping[str, GgufTensor], made: MadeWeights
    ) -> None:
        self.decoder = decoder
        self.flags = decoder.architecture
        self.main = MainFunction()
        self.weights = Weights(self.main, tensors, decoder, made)
        self.inputs: dict[str, Value] = {}
        self.present: dict[str, Value] = {}
        self._made_angles: dict[RopeScaling, tuple[Value, Value]] = {}

    def build(self, shapes: Bindings) -> Module:
        """Build the function; raise CompileError for shapes that do not fit the model."""
        inputs = declared_inputs(self.decoder)
        symbols = {axis.symbol for each in inputs for axis in each.axes}
        ranges = {name for name, size in shapes.items() if isinstance(size, Range)}
        if ranges <= symbols:  # others would be second ranges of the same axes
            shapes = {**default_ranges(self.decoder), **shapes}
        found = input_types(inputs, shapes, {})
        self.main.declare_symbols(found.ranges)
        for name, type_ in found.types.items():
            self.inputs[name] = self.main.add_input(name, type_, node_location(name, [name]))
        with self.main.body():
            x = self._node("token_embd", self._words)
            for layer in range(self.decoder.layers):
                x = self._layer(x, layer)
            x = self._norm(x, "output_norm")
            logits = self._node("output", lambda: self._logits(x), LOGITS)
        return self.main.finish([(LOGITS, logits), *self.present.items()])

    def _node(self, name: str, build: Callable[[], Value], result: str = "") -> Value:
        """Build what has the name of a node, and its result's name if that is another one."""
        with self._faults(name):
            value = build()
        name_results(name, [result or name], [value])
        return value

    @contextmanager
    def _faults(self, name: str) -> Generator[None]:
        """Note checks of what is built, and turn its faults into those of a node."""
        try:
            with ir.Location.name(name), self.main.checks_of(name, "decoder"):
                yield
        except (Invalid, Unsupported, MemoryError) as error:
            raise CompileError([fault_diagnostic(name, "decoder", error)]) from None

    def _words(self) -> Value:
        words = self.weights.words(self.inputs[WORDS])
        if not self.flags.scaled_embedding:
            return words
        return tri.Mul.build(words, _number(math.sqrt(self.decoder.hidden))).y

    def _logits(self, x: Value) -> Value:
        logits, cap = self.weights.logits(x), self.decoder.logit_softcap
        if not cap:
            return logits
        capped = tri.Tanh.build(tri.Div.build(logits, _number(cap)).y).y
        return tri.Mul.build(capped, _number(cap)).y

    # -- layers -----------------------------------------------------------------------------------

    def _layer(self, x: Value, layer: int) -> Value:
        prefix = f"blk.{layer}"
        normed = self._norm(x, f"{prefix}.attn_norm")
        attended = self._attention(normed, layer)
        if self.flags.parallel:
            fed = self._feed_forward(normed, prefix)
            both = self._node(f"{prefix}.both", lambda: tri.Add.build(attended, fed).y)
            return self._node(prefix, lambda: tri.Add.build(both, x).y)
        if self.flags.post_norm:
            attended = self._norm(attended, f"{prefix}.post_attention_norm")
        x = self._node(f"{prefix}.attn_residual", lambda: tri.Add.build(attended, x).y)
        normed = self._norm(x, f"{prefix}.ffn_norm")
        fed = self._fed(normed, prefix)
        if self.flags.post_norm:
            fed = self._norm(fed, f"{prefix}.post_ffw_norm")
        return self._node(prefix, lambda: tri.Add.build(fed, x).y)

    def _norm(self, x: Value, name: str) -> Value:
        """Normalise the last axis."""
        axis, epsilon = tensor(x).rank - 1, self.decoder.epsilon

        def build() -> Value:
            scale = self.weights.vector(f"{name}.weight")
            if self.flags.layer_norm:
                bias = self.weights.vector(f"{name}.bias")
                return tri.LayerNorm.build(x, scale, bias, axis=axis, epsilon=epsilon).y
            return tri.RmsNorm.build(x, scale, axis=axis, epsilon=epsilon).y

        return self._node(name, build)

    def _product(self, x: Value, name: str) -> Value:
        return self._node(name, lambda: self.weights.product(x, name))

    def _fed(self, x: Value, prefix: str) -> Value:
        """Feed rows forward, through experts if there are any."""
        experts = self.decoder.experts
        if experts is None:
            return self._feed_forward(x, prefix)
        layer = ExpertLayer(self.weights, prefix, experts, self.flags)
        made = self._node(f"{prefix}.ffn_moe", lambda: layer.mixed(x))
        if not self.flags.shared_expert:
            return made
        shared = self._node(f"{prefix}.ffn_shexp", lambda: layer.shared(x))
        return self._node(f"{prefix}.ffn_out", lambda: tri.Add.build(made, shared).y)

    def _feed_forward(self, x: Value, prefix: str) -> Value:
        up = self._product(x, f"{prefix}.ffn_up")
        if not self.flags.gate:
            return self._product(
                self._node(f"{prefix}.ffn_act", lambda: _activated("gelu", up)),
                f"{prefix}.ffn_down",
            )
        if self.flags.joined_gate:
            sizes = (self.decoder.inner,) * 2
            gate, up = tri.Split.build(up, axis=2, sizes=sizes).results
        else:
            gate = self._product(x, f"{prefix}.ffn_gate")
        activated = self._node(f"{prefix}.ffn_act", lambda: _activated(self.flags.gate, gate))
        gated = self._node(f"{prefix}.ffn_gated", lambda: tri.Mul.build(activated, up).y)
        return self._product(gated, f"{prefix}.ffn_down")

    # -- attention --------------------------------------------------------------------------------

    def _attention(self, x: Value, layer: int) -> Value:
        prefix, window = f"blk.{layer}", self.decoder.windows[layer]
        q, k, v = self._heads(x, prefix)
        cos, sin = self._angles(window > 0)
        q, k = (
            self._node(f"{prefix}.{part}_rope", lambda y=y: rotate(y, cos, sin, interleaved=False))
            for part, y in (("q", q), ("k", k))
        )
        q, k, v = (tri.Transpose.build(y, permutation=(0, 2, 1, 3)).y for y in (q, k, v))
        keys, values = self._present(layer, "key", k), self._present(layer, "value", v)
        attended = self._node(f"{prefix}.attn", lambda: self._attended(q, keys, values, window))
        return self._product(attended, f"{prefix}.attn_output")

    def _present(self, layer: int, part: str, new: Value) -> Value:
        """Append rows to one of a layer's caches, [batch, heads, rows, size]; note the output."""
        past, name = self.inputs[past_name(layer, part)], f"present.{layer}.{part}"
        present = self._node(
            f"blk.{layer}.{part}s", lambda: appended(past, new, self._step), result=name
        )
        self.present[name] = present
        return present

    def _heads(self, x: Value, prefix: str) -> tuple[Value, ...]:
        """Return queries, keys and values: [batch, length, heads, size]."""
        heads, shared = self.decoder.heads, self.decoder.shared
        counts = (heads, shared, shared)
        if f"{prefix}.attn_qkv.weight" in self.weights:
            apart = heads_apart(self._product(x, f"{prefix}.attn_qkv"), sum(counts))
            parts = list(tri.Split.build(apart, axis=2, sizes=counts).results)
        else:
            parts = [
                heads_apart(self._product(x, f"{prefix}.attn_{part}"), count)
                for part, count in zip("qkv", counts, strict=True)
            ]
        if self.flags.head_norm:
            for place, part in enumerate("qk"):
                parts[place] = self._norm(parts[place], f"{prefix}.attn_{part}_norm")
        return tuple(parts)

    def _attended(self, q: Value, k: Value, v: Value, window: int) -> Value:
        """Attend to the rows of a cache in use: [batch, length, heads * size]."""
        step, scale, cap = self._step, self.decoder.scale, self.decoder.score_softcap
        if not cap:
            return merge_heads(attend_to_cache(q, k, v, step, scale=scale, window=window))
        if step.is_fixed:
            k, v = first_rows(k, step.total), first_rows(v, step.total)
        mask = seen(step, tensor(k).shape[2], window=window, causal=True)
        masks = [] if mask is None else [mask]
        y = capped_attention(q, k, v, masks, scale=scale, softcap=cap, sink=None)
        return merge_heads(y)

    # -- what all layers share --------------------------------------------------------------------

    @cached_property
    def _step(self) -> Step:
        """How many rows the cache has before and after a run: those that the mask counts."""
        words, mask = self.inputs[WORDS], self.inputs[MASK]
        past = self.inputs[past_name(0, PARTS[0])]
        length, total = tensor(words).shape[1], tensor(mask).shape[1]
        most, context = tensor(past).shape[2] + length, self.decoder.context
        need(total, length, f"has {total} keys, must be at least the {length} new ones")
        need(most, total, f"has {total} keys, must be at most {most}: of the past and new ones")
        need(context, total, f"has {total} keys, must be at most {context}, the model's context")
        used = tri.ReduceSum.build(mask, axes=(1,), keepdims=False).y
        last = tri.Sub.build(used, constant(np.array(1))).y
        return step_of(words, past, total, last, None)

    def _angles(self, is_local: bool) -> tuple[Value, Value]:
        rope = self.decoder.local_rope if is_local else self.decoder.rope
        if rope not in self._made_angles:
            with self._faults("rope"):
                self._made_angles[rope] = self._angles_of(rope)
        return self._made_angles[rope]

    def _angles_of(self, rope: RopeScaling) -> tuple[Value, Value]:
        factors: list[Array | None] = [None]
        is_whole = rope == self.decoder.rope
        if is_whole and FREQUENCIES in self.weights:
            factors = [self.weights.array(FREQUENCIES)]
        elif is_whole and LONG in self.weights:
            factors = [self.weights.array(SHORT), self.weights.array(LONG)]
        choices = [frequencies(rope, self.decoder.rotated, each) for each in factors]
        name = "rope" if is_whole else "rope_local"
        tables = AngleTables(self.main, name, choices, self.decoder.context, rope.magnitude)
        choice = is_beyond(self._step.total, rope.original_context) if len(choices) > 1 else None
        return tables.at(positions(self._step), choice)


def _activated(kind: str, x: Value) -> Value:
    return tri.Silu.build(x).y if kind == "silu" else tri.Gelu.build(x, approximate="tanh").y


def _number(value: float) -> Value:
    return constant(np.array(value, np.float32))
