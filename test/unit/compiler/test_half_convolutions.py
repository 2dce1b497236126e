"""Convolutions of f16 along one axis, with bias and activation, as exporters write them."""

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.dialects.core.tensor import Array
from trivium.runtime.cpu.part import CpuPart

BIAS_IN_CONV = """
    c = Conv <kernel_shape = [3], pads = [1, 1]> (x, w, b)
    y = Relu (c)
"""
BIAS_BEHIND_CONV = """
    c = Conv <kernel_shape = [3], pads = [1, 1]> (x, w)
    s = Add (c, column)
    y = Relu (s)
"""
BIAS_BEHIND_SQUEEZE = """
    image = Unsqueeze (x, axis)
    kernels = Unsqueeze (w, axis)
    c = Conv <kernel_shape = [1, 3], pads = [0, 1, 0, 1]> (image, kernels)
    line = Squeeze (c, axis)
    s = Add (line, column)
    y = Relu (s)
"""


@pytest.mark.parametrize("width", [13, 200])
@pytest.mark.parametrize("nodes", [BIAS_IN_CONV, BIAS_BEHIND_CONV, BIAS_BEHIND_SQUEEZE])
def test_f16_convolution_with_bias_and_relu_is_one_kernel(nodes: str, width: int) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 33, width)).astype(np.float16)
    w = (random.standard_normal((40, 33, 3)) / 10).astype(np.float16)
    b = random.standard_normal(40).astype(np.float16)
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        g (float16[2, 33, {width}] x) => (float16[2, 40, {width}] y) <int64[1] axis = {{2}}>
        {{ {nodes} }}"""
    )
    for name, value in (("w", w), ("b", b), ("column", b.reshape(40, 1))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    package = build(model)
    (kernel,) = package.manifest.part(CpuPart).kernels
    assert kernel.ops[-1] == "tri.relu"
    got = trivium.Session(package).run({"x": x})["y"]
    # Half a unit in the last place, and what sums in f32 lose.
    np.testing.assert_allclose(got.astype(np.float64), expected(x, w, b), rtol=2**-10, atol=1e-3)


def expected(x: Array, w: Array, b: Array) -> Array:
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 3, axis=2)
    sums = np.einsum("ncpk,ock->nop", windows, w.astype(np.float64))
    return np.maximum(sums + b.astype(np.float64)[:, None], 0)
