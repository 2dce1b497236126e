"""Small ONNX models for tests, from one line each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from trivium.dialects.core.tensor import Array

Shape = Sequence[int | str]
F32 = onnx.TensorProto.FLOAT


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Shape | onnx.ValueInfoProto],
    outputs: Sequence[str] = ("y",),
    *,
    initializers: Mapping[str, Any] | None = None,
    opset: int = 21,
    **more: Any,
) -> onnx.ModelProto:
    """Make a model; inputs are shapes of f32 tensors, outputs have the types that ONNX infers."""
    infos = [
        value if isinstance(value, onnx.ValueInfoProto) else info(name, value)
        for name, value in inputs.items()
    ]
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in (initializers or {}).items()]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "g", infos, results, tensors)
    opsets = more.pop("opset_imports", [helper.make_opsetid("", opset)])
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8, **more)
    return onnx.shape_inference.infer_shapes(made)


def info(name: str, shape: Shape | None, dtype: int = F32) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def node(op_type: str, inputs: str, outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    """Make a node; names of inputs and outputs are separated by spaces, `_` is an absent one."""
    names = [["" if n == "_" else n for n in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op_type, *names, **attributes)


def array(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
