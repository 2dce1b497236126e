"""Channels that are filled up around depthwise convolutions: results beside ONNX Runtime."""

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime.cpu.part import CpuPart

onnxruntime = pytest.importorskip("onnxruntime")

NETWORK = """
    <ir_version: 10, opset_import: ["" : 21]>
    volumes (float[N, 8, 7, 12, 13] x) => (float[N, 8, P, Q, R] y) {
        a = Conv (x, w, b)
        c = HardSwish (a)
        d = Conv <group = 30, pads = [1, 1, 1, 1, 1, 1], strides = [1, 2, 2]> (c, v, e)
        f = Div (d, s)
        means = ReduceMean (f, pixels)
        squeezed = Conv (means, q)
        relu = Relu (squeezed)
        excited = Conv (relu, r)
        gates = Sigmoid (excited)
        g = Mul (f, gates)
        pooled = MaxPool <kernel_shape = [2, 1, 1]> (g)
        y = Conv (pooled, u)
    }
"""

SHAPES = {
    **{"w": (30, 8, 1, 1, 1), "b": (30,), "v": (30, 1, 3, 3, 3), "e": (30,), "s": (30, 1, 1, 1)},
    **{"q": (6, 30, 1, 1, 1), "r": (30, 6, 1, 1, 1), "u": (8, 30, 1, 1, 1)},
}


def network() -> onnx.ModelProto:
    model = onnx.parser.parse_model(NETWORK)
    random = np.random.default_rng(1)
    for name, shape in SHAPES.items():
        array = random.uniform(0.5, 1.5, shape) * random.choice([-1, 1], shape) / 2
        model.graph.initializer.append(onnx.numpy_helper.from_array(array.astype("f"), name))
    pixels = np.array([2, 3, 4], np.int64)
    model.graph.initializer.append(onnx.numpy_helper.from_array(pixels, "pixels"))
    return model


@pytest.mark.parametrize("shapes", [{"N": 2}, {}])
def test_filled_channels_change_nothing(shapes: dict[str, int]) -> None:
    model = network()
    x = np.random.default_rng(2).normal(size=(2, 8, 7, 12, 13)).astype(np.float32)
    (wanted,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    session = trivium.compile(model, shapes=shapes, threads=1)
    kinds = {op for kernel in session.manifest.part(CpuPart).kernels for op in kernel.ops}
    assert "cpu.lane_conv" in kinds
    np.testing.assert_allclose(session.run({"x": x})["y"], wanted, rtol=1e-4, atol=1e-4)


def test_strict_math_fills_up_nothing() -> None:
    """A channel of zeros times infinity would not be one of zeros."""
    session = trivium.compile(network(), shapes={"N": 2}, threads=1, math="strict")
    kinds = {op for kernel in session.manifest.part(CpuPart).kernels for op in kernel.ops}
    assert "cpu.lane_conv" not in kinds
