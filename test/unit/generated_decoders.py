"""Decoders as the builder of onnxruntime-genai writes them, with random weights, in f32."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Family:
    """Say how a family of models differs: as Llama, Qwen 2, Qwen 3 or Mistral does."""

    packed: bool = True
    bias: bool = False
    normed: bool = False
    window: int = -1
    layers: int = 2
    heads: int = 4
    shared: int = 2
    size: int = 16
    inner: int = 96
    words: int = 40
    longest: int = 64

    @property
    def hidden(self) -> int:
        return self.heads * self.size

    @property
    def pairs(self) -> dict[str, str]:
        """Name the outputs that become inputs of the next step."""
        return {
            f"present.{i}.{kind}": f"past_key_values.{i}.{kind}"
            for i in range(self.layers)
            for kind in ("key", "value")
        }

    def empty(self, batch: int = 1, rows: int = 0) -> dict[str, Any]:
        shape = (batch, self.shared, rows, self.size)
        return {name: np.zeros(shape, np.float32) for name in self.pairs.values()}


LLAMA = Family()
QWEN_2 = Family(packed=False, bias=True)
QWEN_3 = Family(packed=False, normed=True)
MISTRAL = Family(packed=False, window=5)


class Graph:
    """Gather the nodes and weights of a model."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(0)

    def constant(self, name: str, array: Any) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, name: str, *shape: int) -> str:
        drawn = self.random.standard_normal(shape) * shape[0] ** -0.5
        return self.constant(name, drawn.astype(np.float32))

    def node(
        self, op: str, inputs: list[str], out: str, *more: str, domain: str = "", **given: Any
    ):
        made = helper.make_node(op, inputs, [out, *more], out, domain=domain, **given)
        self.nodes.append(made)
        return out

    def product(self, x: str, name: str, columns: int, rows: int, bias: bool = False) -> str:
        y = self.node("MatMul", [x, self.weight(f"{name}.weight", rows, columns)], f"{name}.MatMul")
        if not bias:
            return y
        return self.node("Add", [y, self.weight(f"{name}.bias", columns)], f"{name}.Add")

    def ones(self, name: str, size: int) -> str:
        drawn = 1 + 0.1 * self.random.standard_normal(size)
        return self.constant(name, drawn.astype(np.float32))


def decoder(family: Family, total: str = "total_sequence_length") -> onnx.ModelProto:
    """Write a model whose inputs are words, a mask of [batch, total] and the cache."""
    graph = Graph()
    _lengths(graph)
    _angles(graph, family)
    table = graph.weight("embed_tokens.weight", family.words, family.hidden)
    x = graph.node("Gather", [table, "input_ids"], "embed_tokens")
    norm = graph.ones("layers.0.input_layernorm.weight", family.hidden)
    given = {"axis": -1, "epsilon": 1e-6, "stash_type": 1}
    normed = graph.node("SimplifiedLayerNormalization", [x, norm], "layers.0.norm", **given)
    for i in range(family.layers):
        attended = _attention(graph, family, i, normed)
        normed, x = _skip(graph, family, f"layers.{i}.post", x, attended)
        normed, x = _skip(graph, family, f"layers.{i}.next", x, _mlp(graph, family, i, normed))
    head = graph.weight("lm_head.weight", family.hidden, family.words)
    graph.node("MatMul", [normed, head], "logits")
    return _model(graph, family, total)


def _lengths(graph: Graph) -> None:
    one = graph.constant("one", np.array([1], np.int64))
    graph.node("ReduceSum", ["attention_mask", one], "mask.ReduceSum")
    graph.node("Sub", ["mask.ReduceSum", one], "mask.Sub")
    graph.node("Cast", ["mask.Sub"], "seqlens_k", to=TensorProto.INT32)
    graph.node("Shape", ["attention_mask"], "mask.Shape")
    graph.constant("second", np.array(1, np.int64))
    graph.node("Gather", ["mask.Shape", "second"], "mask.Gather", axis=0)
    graph.node("Cast", ["mask.Gather"], "total_seq_len", to=TensorProto.INT32)


