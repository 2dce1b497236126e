"""Small networks with the shape of known ones, and random weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(0)

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def draw(self, *shape: int) -> str:
        scale = np.sqrt(2 / max(1, np.prod(shape[1:]))).astype(np.float32)
        return self.given(self._random.standard_normal(shape, np.float32) * scale)

    def given(self, array: Any) -> str:
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def conv(self, x: str, inputs: int, outputs: int, kernel: int, **attributes: Any) -> str:
        w = self.draw(outputs, inputs // attributes.get("group", 1), kernel, kernel)
        return self.node("Conv", x, w, self.draw(outputs), pads=[kernel // 2] * 4, **attributes)

    def model(self, x: Sequence[int | str], y: str, shape: Sequence[int | str]) -> onnx.ModelProto:
        ports = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
            for name, sizes in (("x", x), (y, shape))
        ]
        graph = helper.make_graph(self.nodes, "net", ports[:1], ports[1:], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def image_network() -> onnx.ModelProto:
    """Return inverted residuals, as those of MobileNetV2, for one image of 32 x 32 pixels."""
    net, channels = _Graph(), 16
    x = net.node("Relu", net.conv("x", 3, channels, 3, strides=[2, 2]))
    for outputs, stride in ((16, 1), (24, 2)):
        wide = 4 * channels
        y = net.node("Relu", net.conv(x, channels, wide, 1))
        y = net.node("Relu", net.conv(y, wide, wide, 3, strides=[stride] * 2, group=wide))
        y = net.conv(y, wide, outputs, 1)
        x = net.node("Add", x, y) if (channels, stride) == (outputs, 1) else y
        channels = outputs
    pooled = net.node("Flatten", net.node("GlobalAveragePool", x))
    return net.model([1, 3, 32, 32], net.node("MatMul", pooled, net.draw(channels, 10)), [1, 10])


def encoder(layers: int = 1, width: int = 32, heads: int = 4) -> onnx.ModelProto:
    """Return layers of attention and of two products, for any number of rows up to T."""
    net, x = _Graph(), "x"
    split = net.given(np.array([0, 0, heads, width // heads]))
    merged = net.given(np.array([0, 0, width]))
    for _ in range(layers):
        q, k, v = (
            net.node("Reshape", net.node("MatMul", x, net.draw(width, width)), split)
            for _ in range(3)
        )
        q, v = (net.node("Transpose", each, perm=[0, 2, 1, 3]) for each in (q, v))
        k = net.node("Transpose", k, perm=[0, 2, 3, 1])
        weights = net.node("Softmax", net.node("MatMul", q, k))
        y = net.node("Transpose", net.node("MatMul", weights, v), perm=[0, 2, 1, 3])
        y = net.node("MatMul", net.node("Reshape", y, merged), net.draw(width, width))
        x = net.node("LayerNormalization", net.node("Add", x, y), net.draw(width))
        y = net.node("Gelu", net.node("MatMul", x, net.draw(width, 4 * width)))
        y = net.node("MatMul", y, net.draw(4 * width, width))
        x = net.node("LayerNormalization", net.node("Add", x, y), net.draw(width))
    return net.model(["N", "T", width], x, ["N", "T", width])


LOOP = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (int64 count, float[64] x, bool choice) => (float[64] y)
    <bool yes = {1}> {
        [before] a = Exp (x)
        [sum] total = ReduceSum <keepdims = 1> (a)
        [share] b = Div (a, total)
        [repeat] last = Loop (count, yes, b) <body = body (int64 i, bool go, float[64] v)
            => (bool on, float[64] next) {
                [keep] on = Identity (go)
                [inner] s = Softmax (v)
                [outer] next = Add (s, b)
        }>
        [either] c = If (choice) <then_branch = one () => (float[64] p) {
                [taken] p = CumSum (last, zero)
            }, else_branch = two () => (float[64] p) {
                [left] p = Softmax (a)
        }>
        [after] d = Softmax (c)
        [last] y = Mul (d, b)
    }
""")
LOOP.graph.initializer.append(numpy_helper.from_array(np.array(0), "zero"))
