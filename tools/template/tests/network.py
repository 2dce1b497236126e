"""A small network of floats with leaky ReLUs, and what it is quantised by."""

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SHAPE = (1, 3, 32, 32)
RANDOM = np.random.default_rng(0)


def samples(count: int) -> NDArray[np.float32]:
    """Return so many inputs of the network."""
    return RANDOM.standard_normal((count, *SHAPE[1:])).astype(np.float32)


def network() -> onnx.ModelProto:
    """Return two convolutions, each with a leaky ReLU behind it, and an average."""
    first, second = (_weights(16, 3, 3, 3), _weights(24, 16, 3, 3))
    nodes = [
        helper.make_node("Conv", ["x", "first"], ["a"], name="conv_1", pads=[1] * 4),
        helper.make_node("LeakyRelu", ["a"], ["b"], name="leaky_1", alpha=0.1),
        helper.make_node("Conv", ["b", "second"], ["c"], name="conv_2", strides=[2, 2]),
        helper.make_node("LeakyRelu", ["c"], ["d"], name="leaky_2", alpha=0.2),
        helper.make_node("GlobalAveragePool", ["d"], ["y"], name="average"),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 24, 1, 1))],
        [numpy_helper.from_array(w, n) for n, w in (("first", first), ("second", second))],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _weights(*shape: int) -> NDArray[np.float32]:
    return (RANDOM.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


if __name__ == "__main__":
    onnx.save(network(), "network.onnx")
    np.savez("samples.npz", x=samples(8))