def _angles(graph: Graph, family: Family) -> None:
    rates = 100.0 ** -(np.arange(0, family.size, 2) / family.size)
    angles = np.outer(np.arange(family.longest), rates)
    graph.constant("cos_cache", np.cos(angles).astype(np.float32))
    graph.constant("sin_cache", np.sin(angles).astype(np.float32))


def _attention(graph: Graph, family: Family, i: int, x: str) -> str:
    name, hidden = f"layers.{i}.attn", family.hidden
    keys = family.shared * family.size
    if family.packed:
        parts = [graph.product(x, f"{name}.qkv", hidden + 2 * keys, hidden, family.bias), "", ""]
    else:
        sizes = {"q": hidden, "k": keys, "v": keys}
        parts = [graph.product(x, f"{name}.{n}", s, hidden, family.bias) for n, s in sizes.items()]
    if family.normed:
        parts[:2] = [_head_norm(graph, family, f"{name}.{n}", parts["qk".index(n)]) for n in "qk"]
    past = [f"past_key_values.{i}.key", f"past_key_values.{i}.value"]
    inputs = [*parts, *past, "seqlens_k", "total_seq_len", "cos_cache", "sin_cache"]
    attended = graph.node(
        "GroupQueryAttention",
        inputs,
        f"{name}.GroupQueryAttention",
        f"present.{i}.key",
        f"present.{i}.value",
        domain=MICROSOFT,
        num_heads=family.heads,
        kv_num_heads=family.shared,
        scale=family.size**-0.5,
        do_rotary=1,
        rotary_interleaved=0,
        local_window_size=family.window,
    )
    return graph.product(attended, f"{name}.o", hidden, hidden)


def _head_norm(graph: Graph, family: Family, name: str, x: str) -> str:
    columns = family.hidden if name.endswith("q") else family.shared * family.size
    apart = graph.constant(f"{name}.apart", np.array([0, 0, -1, family.size], np.int64))
    whole = graph.constant(f"{name}.whole", np.array([0, 0, columns], np.int64))
    heads = graph.node("Reshape", [x, apart], f"{name}.Reshape_1")
    norm = graph.ones(f"{name}.norm.weight", family.size)
    given = {"axis": -1, "epsilon": 1e-6, "stash_type": 1}
    normed = graph.node("SimplifiedLayerNormalization", [heads, norm], f"{name}.norm", **given)
    return graph.node("Reshape", [normed, whole], f"{name}.Reshape_2")


def _skip(graph: Graph, family: Family, name: str, x: str, more: str) -> tuple[str, str]:
    norm = graph.ones(f"{name}.weight", family.hidden)
    inputs, results = [x, more, norm], (f"{name}.norm", "", "", f"{name}.sum")
    op = "SkipSimplifiedLayerNormalization"
    graph.node(op, inputs, *results, domain=MICROSOFT, epsilon=1e-6)
    return results[0], results[3]


def _mlp(graph: Graph, family: Family, i: int, x: str) -> str:
    name = f"layers.{i}.mlp"
    gate = graph.product(x, f"{name}.gate", family.inner, family.hidden)
    up = graph.product(x, f"{name}.up", family.inner, family.hidden)
    sigmoid = graph.node("Sigmoid", [gate], f"{name}.Sigmoid")
    activated = graph.node("Mul", [gate, sigmoid], f"{name}.act")
    product = graph.node("Mul", [activated, up], f"{name}.Mul")
    return graph.product(product, f"{name}.down", family.hidden, family.inner)


def _model(graph: Graph, family: Family, total: str) -> onnx.ModelProto:
    def port(name: str, kind: int, *shape: int | str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    def cache(name: str, rows: str) -> onnx.ValueInfoProto:
        sizes = ("batch_size", family.shared, rows, family.size)
        return port(name, TensorProto.FLOAT, *sizes)

    inputs = [
        port("input_ids", TensorProto.INT64, "batch_size", "sequence_length"),
        port("attention_mask", TensorProto.INT64, "batch_size", total),
        *(cache(name, "past_sequence_length") for name in family.pairs.values()),
    ]
    logits = ("batch_size", "sequence_length", family.words)
    outputs = [
        port("logits", TensorProto.FLOAT, *logits),
        *(cache(name, total) for name in family.pairs),
    ]
    made = helper.make_graph(graph.nodes, "decoder", inputs, outputs, graph.weights)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10)
