"""Write the sentence encoder MiniLM-L6 as an ONNX model, from the weights of its authors.

A BERT encoder of six layers (Devlin et al., 2018), the mean of its outputs over the words of the
sentence, and the length of the result set to one: so the dot product of two sentences says how
near they are in meaning.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

OPSET = 20


def build_model(folder: Path, length: int) -> onnx.ModelProto:
    """Build the model that encodes one sentence of `length` tokens, padding included."""
    config = json.loads((folder / "config.json").read_text())
    graph = Graph(load_file(folder / "model.safetensors"))
    hidden = embed(graph, config, length)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    # Padding is kept out of every sum: a large negative score becomes a weight of zero.
    padding = graph.add("Mul", graph.add("Sub", mask, graph.constant(1.0)), graph.constant(1e9))
    for layer in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}"
        heard = attend(graph, config, f"{prefix}.attention", hidden, padding, length)
        hidden = normalize(graph, config, f"{prefix}.attention.output", heard, hidden)
        wide = graph.add("Gelu", graph.linear(f"{prefix}.intermediate.dense", hidden))
        narrow = graph.linear(f"{prefix}.output.dense", wide)
        hidden = normalize(graph, config, f"{prefix}.output", narrow, hidden)
    sentence = pool(graph, hidden, mask)
    size = config["hidden_size"]
    return graph.finish(
        {name: (TensorProto.INT64, (1, length)) for name in ("input_ids", "attention_mask")},
        {sentence: (TensorProto.FLOAT, (1, size))},
    )


class Graph:
    """Collect nodes and weights; every method returns the name of the value that it makes."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def add(self, op: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add a node of one output."""
        name = name or f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def store(self, name: str, array: np.ndarray) -> str:
        """Add an array to the model."""
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def weight(self, name: str) -> str:
        """Add a weight by its name in the file of weights."""
        return self.store(name, self.weights[name])

    def constant(self, value: float | list[int]) -> str:
        """Add a number as f32, or a list of whole numbers as i64."""
        dtype = np.float32 if isinstance(value, float) else np.int64
        return self.store(f"constant_{value}", np.array(value, dtype))

    def linear(self, name: str, x: str) -> str:
        """Multiply by a matrix, which the file has transposed, and add a bias."""
        w = self.store(f"{name}.weight", self.weights[f"{name}.weight"].T)
        return self.add("Add", self.add("MatMul", x, w), self.weight(f"{name}.bias"))

    def finish(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> onnx.ModelProto:
        """Return the model with these inputs and outputs: names, element types, shapes."""
        made = helper.make_graph(
            self.nodes,
            "minilm",
            [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()],
            [helper.make_tensor_value_info(name, *kind) for name, kind in outputs.items()],
            list(self.initializers.values()),
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(made, opset_imports=opsets, ir_version=10)


def embed(graph: Graph, config: dict[str, Any], length: int) -> str:
    """Look up the vectors of the tokens and add to each the vector of its place."""
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    # All tokens are of one sentence, so the vector of the first sentence is added to each place.
    places = graph.weights["embeddings.position_embeddings.weight"][:length]
    first_sentence = graph.weights["embeddings.token_type_embeddings.weight"][0]
    places = graph.store("embeddings.places", places + first_sentence)
    return normalize(graph, config, "embeddings", words, places)


def normalize(graph: Graph, config: dict[str, Any], name: str, x: str, residual: str) -> str:
    """Add the residual and normalise every vector."""
    scale, bias = (graph.weight(f"{name}.LayerNorm.{which}") for which in ("weight", "bias"))
    total = graph.add("Add", x, residual)
    epsilon = config["layer_norm_eps"]
    return graph.add("LayerNormalization", total, scale, bias, epsilon=epsilon)


def attend(
    graph: Graph, config: dict[str, Any], name: str, x: str, padding: str, length: int
) -> str:
    """Let every token gather from all others, by several heads at once."""
    heads = config["num_attention_heads"]
    size = config["hidden_size"] // heads

    def split(which: str, order: list[int]) -> str:
        rows = graph.linear(f"{name}.self.{which}", x)
        split_rows = graph.add("Reshape", rows, graph.constant([1, length, heads, size]))
        return graph.add("Transpose", split_rows, perm=order)

    q, k, v = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
    scores = graph.add("Div", graph.add("MatMul", q, k), graph.constant(math.sqrt(size)))
    shares = graph.add("Softmax", graph.add("Add", scores, padding), axis=-1)
    heard = graph.add("Transpose", graph.add("MatMul", shares, v), perm=[0, 2, 1, 3])
    joined = graph.add("Reshape", heard, graph.constant([1, length, heads * size]))
    return graph.linear(f"{name}.output.dense", joined)


def pool(graph: Graph, hidden: str, mask: str) -> str:
    """Average the vectors of the tokens that are not padding, and set the length to one."""
    kept = graph.add("Unsqueeze", mask, graph.constant([2]))
    total = graph.add("ReduceSum", graph.add("Mul", hidden, kept), graph.constant([1]), keepdims=0)
    count = graph.add("ReduceSum", mask, graph.constant([1]), keepdims=1)
    mean = graph.add("Div", total, count)
    return graph.add("LpNormalization", mean, name="embedding", axis=1, p=2)
