"""Write a model of one product with a matrix of 128 x 64 random numbers."""

import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

matrix = np.random.default_rng(0).standard_normal((128, 64)).astype(np.float32)
ports = [
    helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", size])
    for name, size in (("x", 128), ("y", 64))
]
node = helper.make_node("MatMul", ["x", "w"], ["y"], "layer")
graph = helper.make_graph([node], "g", ports[:1], ports[1:], [numpy_helper.from_array(matrix, "w")])
opsets = [helper.make_opsetid("", 21)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), sys.argv[1])
