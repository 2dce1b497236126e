"""A small network that knows handwritten digits, trained in seconds on scikit-learn's images."""

import functools
from dataclasses import dataclass

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from torch import nn
from trivium.dialects.core.tensor import Array

TRAINED = 1400


@dataclass(frozen=True)
class Digits:
    """Hold the model for a batch of 99 images, images to calibrate with, and others to judge by."""

    model: onnx.ModelProto
    calibration: Array
    images: Array
    labels: Array

    def accuracy(self, scores: Array) -> float:
        return float(np.mean(scores.argmax(1) == self.labels))


@functools.cache
def digits() -> Digits:
    found = load_digits()
    x = (found.images[:, None] / 16).astype(np.float32)
    y = found.target.astype(np.int64)
    network = _trained(x[:TRAINED], y[:TRAINED])
    return Digits(_model(network), x[: 99 * 4], x[TRAINED : TRAINED + 396], y[TRAINED:][:396])


def _trained(x: Array, y: Array) -> nn.Sequential:
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    network = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10)),
    )
    images, labels = torch.from_numpy(x), torch.from_numpy(y)
    step = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(12):
        for part in torch.randperm(len(images)).split(100):
            step.zero_grad()
            nn.functional.cross_entropy(network(images[part]), labels[part]).backward()
            step.step()
    torch.set_num_threads(threads)
    return network.eval()


def _model(network: nn.Sequential) -> onnx.ModelProto:
    """Write the network down by hand: torch's exporter needs more packages than there are here."""
    weights = {n: t.numpy() for n, t in network.state_dict().items() if t.ndim}
    node = helper.make_node
    norm = ["1.weight", "1.bias", "1.running_mean", "1.running_var"]
    nodes = [
        node("Conv", ["x", "0.weight", "0.bias"], ["c0"], "conv0", pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c0", *norm], ["n0"], "norm0"),
        node("Relu", ["n0"], ["r0"], "relu0"),
        node("MaxPool", ["r0"], ["p0"], "pool0", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p0", "4.weight", "4.bias"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"], "relu1"),
        node("Flatten", ["r1"], ["f1"], "flatten1"),
        node("Gemm", ["f1", "7.weight", "7.bias"], ["y"], "linear", transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (99, 1, 8, 8))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (99, 10))],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=10)
