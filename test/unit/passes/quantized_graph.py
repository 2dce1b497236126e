"""ONNX models of a few nodes between dequantised and quantised numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from trivium.dialects.core.tensor import Array

KINDS = {
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
}


class Graph:
    """Gather the nodes of a quantised model; inputs and outputs are integers."""

    def __init__(self, kind: str, random: np.random.Generator) -> None:
        self.kind = kind
        self.random = random
        self.nodes: list[Any] = []
        self.weights: dict[str, Array] = {}
        self.inputs: dict[str, tuple[int, ...]] = {}

    def op(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def weight(self, array: Array) -> str:
        name = f"weight{len(self.weights)}"
        self.weights[name] = array
        return name

    def scale(self, scale: Any, zero: Any, kind: str = "") -> list[str]:
        scales = self.weight(np.array(scale, np.float32))
        return [scales, self.weight(np.array(zero, kind or self.kind))]

    def input(self, shape: tuple[int, ...], scale: float, zero: int) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = shape
        return self.op("DequantizeLinear", [name, *self.scale(scale, zero)])

    def weights_of(self, shape: tuple[int, ...], axis: int) -> str:
        whole = self.weight(self.random.integers(-127, 128, shape).astype(np.int8))
        size = shape[axis]
        scales = self.scale(self.random.uniform(0.001, 0.02, size), np.zeros(size), "int8")
        return self.op("DequantizeLinear", [whole, *scales], axis=axis)

    def model(self, value: str, scale: float, zero: int) -> onnx.ModelProto:
        y = self.op("QuantizeLinear", [value, *self.scale(scale, zero)])
        element = KINDS[self.kind]
        inputs = [helper.make_tensor_value_info(n, element, s) for n, s in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(y, element, None)]
        weights = [numpy_helper.from_array(a, n) for n, a in self.weights.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        model = onnx.shape_inference.infer_shapes(model)
        # Inference by onnx counts windows of pools that begin in the padding.
        for dim in model.graph.output[0].type.tensor_type.shape.dim:
            dim.Clear()
        return model
