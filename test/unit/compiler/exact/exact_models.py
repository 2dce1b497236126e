"""A model of symbolic sizes, and what onnxruntime and the static form of it say."""

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

WEIGHTS = np.random.default_rng(5).standard_normal((12, 20)).astype(np.float32) / 4


def model() -> onnx.ModelProto:
    made = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        rows (float[N, T, 12] x, float[N, T] bias) => (float[N, T, 20] y, float[N, T] z)
        <int64[1] last = {2}> {
            h = MatMul (x, w)
            y = Softmax (h)
            total = ReduceSum <keepdims = 0> (x, last)
            [add_bias] z = Add (total, bias)
        }
    """)
    made.graph.initializer.append(numpy_helper.from_array(WEIGHTS, "w"))
    return made


def feeds(n: int, t: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1000 * n + t)
    x, bias = random.standard_normal((n, t, 12)), random.standard_normal((n, t))
    return {"x": x.astype(np.float32), "bias": bias.astype(np.float32)}


def assert_right(found: dict[str, np.ndarray], given: dict[str, np.ndarray]) -> None:
    """Compare outputs with those of onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model().SerializeToString())
    for name, wanted in zip(("y", "z"), session.run(["y", "z"], given), strict=True):
        np.testing.assert_allclose(found[name], wanted, rtol=2e-5, atol=2e-6)
