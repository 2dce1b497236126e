"""Small networks of floats, as ONNX, for tests to quantise."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import trivium
from onnx import TensorProto, helper, numpy_helper
from trivium.dialects.core.tensor import Array

SAMPLES = 16
NETWORKS: dict[str, "Callable[[Net], str]"] = {}


def network(build: "Callable[[Net], str]") -> "Callable[[Net], str]":
    NETWORKS[build.__name__] = build
    return build


@dataclass
class Net:
    """Gather nodes and random weights of a network with one input `x`.

    `thin` divides the channels and filters of `conv` and `dense`, but for those of `x`; `gain` and
    `bias` are the deviations of weighted sums and of biases.
    """

    shape: tuple[int, ...] = (1, 3, 12, 12)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    thin: int = 1
    gain: float = 1.0
    bias: float = 1.0

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def weight(self, array: Array) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = array
        return name

    def drawn(self, *shape: int) -> str:
        depth = int(np.prod(shape[1:])) or 1
        scale = self.gain / depth**0.5 if len(shape) > 1 else self.bias
        return self.weight(self.random.normal(size=shape).astype(np.float32) * np.float32(scale))

    def conv(self, x: str, channels: int, filters: int, size: int = 3, **attributes: Any) -> str:
        given, filters = channels, self.thinned(filters)
        if x != "x":
            channels = self.thinned(channels)
        if attributes.get("group", 1) == given:
            attributes["group"] = channels
        group = attributes.get("group", 1)
        w, b = self.drawn(filters, channels // group, size, size), self.drawn(filters)
        attributes.setdefault("pads", [size // 2] * 4)
        return self.op("Conv", x, w, b, **attributes)

    def dense(self, x: str, channels: int, filters: int) -> str:
        """Multiply rows by a matrix, and add biases."""
        depth, filters = self.thinned(channels), self.thinned(filters)
        return self.op("Gemm", x, self.drawn(filters, depth), self.drawn(filters), transB=1)

    def thinned(self, channels: int) -> int:
        return max(channels // self.thin, 1)

    def model(self, value: str) -> onnx.ModelProto:
        """Return the model of floats that computes a value."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info(value, TensorProto.FLOAT, None)
        weights = [numpy_helper.from_array(a, n) for n, a in self.weights.items()]
        graph = helper.make_graph(self.nodes, "g", [x], [y], weights)
        opset = [helper.make_opsetid("", 21)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=10)
        return onnx.shape_inference.infer_shapes(model)

    def quantized(self, value: str, file: Path, samples: int = SAMPLES) -> onnx.ModelProto:
        """Write the model as integers, with scales from random data; return it as it was."""
        model = self.model(value)
        trivium.quantize(model, {"x": self.inputs(samples)}, file)
        return model

    def inputs(self, count: int = 1) -> Array:
        return self.random.normal(size=(count, *self.shape[1:])).astype(np.float32)


@network
def residual(net: Net) -> str:
    stem = net.op("Relu", net.conv("x", 3, 16))
    inner = net.op("Relu", net.conv(stem, 16, 16))
    total = net.op("Relu", net.op("Add", net.conv(inner, 16, 16), stem))
    pooled = net.op("GlobalAveragePool", total)
    return net.op("Gemm", net.op("Flatten", pooled), net.drawn(10, 16), net.drawn(10), transB=1)


@network
def separable(net: Net) -> str:
    stem = net.op("HardSwish", net.conv("x", 3, 8, strides=[2, 2]))
    wide = net.op("HardSwish", net.conv(stem, 8, 24, 1))
    deep = net.op("Relu", net.conv(wide, 24, 24, 5, group=24))
    gate = net.conv(net.op("Relu", net.conv(net.op("GlobalAveragePool", deep), 24, 6, 1)), 6, 24, 1)
    scaled = net.op("Mul", deep, net.op("HardSigmoid", gate))
    return net.op("Add", net.conv(scaled, 24, 8, 1), stem)


@network
def branches(net: Net) -> str:
    return _branches(net, 16, 32)


@network
def odd_branches(net: Net) -> str:
    """Parts that are joined are no whole atoms."""
    return _branches(net, 5, 7)


def _branches(net: Net, few: int, many: int) -> str:
    stem = net.op("Relu", net.conv("x", 3, 8))
    pooled = net.op("MaxPool", stem, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    left, right = net.conv(pooled, 8, few, 1), net.op("Sigmoid", net.conv(pooled, 8, many))
    joined = net.op("Concat", left, right, axis=1)
    scales = net.weight(np.array([1, 1, 2, 2], np.float32))
    larger = net.op("Resize", joined, "", scales, mode="nearest")
    average = net.op("AveragePool", larger, kernel_shape=[2, 2], strides=[2, 2])
    return net.conv(average, few + many, 4, 1)


@network
def interrupted(net: Net) -> str:
    """A softmax stands in the middle, and what goes around it comes back."""
    stem = net.op("Relu", net.conv("x", 3, 8))
    attended = net.op("Softmax", net.conv(stem, 8, 8, 1), axis=1)
    return net.conv(net.op("Mul", attended, net.conv(stem, 8, 8)), 8, 4)


@network
def flattened(net: Net) -> str:
    stem = net.op("MaxPool", net.conv("x", 3, 6), kernel_shape=[4, 4], strides=[4, 4])
    hidden = net.op("Gemm", net.op("Flatten", stem), net.drawn(20, 54), net.drawn(20), transB=1)
    return net.op("Gemm", net.op("Relu", hidden), net.drawn(3, 20), net.drawn(3), transB=1)


@network
def sequence(net: Net) -> str:
    """Positions with features, in which each product is a row of pixels."""
    net.shape = (2, 6, 20)
    hidden = net.op("Relu", net.op("MatMul", "x", net.drawn(20, 40)))
    total = net.op("Add", net.op("MatMul", hidden, net.drawn(40, 20)), "x")
    return net.op("MatMul", total, net.drawn(20, 5))


@network
def signal(net: Net) -> str:
    """Convolutions over time."""
    net.shape = (1, 4, 30)
    first = net.op("Relu", net.op("Conv", "x", net.drawn(8, 4, 5), net.drawn(8), pads=[2, 2]))
    pooled = net.op("MaxPool", first, kernel_shape=[2], strides=[2])
    return net.op("Sigmoid", net.op("Conv", pooled, net.drawn(3, 8, 3), net.drawn(3)))
