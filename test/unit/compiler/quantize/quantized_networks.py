"""Networks that tests of quantisation share."""

from collections.abc import Mapping

import numpy as np
import onnx
import onnx.parser
from trivium.dialects.core.tensor import Array

MANY = """
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[1, 4, 6, 6] x, float[1, 4, 3, 3] z) => (float[1, 18] y, float[1, 12, 3, 3] e)
    {
        conv = Conv (x, w, b)
        relu = Relu (conv)
        pool = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (relu)
        sum = Add (pool, z)
        more = Mul (sum, c)
        both = Concat <axis = 1> (more, pool, k)
        e = Exp (both)
        shape = Constant <value_ints = [1, 108]> ()
        flat = Reshape (both, shape)
        y = MatMul (flat, m)
    }
"""
VALUES = ("x", "relu", "z", "sum", "more", "both", "y")


def many() -> onnx.ModelProto:
    model = onnx.parser.parse_model(MANY)
    random = np.random.default_rng(3)
    shapes = {"w": (4, 4, 1, 1), "b": (4,), "c": (1, 4, 1, 1), "k": (1, 4, 3, 3), "m": (108, 18)}
    arrays = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return with_weights(model, arrays)


def with_weights(model: onnx.ModelProto, arrays: Mapping[str, Array]) -> onnx.ModelProto:
    for name, array in arrays.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model
